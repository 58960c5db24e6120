// libFuzzer target: a tokenizer.json, then a NUL byte and a text. Thread rule: one thread. Flow: load_hub and
// encode.
#include "hub_encode.h"
#include "load.h"

using namespace mortise;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t nul = std::min(all.find('\0'), all.size());
  const auto loaded = bpe::load_hub(all.substr(0, nul));
  if (loaded)
    hub::fuzz_check(**loaded, all.substr(std::min(nul + 1, all.size())));
  else
    hub::fuzz_check_error(loaded.error());
  return 0;
}

// libFuzzer target: a tiktoken file, a NUL byte, a tokenizer_config.json, a NUL byte, a text. Thread rule:
// one thread. Flow: load_tiktoken and encode.
#include "hub_encode.h"
#include "load.h"

using namespace mortise;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto part = [&rest] {
    const size_t nul = std::min(rest.find('\0'), rest.size());
    const std::string_view out = rest.substr(0, nul);
    rest.remove_prefix(std::min(nul + 1, rest.size()));
    return out;
  };
  const std::string_view ranks = part(), config = part();
  const auto loaded = bpe::load_tiktoken(ranks, config, "llama");
  if (loaded)
    hub::fuzz_check(**loaded, rest);
  else
    hub::fuzz_check_error(loaded.error());
  return 0;
}

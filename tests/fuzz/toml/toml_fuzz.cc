// libFuzzer target: a pipeline file and settings. Input: the TOML text, then after each NUL byte one --set.
// Thread rule: one thread. Flow: parse_pipeline, then the checks of tables against a few declarations.
#include <cassert>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "config/params.h"
#include "config/pipeline.h"

using namespace mortise;

namespace {

Params declarations() {
  static const mortise_param kList[] = {
#define DECLARE(name, type, fallback, range) \
  {sizeof(mortise_param), type, MORTISE_PARAM_CONFIG, 0, name, fallback, range, nullptr, "h"}
      DECLARE("b", MORTISE_BOOL, "true", nullptr),    DECLARE("i", MORTISE_INT, "1", "[0,9]"),
      DECLARE("f", MORTISE_FLOAT, nullptr, "(0,1]"),  DECLARE("e", MORTISE_ENUM, "\"x\"", "x|y"),
      DECLARE("s", MORTISE_STRING, nullptr, "[1,9]"), DECLARE("l", MORTISE_LIST, "[]", nullptr),
      DECLARE("m", MORTISE_MAP, nullptr, nullptr),    DECLARE("j", MORTISE_JSON, nullptr, nullptr),
      DECLARE("y", MORTISE_BYTES, nullptr, nullptr),  DECLARE("d", MORTISE_DURATION, "\"1 s\"", nullptr),
      DECLARE("p", MORTISE_PATH, nullptr, nullptr),   DECLARE("k", MORTISE_SECRET, nullptr, nullptr),
#undef DECLARE
  };
  std::vector<const mortise_param*> pointers;
  for (const mortise_param& param : kList) pointers.push_back(&param);
  return *read_params("fuzz", pointers.data(), pointers.size());
}

void check_error(const Error& error) {
  assert(!error.where.empty() && !error.message.empty());
  assert(error.text().find('\n') == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Params params = declarations();
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view text = rest.substr(0, rest.find('\0'));
  PipelineOptions options;
  options.model = "m";
  rest.remove_prefix(text.size());
  while (!rest.empty()) {
    rest.remove_prefix(1);
    options.sets.emplace_back(rest.substr(0, rest.find('\0')));
    rest.remove_prefix(options.sets.back().size());
  }
  const Result<Pipeline> parsed = parse_pipeline(text, "f.toml", "/cfg", options);
  if (!parsed) {
    check_error(parsed.error());
    return 0;
  }
  for (const PluginTable& table : parsed->plugins) {
    const Result<Given> given = check_table(params, "plugin.x", table.entries, parsed->folder);
    if (!given) {
      check_error(given.error());
    } else {
      assert(fill_values(params, *given, parsed->folder).count() == params.list.size());
    }
  }
  return 0;
}

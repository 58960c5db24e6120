// The keys of the pipeline file; see keys.h. Thread rule: immutable after the first call. Flow:
// load_pipeline.
#include "config/keys.h"

#include <algorithm>
#include <cassert>
#include <string>

namespace mortise {
namespace {

struct Key {
  const char* table;
  mortise_param param;
};

constexpr Key kKeys[] = {
#define KEY(table, name, type, fallback, range, unit, help) \
  {table, {sizeof(mortise_param), type, MORTISE_PARAM_CONFIG, 0, name, fallback, range, unit, help}},
#include "config/keys.inc"
#undef KEY
};

std::vector<Params> read_keys() {
  std::vector<Params> out;
  for (const Key& key : kKeys) {
    const mortise_param* param = &key.param;
    Result<Params> read = read_params(key.table, &param, 1);
    assert(read && "keys.inc declares a key wrongly");
    if (out.empty() || out.back().owner != key.table) out.push_back({key.table, {}});
    out.back().list.push_back(std::move(read->list[0]));
  }
  return out;
}

}  // namespace

const std::vector<Params>& pipeline_keys() {
  static const std::vector<Params> keys = read_keys();
  return keys;
}

const Params* pipeline_table(std::string_view table) {
  const std::vector<Params>& keys = pipeline_keys();
  const auto it =
      std::find_if(keys.begin(), keys.end(), [table](const Params& p) { return p.owner == table; });
  return it == keys.end() ? nullptr : &*it;
}

}  // namespace mortise

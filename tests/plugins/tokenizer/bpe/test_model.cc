// See test_model.h. Thread rule: single-threaded. Flow: linked by every test of this folder.
#include "test_model.h"

#include <catch2/catch.hpp>

namespace mortise::bpe {
namespace {

mortise_status meta(void* ctx, mortise_str key, mortise_meta* value) {
  const auto found = static_cast<const TestModel*>(ctx)->metadata.get(mortise::view(key));
  if (!found) return MORTISE_NOT_FOUND;
  *value = *found;
  return MORTISE_OK;
}

mortise_status blob(void* ctx, mortise_str name, mortise_bytes* bytes) {
  const auto& blobs = static_cast<const TestModel*>(ctx)->blobs;
  const auto found = blobs.find(mortise::view(name));
  if (found == blobs.end()) return MORTISE_NOT_FOUND;
  *bytes = {reinterpret_cast<const uint8_t*>(found->second.data()), found->second.size()};
  return MORTISE_OK;
}

}  // namespace

mortise_model TestModel::view() {
  mortise_model out = {};
  out.size = sizeof(out);
  out.ctx = this;
  out.dialect = dialect.c_str();
  out.meta = meta;
  out.blob = blob;
  return out;
}

Loaded TestModel::must_load() {
  auto loaded = load();
  if (!loaded) FAIL(loaded.error().text());
  return std::move(*loaded);
}

TestModel hub_model(std::string tokenizer_json) {
  TestModel out;
  out.blobs["tokenizer.json"] = std::move(tokenizer_json);
  return out;
}

std::string decode_text(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::string out;
  for (size_t i = 0; i < ids.size(); ++i) out += tokenizer.bytes(ids[i], i == 0);
  return out;
}

}  // namespace mortise::bpe

// Finds a model's chat templates. Thread rule and flow: see model_template.h.
#include "model_template.h"

#include <mortise/cpp/result.h>

namespace mortise::jinja {
namespace {

constexpr int kNamedTemplatesMax = 64;

/// Empty where the key is absent or no text.
std::string text_of(const mortise_model& model, const std::string& key) {
  mortise_meta meta = {};
  if (model.meta(model.ctx, str(key), &meta) != MORTISE_OK) return {};
  if (meta.type != MORTISE_STRING || meta.is_array != 0 || meta.count != 1) return {};
  return std::string(view(*static_cast<const mortise_str*>(meta.data)));
}

std::string blob_of(const mortise_model& model, std::string_view name) {
  mortise_bytes blob = {};
  if (model.blob(model.ctx, str(name), &blob) != MORTISE_OK) return {};
  return std::string(reinterpret_cast<const char*>(blob.data), blob.size);
}

}  // namespace

ModelTemplates model_templates(const mortise_model& model) {
  ModelTemplates out{text_of(model, "tokenizer.chat_template"),
                     text_of(model, "tokenizer.chat_template.tool_use")};
  if (!out.plain.empty()) return out;
  const std::string key = "tokenizer_config.chat_template";
  out = {blob_of(model, "chat_template.jinja"), {}};
  if (out.plain.empty()) out.plain = text_of(model, key);
  if (!out.plain.empty()) return out;
  for (int i = 0; i < kNamedTemplatesMax; ++i) {
    const std::string item = key + "." + std::to_string(i), name = text_of(model, item + ".name");
    if (name.empty()) break;
    if (name == "default") out.plain = text_of(model, item + ".template");
    if (name == "tool_use") out.with_tools = text_of(model, item + ".template");
  }
  return out;
}

}  // namespace mortise::jinja

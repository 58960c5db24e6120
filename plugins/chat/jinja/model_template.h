// The chat templates that a model carries, whatever its container.
// Thread rule: [load]. Flow: plugin.cc compiles what is found here.
#pragma once
#include <mortise/weights.h>

#include <string>

namespace mortise::jinja {

struct ModelTemplates {
  std::string plain;       ///< empty: the model carries none
  std::string with_tools;  ///< for requests that bring tools; empty: the plain one serves
};

/// GGUF metadata (tokenizer.chat_template, and .tool_use); of hub folders chat_template.jinja, else the text
/// or the list {name, template} in tokenizer_config.json, of which "default" and "tool_use" count.
ModelTemplates model_templates(const mortise_model& model);

}  // namespace mortise::jinja

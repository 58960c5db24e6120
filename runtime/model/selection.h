// Selection: which weights, arch, tokenizer and chat plugin take this model, by name or by asking them all.
// Thread rule: the loading thread. Flow: the model's path -> weights plugin -> OpenModel -> the kinds that
// read it.
#pragma once
#include <mortise/cpp/result.h>

#include <memory>
#include <string>

#include "model/open_model.h"
#include "model/parts.h"

namespace mortise {

/// Opens the pipeline's model with the plugin that it names, or the one that is surest.
Result<std::unique_ptr<OpenModel>> open_model(Parts& parts, const Pipeline& pipeline, const Files& files,
                                              bool header_only);

/// The arch plugin that takes the model. Errors: none does, with each one's reason.
Result<const Provider*> select_arch(Parts& parts, const Pipeline& pipeline, const OpenModel& model);
/// Null where [use] tokenizer = "none". Errors: none takes the model.
Result<const Provider*> select_tokenizer(Parts& parts, const Pipeline& pipeline, const OpenModel& model);
/// Null where none takes the model; `why_not` then says why and what to do.
Result<const Provider*> select_chat(Parts& parts, const Pipeline& pipeline, const OpenModel& model,
                                    std::string* why_not);
/// The attention plugin for prefill and decode.
Result<const Provider*> select_attention(Parts& parts, const Pipeline& pipeline);
/// The sampler chain: as [use] sampler says, or every plugin of the host's own by name, each inactive until a
/// request sets its parameter.
Result<std::vector<const Provider*>> select_samplers(Parts& parts, const Pipeline& pipeline);

}  // namespace mortise

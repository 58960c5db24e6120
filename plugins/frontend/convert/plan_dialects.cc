// The plans that change the dialect. Thread rule and flow: see plan.h.
#include "hub_config.h"
#include "plan.h"
#include "rename.h"
#include "vocabulary.h"

namespace mortise::convert {
namespace {

/// Factors of RoPE that a GGUF keeps in tensors.
Result<void> read_factors(const mortise_model_service& service, families::Rope* rope) {
  const auto read = [&](const char* name, std::vector<double>* out) -> Result<void> {
    const mortise_tensor* tensor = service.model->tensor(service.model->ctx, str(name));
    if (tensor == nullptr) return {};
    MORTISE_TRY(values, values_of(service, *tensor));
    out->assign(values.begin(), values.end());
    return {};
  };
  MORTISE_CHECK(read("rope_freqs.weight", &rope->divisors));
  MORTISE_CHECK(read("rope_factors_long.weight", &rope->long_factors));
  return read("rope_factors_short.weight", &rope->short_factors);
}

/// GGUF's "llama" with a window is hf's mistral, which is the same but for that.
const families::Family* hub_family(const families::Hyperparams& h) {
  return h.family->name == "llama" && h.window > 0 ? families::find_family(families::Dialect::hf, "mistral")
                                                   : h.family;
}

}  // namespace

Result<void> plan_hub_to_gguf(const mortise_model_service& service, const Options& options, Plan* out) {
  const mortise_model& model = *service.model;
  MORTISE_TRY(hyperparams, families::read_hyperparams(model));
  MORTISE_CHECK(add_gguf_metadata(model, hyperparams, options, out));
  MORTISE_TRY(vocabulary, read_hub_vocabulary(model));
  if (vocabulary) add_gguf_vocabulary(*vocabulary, &out->meta);
  return rename_tensors(service, hyperparams, options, out);
}

Result<void> plan_gguf_to_hub(const mortise_model_service& service, const Options& options, Plan* out) {
  const mortise_model& model = *service.model;
  MORTISE_TRY(hyperparams, families::read_hyperparams(model));
  MORTISE_CHECK(read_factors(service, &hyperparams.rope));
  hyperparams.family = hub_family(hyperparams);
  out->gain_less_one = hyperparams.family->has(families::kPlusOne);
  MORTISE_CHECK(rename_tensors(service, hyperparams, options, out));
  MORTISE_TRY(config, hub_config(model, hyperparams));
  MORTISE_TRY(finished, finish_config(config, options, *out));
  out->blobs["config.json"] = std::move(finished);
  if (!Metadata(&model).has("tokenizer.ggml.tokens")) return {};
  MORTISE_TRY(vocabulary, read_gguf_vocabulary(model));
  MORTISE_TRY(files, hub_tokenizer_files(vocabulary, hyperparams.context));
  out->blobs.merge(files);
  out->blobs["generation_config.json"] = generation_config(vocabulary);
  return {};
}

}  // namespace mortise::convert

// Metadata in the other dialect: GGUF keys, or a hub config, out of a model's hyperparameters.
// Thread rule: the front end's thread. Flow: used by the plans that change the dialect.
#pragma once
#include <string>

#include "families/hyperparams.h"
#include "plan.h"

namespace mortise::convert {

/// Sizes that only the tensors tell: columns of the feed-forward part, of an expert's, of the shared expert's
/// (0: there is none), and rows of the embedding.
struct WidthsOf {
  uint64_t feed_forward = 0, expert = 0, shared = 0, vocab = 0;
};
WidthsOf widths_of(const mortise_model& model, const families::Hyperparams& h);

/// Keys of the architecture, and tensors that stand for RoPE scaling in a GGUF. UNSUPPORTED names what a GGUF
/// can't say.
Result<void> add_gguf_metadata(const mortise_model& model, const families::Hyperparams& h,
                               const Options& options, Plan* out);
/// config.json.
Result<std::string> hub_config(const mortise_model& model, const families::Hyperparams& h);

}  // namespace mortise::convert

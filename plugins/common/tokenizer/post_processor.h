// The post-processors of a tokenizer.json as far as ids go: what stands before and behind a text's own.
// Thread rule: immutable after load, any thread. Flow: last step of encoding with add_special.
#pragma once
#include <cstdint>
#include <vector>

#include "tokenizer/json_node.h"

namespace mortise::hub {

constexpr size_t kFrameIdsMax = 64;  // before and behind together; docs/limits.md

/// Ids around those of a text.
struct Frame {
  std::vector<int32_t> before, behind;
};

/// Reads $.post_processor: TemplateProcessing (its `single`), BertProcessing, RobertaProcessing, Sequence;
/// ByteLevel changes no ids. Null or absent: an empty frame. Ids must lie below `token_count`.
Result<Frame> load_frame(const Node& root, int32_t token_count);

}  // namespace mortise::hub

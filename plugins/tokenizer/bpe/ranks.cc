// Rules out of ranks: what BPE by rank merges. Thread rule: [load]. Flow: tiktoken, tekken -> MergeTable.
#include "load.h"

namespace mortise::bpe {

// Two neighbours merge where their texts joined are a token, whatever the parts are: one rule for each way to
// cut a token into two others. Cuts within long tokens are few, as most parts of theirs are no tokens.
Result<std::vector<Rule>> rules_by_rank(const Vocabulary& vocabulary, int32_t first_id) {
  std::vector<Rule> out;
  for (int32_t id = first_id; id < vocabulary.size(); ++id) {
    const std::string_view text = vocabulary.text(id);
    if (vocabulary.find(text) != id) continue;
    for (size_t cut = 1; cut < text.size(); ++cut) {
      const int32_t left = vocabulary.find(text.substr(0, cut));
      if (left == kNoToken) continue;
      const int32_t right = vocabulary.find(text.substr(cut));
      if (right == kNoToken) continue;
      if (out.size() == kMaxMerges)
        return fail(Code::limit, "",
                    "has tokens with more than " + std::to_string(kMaxMerges) +
                        " ways to cut them in two, the limit");
      out.push_back({left, right, id, static_cast<uint32_t>(id)});
    }
  }
  return out;
}

}  // namespace mortise::bpe

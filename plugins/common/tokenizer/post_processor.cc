// See post_processor.h. Thread rule: [load]. Flow: load time only.
#include "tokenizer/post_processor.h"

namespace mortise::hub {
namespace {

Result<int32_t> load_id(const Node& node, int32_t token_count) {
  MORTISE_TRY(id, node.integer());
  if (id < 0 || id >= token_count)
    return node.bad("is " + std::to_string(id) + ", but the tokens are 0 to " +
                    std::to_string(token_count - 1));
  return static_cast<int32_t>(id);
}

class FrameLoader {
 public:
  explicit FrameLoader(int32_t token_count) : token_count_(token_count) {}

  Result<void> add(const Node& node) {
    MORTISE_TRY(type, node.string("type"));
    if (type == "ByteLevel") return {};
    if (type == "Sequence") {
      MORTISE_TRY(parts, node.items("processors"));
      for (const Node& part : parts) MORTISE_CHECK(add(part));
      return {};
    }
    Frame inner;
    if (type == "TemplateProcessing") {
      MORTISE_CHECK(read_template(node, &inner));
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      MORTISE_CHECK(read_pair(node, "cls", &inner.before));
      MORTISE_CHECK(read_pair(node, "sep", &inner.behind));
    } else {
      return node.bad_field("type",
                            quoted(type) +
                                " is no known post-processor; known are: TemplateProcessing ByteLevel "
                                "BertProcessing RobertaProcessing Sequence",
                            Code::unsupported);
    }
    // A later processor stands around the earlier ones.
    frame.before.insert(frame.before.begin(), inner.before.begin(), inner.before.end());
    frame.behind.insert(frame.behind.end(), inner.behind.begin(), inner.behind.end());
    if (frame.before.size() + frame.behind.size() > kFrameIdsMax)
      return node.bad("adds more than " + std::to_string(kFrameIdsMax) + " tokens, the limit", Code::limit);
    return {};
  }

  Frame frame;

 private:
  Result<void> read_template(const Node& node, Frame* out) {
    MORTISE_TRY(parts, node.items("single"));
    bool behind = false;
    for (const Node& part : parts) {
      MORTISE_TRY(token, part.find("SpecialToken"));
      if (!token) {
        MORTISE_TRY(sequence, part.at("Sequence"));
        if (behind) return sequence.bad("is the second one; a text's ids can stand there once only");
        behind = true;
        continue;
      }
      MORTISE_CHECK(read_special(node, *token, behind ? &out->behind : &out->before));
    }
    if (!behind) return node.bad_field("single", "has no place for the text");
    return {};
  }

  Result<void> read_special(const Node& node, const Node& token, std::vector<int32_t>* out) {
    MORTISE_TRY(name, token.string("id"));
    MORTISE_TRY(table, node.at("special_tokens"));
    MORTISE_TRY(entry, table.find(name));
    if (!entry) return token.bad_field("id", quoted(name) + " is no key of special_tokens");
    MORTISE_TRY(ids, entry->items("ids"));
    for (const Node& item : ids) {
      MORTISE_TRY(id, load_id(item, token_count_));
      out->push_back(id);
    }
    return {};
  }

  // ["<s>", 0]
  Result<void> read_pair(const Node& node, std::string_view key, std::vector<int32_t>* out) {
    MORTISE_TRY(pair, node.items(key));
    if (pair.size() != 2) return node.bad_field(key, "must hold a token and its id");
    MORTISE_TRY(id, load_id(pair[1], token_count_));
    out->push_back(id);
    return {};
  }

  int32_t token_count_;
};

}  // namespace

Result<Frame> load_frame(const Node& root, int32_t token_count) {
  FrameLoader loader(token_count);
  MORTISE_TRY(node, root.find("post_processor"));
  if (node) MORTISE_CHECK(loader.add(*node));
  return std::move(loader.frame);
}

}  // namespace mortise::hub

// Pipeline's parts out of a tokenizer.json, and what it computes before it serves.
// Thread rule: [load]. Flow: tokenizer.json -> Parts -> Pipeline.
#include <mortise/tokenizer.h>

#include <algorithm>

#include "tokenizer/pipeline_scratch.h"

namespace mortise::hub {
namespace {

// The id is the model's where it has such a token, whatever the file says, as in the hub's tokenizers.
Result<AddedToken> load_listed(const Node& node, const Model& model) {
  MORTISE_TRY(text, node.string("content"));
  MORTISE_TRY(id, node.integer("id"));
  const int32_t known = model.find(text);
  if (known != kNoToken) return load_added_token(node, known);
  if (id < 0 || id >= static_cast<int64_t>(kTokensMax))
    return node.bad_field("id",
                          "is " + std::to_string(id) + "; ids are 0 to " + std::to_string(kTokensMax - 1));
  if (!model.text(static_cast<int32_t>(id)).empty())
    return node.bad_field("id", "is " + std::to_string(id) + ", which is another token of the model");
  return load_added_token(node, static_cast<int32_t>(id));
}

// Rules that would keep a load from ending.
tl::unexpected<Error> too_much(const char* part) {
  return fail(Code::limit, part,
              "takes too long on the vocabulary, or makes too much of it; the file is damaged or hostile");
}

}  // namespace

Result<AddedToken> load_added_token(const Node& node, int32_t id) {
  MORTISE_TRY(text, node.string("content"));
  MORTISE_TRY(special, node.boolean("special", false));
  MORTISE_TRY(normalized, node.boolean("normalized", !special));
  MORTISE_TRY(left_strip, node.boolean("lstrip", false));
  MORTISE_TRY(right_strip, node.boolean("rstrip", false));
  MORTISE_TRY(single_word, node.boolean("single_word", false));
  if (text.size() > kAddedBytesMax)
    return node.bad_field(
        "content",
        "has " + std::to_string(text.size()) + " bytes; the limit is " + std::to_string(kAddedBytesMax),
        Code::limit);
  AddedToken out;
  out.text = text;
  out.id = id;
  out.special = special;
  out.normalized = normalized;
  out.left_strip = left_strip;
  out.right_strip = right_strip;
  out.single_word = single_word;
  return out;
}

Result<std::vector<AddedToken>> load_added_tokens(const Node& root, const Model& model) {
  std::vector<AddedToken> out;
  MORTISE_TRY(list, root.find("added_tokens"));
  if (!list) return out;
  MORTISE_TRY(items, list->items());
  std::vector<std::pair<int32_t, size_t>> by_id;
  for (const Node& item : items) {
    MORTISE_TRY(token, load_listed(item, model));
    if (token.text.empty()) continue;
    by_id.emplace_back(token.id, out.size());
    out.push_back(std::move(token));
  }
  std::sort(by_id.begin(), by_id.end());
  for (size_t i = 1; i < by_id.size(); ++i)
    if (by_id[i].first == by_id[i - 1].first && out[by_id[i].second].text != out[by_id[i - 1].second].text)
      return list->bad("gives id " + std::to_string(by_id[i].first) + " to two tokens");
  return out;
}

Result<Parts> load_parts(const Node& root, std::unique_ptr<Model> model) {
  Parts out;
  MORTISE_TRY(added, load_added_tokens(root, *model));
  MORTISE_TRY(normalizer, Normalizer::load(root));
  MORTISE_TRY(pre_tokenizer, PreTokenizer::load(root, model->takes_bytes()));
  MORTISE_TRY(decoder, Decoder::load(root));
  int32_t count = model->size();
  for (const AddedToken& token : added) count = std::max(count, token.id + 1);
  MORTISE_TRY(frame, load_frame(root, count));
  out.model = std::move(model);
  out.added = std::move(added);
  out.normalizer = std::move(normalizer);
  out.pre_tokenizer = std::move(pre_tokenizer);
  out.decoder = std::move(decoder);
  out.frame = std::move(frame);
  return out;
}

Pipeline::Pipeline(Parts parts) : parts_(std::move(parts)) {}
Pipeline::~Pipeline() = default;

Result<std::unique_ptr<Pipeline>> Pipeline::make(Parts parts) {
  std::unique_ptr<Pipeline> out(new Pipeline(std::move(parts)));
  std::vector<std::string> normalized;
  size_t total = 0;
  for (const AddedToken& token : out->parts_.added) total += token.text.size();
  MatchScratch scratch;
  scratch.start(total);  // one limit for all: a file may hold many
  for (const AddedToken& token : out->parts_.added) {
    normalized.push_back(token.text);
    if (token.normalized && !out->parts_.normalizer.run(&normalized.back(), &scratch))
      return too_much("normalizer");
  }
  out->build_matchers(normalized);
  MORTISE_CHECK(out->decode_all(normalized));
  return out;
}

void Pipeline::build_matchers(const std::vector<std::string>& normalized) {
  for (uint32_t i = 0; i < normalized.size(); ++i) {
    const AddedToken& token = parts_.added[i];
    if (token.only_decoded) continue;
    if (!token.normalized) raw_.add(token.text, i);
    if (!token.normalized || token.special) raw_and_special_.add(token.text, i);
    if (token.normalized && !normalized[i].empty()) normalized_.add(normalized[i], i);
  }
  raw_.build();
  raw_and_special_.build();
  normalized_.build();
}

// An added token that is found in normalized text decodes from its normalized form, as the hub has it: the
// decoder undoes what the normalizer did.
Result<void> Pipeline::decode_all(const std::vector<std::string>& normalized) {
  int32_t count = parts_.model->size();
  for (const AddedToken& token : parts_.added) count = std::max(count, token.id + 1);
  std::vector<const AddedToken*> added(static_cast<size_t>(count));
  for (const AddedToken& token : parts_.added) added[static_cast<size_t>(token.id)] = &token;
  const auto added_text = [&](const AddedToken* token) -> std::string_view {
    return normalized[static_cast<size_t>(token - parts_.added.data())];
  };
  flags_.assign(added.size(), 0);
  size_t undecoded = 0;
  for (const std::string& text : normalized) undecoded += text.size();
  for (int32_t id = 0; id < parts_.model->size(); ++id) undecoded += parts_.model->text(id).size();
  MatchScratch scratch;
  scratch.start(undecoded);
  bool differ = false;
  std::string later, first;
  size_t total = 0;
  for (int32_t id = 0; id < count; ++id) {
    const AddedToken* token = added[static_cast<size_t>(id)];
    const std::string_view text = token != nullptr ? added_text(token) : parts_.model->text(id);
    if (token != nullptr && token->special) flags_[static_cast<size_t>(id)] |= MORTISE_PIECE_CONTROL;
    later.assign(text);
    first.assign(text);
    if (text.empty()) {
      flags_[static_cast<size_t>(id)] |= MORTISE_PIECE_UNUSED;
    } else if (token == nullptr || parts_.decode_added) {
      if (!parts_.decoder.run(&later, false, &scratch) || !parts_.decoder.run(&first, true, &scratch))
        return too_much("decoder");
    }
    // What byte fallback has made one byte of.
    const bool is_spelled_byte = text.size() == 6 && text.substr(0, 3) == "<0x" && text[5] == '>';
    if (token == nullptr && is_spelled_byte && later.size() == 1)
      flags_[static_cast<size_t>(id)] |= MORTISE_PIECE_BYTE;
    total += later.size();
    if (total > kVocabularyBytesMax)
      return fail(
          Code::limit, "decoder",
          "makes more than " + std::to_string(kVocabularyBytesMax) + " bytes of the tokens, the limit");
    bytes_.push(later);
    first_bytes_.push(first);
    differ = differ || later != first;
  }
  if (!differ) first_bytes_ = StringTable();
  return {};
}

void Pipeline::set_special_ids(const SpecialIds& ids) {
  special_ids_ = ids;
  for (const int32_t id : ids.ends) flags_[static_cast<size_t>(id)] |= MORTISE_PIECE_END;
  const auto apply = [](std::optional<bool> add, int32_t id, std::vector<int32_t>* frame, bool front) {
    if (!add || id == kNoToken) return;
    const auto found = std::find(frame->begin(), frame->end(), id);
    if (*add && found == frame->end()) frame->insert(front ? frame->begin() : frame->end(), id);
    if (!*add && found != frame->end()) frame->erase(found);
  };
  apply(ids.add_bos, ids.bos, &parts_.frame.before, true);
  apply(ids.add_eos, ids.eos, &parts_.frame.behind, false);
}

int32_t Pipeline::find(std::string_view text) const {
  for (const AddedToken& token : parts_.added)
    if (token.text == text) return token.id;
  return parts_.model->find(text);
}

int32_t Pipeline::find_special(std::string_view text) const {
  for (const AddedToken& token : parts_.added)
    if (token.special && token.text == text) return token.id;
  return kNoToken;
}

}  // namespace mortise::hub

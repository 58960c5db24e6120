// Vocabulary: out of a hub folder's tokenizer.model or tokenizer.json. Thread rule and flow: see
// vocabulary.h.
#include <algorithm>

#include "sentencepiece/hub_model.h"
#include "tokenizer/json_node.h"
#include "tokenizer/pre_tokenizer_rows.h"
#include "tokenizer/special_ids.h"
#include "vocabulary.h"

namespace mortise::convert {
namespace {

using hub::JsonFile;
using hub::Node;

constexpr std::string_view kGpt2 = "gpt-2", kDigits = "smollm";
constexpr std::string_view kBlank = "\xE2\x96\x81";  // U+2581, SentencePiece's blank

/// The row with these facts, or null.
const hub::PreTokenizerRow* match_pre_tokenizer(std::string_view pattern, bool nfc, bool ignore_merges) {
  for (const hub::PreTokenizerRow& row : hub::pre_tokenizer_rows())
    if (row.pattern == pattern && row.nfc == nfc && row.ignore_merges == ignore_merges) return &row;
  return nullptr;
}

/// The parts of a pipeline: those of a Sequence under `list`, or the one itself; nothing where it is absent.
Result<std::vector<Node>> steps(const Node& root, std::string_view key, std::string_view list) {
  MORTISE_TRY(node, root.find(key));
  if (!node) return std::vector<Node>();
  MORTISE_TRY(type, node->string("type"));
  if (type == "Sequence") return node->items(list);
  return std::vector<Node>{*node};
}

class Reader {
 public:
  explicit Reader(const Node& root) : root_(root) {}

  Result<Vocabulary> run() {
    MORTISE_TRY(model, root_.at("model"));
    MORTISE_TRY(type, model.string("type"));
    if (type != "BPE")
      return model.bad_field("type", "is '" + std::string(type) + "'; BPE can be converted",
                             Code::unsupported);
    MORTISE_TRY(fallback, model.boolean("byte_fallback", false));
    out_.kind = fallback ? Vocabulary::Kind::sentencepiece_bpe : Vocabulary::Kind::byte_level_bpe;
    MORTISE_CHECK(read_tokens(model));
    MORTISE_CHECK(read_merges(model));
    MORTISE_CHECK(read_added_tokens());
    MORTISE_CHECK(fallback ? score_by_merges(model) : name_pre_tokenizer(model));
    return std::move(out_);
  }

 private:
  Result<void> set(int64_t id, std::string_view text, const Node& node) {
    if (id < 0 || id >= kTokensMax) return node.bad("has the id " + std::to_string(id), Code::limit);
    if (static_cast<size_t>(id) >= out_.tokens.size())
      out_.tokens.resize(static_cast<size_t>(id) + 1, Token{"", 0, TokenType::unused});
    out_.tokens[static_cast<size_t>(id)] = {std::string(text), 0, TokenType::normal};
    return {};
  }

  Result<void> read_tokens(const Node& model) {
    MORTISE_TRY(vocab, model.at("vocab"));
    MORTISE_TRY(object, vocab.object());
    for (const auto field : object) {
      int64_t id = -1;
      if (field.value.get(id) != simdjson::SUCCESS) return vocab.bad_field(field.key, "is no whole number");
      MORTISE_CHECK(set(id, field.key, vocab));
    }
    return {};
  }

  Result<void> read_merges(const Node& model) {
    MORTISE_TRY(merges, model.at("merges"));
    MORTISE_TRY(array, merges.array());
    size_t index = 0;
    for (const simdjson::dom::element merge : array) {
      const size_t at = index++;
      std::string_view text, left, right;
      simdjson::dom::array pair;
      if (merge.get(text) == simdjson::SUCCESS && text.starts_with("#version")) continue;
      if (merge.get(text) == simdjson::SUCCESS && text.find(' ') != text.npos)
        out_.merges.emplace_back(text);
      else if (merge.get(pair) == simdjson::SUCCESS && pair.size() == 2 &&
               pair.at(0).get(left) == simdjson::SUCCESS && pair.at(1).get(right) == simdjson::SUCCESS)
        out_.merges.push_back(std::string(left) + " " + std::string(right));
      else
        return merges.bad_entry(at, "is no pair of texts");
    }
    return {};
  }

  Result<void> read_added_tokens() {
    MORTISE_TRY(list, root_.find("added_tokens"));
    if (!list) return {};
    MORTISE_TRY(items, list->items());
    for (const Node& item : items) {
      MORTISE_TRY(id, item.integer("id"));
      MORTISE_TRY(text, item.string("content"));
      MORTISE_TRY(special, item.boolean("special", false));
      MORTISE_CHECK(set(id, text, item));
      out_.tokens[static_cast<size_t>(id)].type = special ? TokenType::control : TokenType::user_defined;
    }
    // An id that no token has needs a text of its own, as every reader makes a table by text.
    for (size_t i = 0; i < out_.tokens.size(); ++i)
      if (out_.tokens[i].text.empty()) out_.tokens[i].text = "[PAD" + std::to_string(i) + "]";
    return {};
  }

  Result<void> name_pre_tokenizer(const Node& model) {
    MORTISE_TRY(normalizers, steps(root_, "normalizer", "normalizers"));
    bool nfc = false;
    for (const Node& step : normalizers) {
      MORTISE_TRY(type, step.string("type"));
      if (type != "NFC")
        return step.bad("is of the type " + std::string(type) + ", which a GGUF can't say",
                        Code::unsupported);
      nfc = true;
    }
    MORTISE_TRY(ignores, model.boolean("ignore_merges", false));
    MORTISE_TRY(parts, steps(root_, "pre_tokenizer", "pretokenizers"));
    std::string pattern;
    bool digits = false, is_simple = true;
    std::optional<bool> own_pattern;  // of the ByteLevel step, which there must be
    for (const Node& part : parts) {
      MORTISE_TRY(type, part.string("type"));
      if (type == "ByteLevel") {
        MORTISE_TRY(uses, part.boolean("use_regex", true));
        MORTISE_TRY(prefix, part.boolean("add_prefix_space", true));  // what an absent one means
        own_pattern = uses;
        is_simple = is_simple && !prefix;
      } else if (type == "Digits") {
        MORTISE_TRY(each, part.boolean("individual_digits", false));
        digits = each;
        is_simple = is_simple && each;
      } else if (type == "Split" && pattern.empty()) {
        MORTISE_TRY(what, part.at("pattern"));
        MORTISE_TRY(text, what.string("Regex"));
        pattern = text;
      } else {
        is_simple = false;
      }
    }
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      MORTISE_TRY(affix, model.find(key));
      MORTISE_TRY(text, affix ? affix->string() : Result<std::string_view>(""));
      if (!text.empty()) return model.bad_field(key, "can't be said in a GGUF", Code::unsupported);
    }
    const hub::PreTokenizerRow* row = nullptr;
    if (is_simple && own_pattern == true && pattern.empty() && !nfc && !ignores)
      row = hub::find_pre_tokenizer_row(digits ? kDigits : kGpt2);
    else if (is_simple && own_pattern == false && !digits)
      row = match_pre_tokenizer(pattern, nfc, ignores);
    if (row == nullptr)
      return root_.bad_field("pre_tokenizer", "has no name in a GGUF; convert to safetensors instead",
                             Code::unsupported);
    out_.pre_tokenizer = row->name();
    return {};
  }

  /// SentencePiece's BPE merges by the score of the result: the earlier a merge, the higher. (The rank of the
  /// first merge that makes a piece; what no merge makes is never asked for.)
  Result<void> score_by_merges(const Node& model) {
    std::map<std::string_view, size_t> ids;
    for (size_t i = 0; i < out_.tokens.size(); ++i) ids.emplace(out_.tokens[i].text, i);
    for (size_t rank = out_.merges.size(); rank-- > 0;) {
      std::string text = out_.merges[rank];
      text.erase(text.find(' '), 1);
      const auto found = ids.find(text);
      if (found != ids.end()) out_.tokens[found->second].score = -static_cast<double>(rank);
    }
    out_.merges.clear();
    MORTISE_TRY(unknown, model.find("unk_token"));
    std::string_view unknown_text;
    if (unknown) {
      MORTISE_TRY(text, unknown->string());
      unknown_text = text;
    }
    for (size_t i = 0; i < out_.tokens.size(); ++i) {
      Token& token = out_.tokens[i];
      const bool is_byte =
          token.text.size() == 6 && token.text.starts_with("<0x") && token.text.ends_with('>');
      if (is_byte) token.type = TokenType::byte;
      if (!unknown_text.empty() && token.text == unknown_text) {
        token.type = TokenType::unknown;
        out_.unknown = static_cast<int64_t>(i);
      }
    }
    return find_space_prefix();
  }

  Result<void> find_space_prefix() {
    out_.add_space_prefix = false;
    MORTISE_TRY(normalizers, steps(root_, "normalizer", "normalizers"));
    for (const Node& step : normalizers) {
      MORTISE_TRY(type, step.string("type"));
      if (type != "Prepend") continue;
      MORTISE_TRY(text, step.string("prepend"));
      out_.add_space_prefix = text == kBlank;
    }
    MORTISE_TRY(parts, steps(root_, "pre_tokenizer", "pretokenizers"));
    for (const Node& part : parts) {
      MORTISE_TRY(type, part.string("type"));
      if (type != "Metaspace") continue;
      MORTISE_TRY(scheme, part.find("prepend_scheme"));
      MORTISE_TRY(text, scheme ? scheme->string() : Result<std::string_view>("always"));
      out_.add_space_prefix = text != "never";
    }
    return {};
  }

  const Node& root_;
  Vocabulary out_;
};

/// What tokenizer_config.json, config.json and their like add.
void read_specials(const mortise_model& model, Vocabulary* out) {
  std::map<std::string_view, int32_t> ids;
  for (size_t i = 0; i < out->tokens.size(); ++i) ids.emplace(out->tokens[i].text, static_cast<int32_t>(i));
  const auto find = [&](std::string_view text) {
    const auto found = ids.find(text);
    return found == ids.end() ? hub::kNoToken : found->second;
  };
  const auto special = [&](std::string_view text) {
    const int32_t id = find(text);
    return id >= 0 && out->tokens[static_cast<size_t>(id)].type == TokenType::control ? id : hub::kNoToken;
  };
  const hub::SpecialIds special_ids =
      hub::load_special_ids(model, static_cast<int32_t>(out->tokens.size()), find, special);
  out->bos = special_ids.bos;
  out->eos = special_ids.eos;
  out->add_bos = special_ids.add_bos;
  out->add_eos = special_ids.add_eos;
  for (const int32_t id : special_ids.ends)
    if (id != special_ids.eos) out->end_of_turn = id;
  mortise_meta value{};
  const mortise_str key = str("tokenizer_config.pad_token");
  if (model.meta(model.ctx, key, &value) == MORTISE_OK && value.type == MORTISE_STRING && value.count == 1)
    out->padding = find(view(*static_cast<const mortise_str*>(value.data)));
}

std::string chat_template(const mortise_model& model) {
  mortise_bytes bytes{};
  if (model.blob(model.ctx, str("chat_template.jinja"), &bytes) == MORTISE_OK)
    return std::string(reinterpret_cast<const char*>(bytes.data), bytes.size);
  mortise_meta value{};
  if (model.meta(model.ctx, str("tokenizer_config.chat_template"), &value) == MORTISE_OK &&
      value.type == MORTISE_STRING && value.count == 1)
    return std::string(view(*static_cast<const mortise_str*>(value.data)));
  return "";
}

/// The folder's tokenizer.model.
Result<Vocabulary> read_sentencepiece(const mortise_model& model) {
  MORTISE_TRY(source, sentencepiece::load_hub(model));
  const sentencepiece::Model& from = source.model;
  Vocabulary out;
  out.kind = from.algorithm == sentencepiece::Algorithm::bpe ? Vocabulary::Kind::sentencepiece_bpe
                                                             : Vocabulary::Kind::unigram;
  for (const sentencepiece::Piece& piece : from.pieces) {
    if (piece.type == sentencepiece::PieceType::unknown)
      out.unknown = static_cast<int64_t>(out.tokens.size());
    out.tokens.push_back({piece.text, static_cast<double>(piece.score), static_cast<TokenType>(piece.type)});
  }
  out.bos = from.bos;
  out.eos = from.eos;
  out.add_bos = from.add_bos;
  out.add_eos = from.add_eos;
  for (const int32_t id : from.ends)
    if (id != from.eos) out.end_of_turn = id;
  out.add_space_prefix = from.normalization.add_dummy_prefix;
  out.removes_extra_whitespace = from.normalization.remove_extra_whitespaces;
  out.charsmap = from.normalization.charsmap;
  return out;
}

}  // namespace

Result<std::optional<Vocabulary>> read_hub_vocabulary(const mortise_model& model) {
  mortise_bytes bytes{};
  if (model.blob(model.ctx, str("tokenizer.model"), &bytes) == MORTISE_OK) {
    MORTISE_TRY(read, read_sentencepiece(model));
    read.chat_template = chat_template(model);
    return std::optional<Vocabulary>(std::move(read));
  }
  if (model.blob(model.ctx, str("tokenizer.json"), &bytes) != MORTISE_OK) return std::optional<Vocabulary>();
  MORTISE_TRY(file,
              JsonFile::parse({reinterpret_cast<const char*>(bytes.data), bytes.size}, "tokenizer.json"));
  MORTISE_TRY(out, Reader(file.root()).run());
  read_specials(model, &out);
  MORTISE_TRY(frame, hub::load_frame(file.root(), static_cast<int32_t>(out.tokens.size())));
  MORTISE_CHECK(settle_hub_adds(frame, &out));
  out.chat_template = chat_template(model);
  return std::optional<Vocabulary>(std::move(out));
}

}  // namespace mortise::convert

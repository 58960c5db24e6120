// Vocabulary: to the tokenizer files of a hub folder. Thread rule and flow: see vocabulary.h.
// Layouts: tokenizer.json as the `tokenizers` package reads it; tokenizer.model as sentencepiece_model.proto
// describes it.
#include <cstring>

#include "json/json.h"
#include "tokenizer/pre_tokenizer_rows.h"
#include "vocabulary.h"

namespace mortise::convert {
namespace {

bool is_added(const Token& token) {
  return token.type == TokenType::control || token.type == TokenType::user_defined ||
         token.type == TokenType::unknown;
}

void write_added_tokens(const Vocabulary& vocabulary, json::Writer* w) {
  w->key("added_tokens").open('[');
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const Token& token = vocabulary.tokens[id];
    if (!is_added(token)) continue;
    w->open('{').key("id").number(id).key("content").string(token.text);
    for (const char* flag : {"single_word", "lstrip", "rstrip", "normalized"}) w->key(flag).boolean(false);
    w->key("special").boolean(token.type != TokenType::user_defined).close('}');
  }
  w->close(']');
}

void write_byte_level(json::Writer* w) {
  w->open('{').key("type").string("ByteLevel").key("add_prefix_space").boolean(false);
  w->key("trim_offsets").boolean(true).key("use_regex").boolean(false).close('}');
}

/// Adds BOS and EOS as the model asks for them; null where it asks for neither.
void write_post_processor(const Vocabulary& vocabulary, json::Writer* w) {
  const bool bos = vocabulary.add_bos.value_or(false) && vocabulary.bos >= 0;
  const bool eos = vocabulary.add_eos.value_or(false) && vocabulary.eos >= 0;
  w->key("post_processor");
  if (!bos && !eos) return void(w->null());
  const auto text = [&](int64_t id) -> const std::string& {
    return vocabulary.tokens[static_cast<size_t>(id)].text;
  };
  const auto special = [&](int64_t id) {
    w->open('{').key("SpecialToken").open('{').key("id").string(text(id)).key("type_id").number(0);
    w->close('}').close('}');
  };
  const auto sequence = [&](const char* name) {
    w->open('{')
        .key("Sequence")
        .open('{')
        .key("id")
        .string(name)
        .key("type_id")
        .number(0)
        .close('}')
        .close('}');
  };
  w->open('{').key("type").string("TemplateProcessing");
  for (const bool is_pair : {false, true}) {
    w->key(is_pair ? "pair" : "single").open('[');
    if (bos) special(vocabulary.bos);
    sequence("A");
    if (is_pair) sequence("B");
    if (eos) special(vocabulary.eos);
    w->close(']');
  }
  w->key("special_tokens").open('{');
  const auto describe = [&](int64_t id) {
    w->key(text(id)).open('{').key("id").string(text(id)).key("ids").open('[').number(id).close(']');
    w->key("tokens").open('[').string(text(id)).close(']').close('}');
  };
  if (bos) describe(vocabulary.bos);
  if (eos && !(bos && vocabulary.eos == vocabulary.bos)) describe(vocabulary.eos);
  w->close('}').close('}');
}

Result<std::string> tokenizer_json(const Vocabulary& vocabulary) {
  const hub::PreTokenizerRow* pre = hub::find_pre_tokenizer_row(vocabulary.pre_tokenizer);
  if (pre == nullptr)
    return fail(Code::unsupported, "tokenizer.ggml.pre",
                "is '" + vocabulary.pre_tokenizer + "', whose pattern is not known; convert to gguf instead");
  std::string out;
  json::Writer w(&out);
  w.open('{').key("version").string("1.0").key("truncation").null().key("padding").null();
  write_added_tokens(vocabulary, &w);
  w.key("normalizer");
  if (pre->nfc)
    w.open('{').key("type").string("NFC").close('}');
  else
    w.null();
  w.key("pre_tokenizer").open('{').key("type").string("Sequence").key("pretokenizers").open('[');
  w.open('{')
      .key("type")
      .string("Split")
      .key("pattern")
      .open('{')
      .key("Regex")
      .string(pre->pattern)
      .close('}');
  w.key("behavior").string("Isolated").key("invert").boolean(false).close('}');
  write_byte_level(&w);
  w.close(']').close('}');
  write_post_processor(vocabulary, &w);
  w.key("decoder");
  write_byte_level(&w);
  w.key("model").open('{').key("type").string("BPE").key("dropout").null().key("unk_token").null();
  w.key("continuing_subword_prefix").null().key("end_of_word_suffix").null().key("fuse_unk").boolean(false);
  w.key("byte_fallback").boolean(false).key("ignore_merges").boolean(pre->ignore_merges);
  w.key("vocab").open('{');
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) w.key(vocabulary.tokens[id].text).number(id);
  w.close('}').key("merges").open('[');
  for (const std::string& merge : vocabulary.merges) w.string(merge);
  w.close(']').close('}').close('}');
  return out;
}

/// The few wire forms of protobuf that a SentencePiece model needs.
class Protobuf {
 public:
  void varint(uint32_t field, uint64_t value) {
    raw_varint(uint64_t{field} << 3);
    raw_varint(value);
  }
  void number(uint32_t field, float value) {
    raw_varint(uint64_t{field} << 3 | 5);
    char bytes[sizeof(value)];
    std::memcpy(bytes, &value, sizeof(value));
    bytes_.append(bytes, sizeof(bytes));
  }
  void bytes(uint32_t field, std::string_view value) {
    raw_varint(uint64_t{field} << 3 | 2);
    raw_varint(value.size());
    bytes_ += value;
  }
  const std::string& text() const { return bytes_; }

 private:
  void raw_varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

/// The id of the unknown piece; -1 where there is none.
int64_t unknown_of(const Vocabulary& vocabulary) {
  if (vocabulary.unknown >= 0) return vocabulary.unknown;
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id)
    if (vocabulary.tokens[id].type == TokenType::unknown || vocabulary.tokens[id].text == "<unk>")
      return static_cast<int64_t>(id);
  return -1;
}

std::string sentencepiece_model(const Vocabulary& vocabulary) {
  enum { kPieces = 1, kTrainer = 2, kNormalizer = 3 };
  Protobuf out, trainer, normalizer;
  bool has_bytes = false;
  // SentencePiece wants exactly one unknown piece; a GGUF may call it a control token.
  const int64_t unknown = unknown_of(vocabulary);
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const Token& token = vocabulary.tokens[id];
    const bool is_unknown = static_cast<int64_t>(id) == unknown;
    const TokenType type = is_unknown                         ? TokenType::unknown
                           : token.type == TokenType::unknown ? TokenType::control
                                                              : token.type;
    Protobuf piece;
    piece.bytes(1, token.text);
    piece.number(2, static_cast<float>(token.score));
    piece.varint(3, static_cast<uint64_t>(type));
    out.bytes(kPieces, piece.text());
    has_bytes = has_bytes || token.type == TokenType::byte;
  }
  trainer.varint(3, vocabulary.kind == Vocabulary::Kind::unigram ? 1 : 2);
  trainer.varint(4, vocabulary.tokens.size());
  trainer.varint(35, has_bytes);
  // An absent id is -1, a negative int32 in ten bytes.
  trainer.varint(40, static_cast<uint64_t>(unknown));
  trainer.varint(41, static_cast<uint64_t>(vocabulary.bos));
  trainer.varint(42, static_cast<uint64_t>(vocabulary.eos));
  trainer.varint(43, static_cast<uint64_t>(vocabulary.padding));
  out.bytes(kTrainer, trainer.text());
  normalizer.bytes(1, vocabulary.charsmap.empty() ? "identity" : "user_defined");
  if (!vocabulary.charsmap.empty()) normalizer.bytes(2, vocabulary.charsmap);
  normalizer.varint(3, vocabulary.add_space_prefix);
  normalizer.varint(4, vocabulary.removes_extra_whitespace);
  normalizer.varint(5, 1);
  out.bytes(kNormalizer, normalizer.text());
  return out.text();
}

std::string tokenizer_config(const Vocabulary& vocabulary, int64_t context) {
  std::string out;
  json::Writer w(&out);
  w.open('{').key("tokenizer_class");
  w.string(vocabulary.kind == Vocabulary::Kind::byte_level_bpe ? "PreTrainedTokenizerFast"
                                                               : "LlamaTokenizer");
  const auto token = [&](const char* key, int64_t id) {
    if (id >= 0) w.key(key).string(vocabulary.tokens[static_cast<size_t>(id)].text);
  };
  token("bos_token", vocabulary.bos);
  token("eos_token", vocabulary.eos);
  token("unk_token", vocabulary.unknown);
  token("pad_token", vocabulary.padding);
  w.key("add_bos_token").boolean(vocabulary.add_bos.value_or(false));
  w.key("add_eos_token").boolean(vocabulary.add_eos.value_or(false));
  if (vocabulary.kind != Vocabulary::Kind::byte_level_bpe)
    w.key("add_prefix_space").boolean(vocabulary.add_space_prefix).key("legacy").boolean(false);
  w.key("clean_up_tokenization_spaces").boolean(false).key("model_max_length").number(context);
  w.key("added_tokens_decoder").open('{');
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const Token& added = vocabulary.tokens[id];
    if (!is_added(added)) continue;
    w.key(std::to_string(id)).open('{').key("content").string(added.text);
    for (const char* flag : {"single_word", "lstrip", "rstrip", "normalized"}) w.key(flag).boolean(false);
    w.key("special").boolean(added.type != TokenType::user_defined).close('}');
  }
  w.close('}');
  if (!vocabulary.chat_template.empty()) w.key("chat_template").string(vocabulary.chat_template);
  w.close('}');
  return out;
}

}  // namespace

std::string generation_config(const Vocabulary& vocabulary) {
  std::string out;
  json::Writer w(&out);
  w.open('{');
  if (vocabulary.bos >= 0) w.key("bos_token_id").number(vocabulary.bos);
  w.key("eos_token_id").open('[');
  if (vocabulary.eos >= 0) w.number(vocabulary.eos);
  if (vocabulary.end_of_turn >= 0 && vocabulary.end_of_turn != vocabulary.eos)
    w.number(vocabulary.end_of_turn);
  w.close(']').close('}');
  return out;
}

Result<std::map<std::string, std::string>> hub_tokenizer_files(const Vocabulary& vocabulary,
                                                               int64_t context) {
  std::map<std::string, std::string> out;
  if (vocabulary.kind == Vocabulary::Kind::byte_level_bpe) {
    MORTISE_TRY(text, tokenizer_json(vocabulary));
    out["tokenizer.json"] = std::move(text);
  } else {
    out["tokenizer.model"] = sentencepiece_model(vocabulary);
  }
  out["tokenizer_config.json"] = tokenizer_config(vocabulary, context);
  return out;
}

}  // namespace mortise::convert

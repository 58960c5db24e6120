// A tiktoken file: lines of base64 and rank, nothing else; the rest comes out of a table and of
// tokenizer_config.json. Thread rule: [load]. Flow: blobs -> hub::Pipeline.
#include <algorithm>
#include <charconv>

#include "base64.h"
#include "bpe_model.h"
#include "load.h"

namespace mortise::bpe {
namespace {

constexpr std::string_view kFile = "tokenizer.tiktoken";

struct Family {
  std::string_view name;
  int32_t ranks;
  std::string_view types;
  bool add_bos;
  std::string_view bos, eos, pattern;
};

struct Special {
  std::string_view family;
  int32_t offset, count, number;
  std::string_view text;
};

constexpr Family kFamilies[] = {
#define F(name, ranks, types, add_bos, bos, eos, pattern) {name, ranks, types, add_bos, bos, eos, pattern},
#define S(family, offset, count, number, text)
#include "tiktoken_families.inc"
#undef F
#undef S
};

constexpr Special kSpecials[] = {
#define F(name, ranks, types, add_bos, bos, eos, pattern)
#define S(family, offset, count, number, text) {family, offset, count, number, text},
#include "tiktoken_families.inc"
#undef F
#undef S
};

bool has_word(std::string_view words, std::string_view word) {
  while (!word.empty() && !words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

Result<const Family*> find_family(int32_t ranks, std::string_view tokenizer_class,
                                  std::string_view model_type) {
  for (const Family& family : kFamilies)
    if (family.ranks == ranks) return &family;
  std::string known;
  for (const Family& family : kFamilies) {
    if (has_word(family.types, tokenizer_class) || has_word(family.types, model_type)) return &family;
    known.append(known.empty() ? "" : ", ").append(family.name);
    known.append(" (").append(std::to_string(family.ranks)).append(")");
  }
  return fail(Code::unsupported, std::string(kFile),
              "has " + std::to_string(ranks) + " ranks, which is no known family, and neither " +
                  "tokenizer_class nor model_type name one; known are: " + known);
}

// Ranks in any order; those that are missing stand for nothing.
class Lines {
 public:
  Result<void> read(std::string_view text) {
    size_t offset = 0, total = 0;
    while (offset < text.size()) {
      const size_t end = std::min(text.find('\n', offset), text.size());
      std::string_view line = text.substr(offset, end - offset);
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      if (!line.empty()) MORTISE_CHECK(add(line, offset));
      total += bytes_.size();
      if (total > hub::kVocabularyBytesMax)
        return fail(Code::limit, std::string(kFile),
                    "holds more than " + std::to_string(hub::kVocabularyBytesMax) + " bytes, the limit",
                    offset);
      offset = end + 1;
    }
    if (texts_.empty()) return fail(Code::bad_data, std::string(kFile), "holds no tokens; fetch it again");
    return {};
  }

  Vocabulary vocabulary() const {
    Vocabulary out;
    for (const std::string& text : texts_) out.push(text);
    out.index(Spelling::bytes);
    return out;
  }

 private:
  Result<void> add(std::string_view line, size_t offset) {
    const auto bad = [&](const std::string& what) {
      return fail(Code::bad_data, std::string(kFile), "a line " + what + "; fetch the file again", offset);
    };
    const size_t blank = std::min(line.find(' '), line.size());
    if (!read_base64(line.substr(0, blank), &bytes_)) return bad("doesn't begin with base64");
    if (bytes_.size() > kOneTokenBytesMax)
      return bad("holds a token of more than " + std::to_string(kOneTokenBytesMax) + " bytes, the limit");
    const std::string_view digits = line.substr(std::min(blank + 1, line.size()));
    uint32_t rank = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return bad("has no rank");
    if (rank >= hub::kTokensMax) return bad("has a rank beyond " + std::to_string(hub::kTokensMax));
    if (rank >= texts_.size()) texts_.resize(rank + size_t{1});
    if (!texts_[rank].empty()) return bad("has rank " + std::to_string(rank) + ", as another's");
    texts_[rank] = bytes_;
    return {};
  }

  std::string bytes_;
  std::vector<std::string> texts_;
};

std::vector<hub::AddedToken> family_specials(const Family& family, int32_t ranks) {
  std::vector<hub::AddedToken> out;
  for (const Special& row : kSpecials) {
    if (row.family != family.name) continue;
    for (int32_t i = 0; i < row.count; ++i) {
      hub::AddedToken token;
      token.text = row.text;
      if (const size_t at = token.text.find('#'); at != std::string::npos)
        token.text.replace(at, 1, std::to_string(row.number + i));
      token.id = ranks + row.offset + i;
      token.special = true;
      out.push_back(std::move(token));
    }
  }
  return out;
}

// Of tokenizer_config.json: added_tokens_decoder, {"151643": {"content": .., "special": ..}, ..}.
Result<std::vector<hub::AddedToken>> config_specials(const Node& root, const Vocabulary& vocabulary) {
  std::vector<hub::AddedToken> out;
  MORTISE_TRY(table, root.find("added_tokens_decoder"));
  if (!table) return out;
  MORTISE_TRY(entries, table->object());
  for (const simdjson::dom::key_value_pair entry : entries) {
    const std::string key(entry.key);
    MORTISE_TRY(node, table->at(key));
    uint32_t id = 0;
    const auto read = std::from_chars(key.data(), key.data() + key.size(), id);
    if (read.ec != std::errc() || read.ptr != key.data() + key.size() || id >= hub::kTokensMax)
      return table->bad_field(key, "isn't a token's id");
    MORTISE_TRY(token, hub::load_added_token(node, static_cast<int32_t>(id)));
    if (token.text.empty()) continue;
    const bool taken = token.id < vocabulary.size() && !vocabulary.text(token.id).empty();
    if (taken && vocabulary.text(token.id) != token.text)
      return table->bad_field(key, "is a token of " + std::string(kFile) + " already");
    out.push_back(std::move(token));
  }
  return out;
}

struct Config {
  std::vector<hub::AddedToken> specials;
  std::string tokenizer_class;
};

Result<Config> read_config(std::string_view text, const Vocabulary& vocabulary) {
  Config out;
  if (text.empty()) return out;
  MORTISE_TRY(file, hub::JsonFile::parse(text, "tokenizer_config.json"));
  MORTISE_TRY(specials, config_specials(file.root(), vocabulary));
  MORTISE_TRY(name, file.root().find("tokenizer_class"));
  if (name) {
    MORTISE_TRY(value, name->string());
    out.tokenizer_class = value;
  }
  out.specials = std::move(specials);
  return out;
}

}  // namespace

Result<Loaded> load_tiktoken(std::string_view text, std::string_view config_text,
                             std::string_view model_type) {
  Lines lines;
  MORTISE_CHECK(lines.read(text));
  Vocabulary vocabulary = lines.vocabulary();
  MORTISE_TRY(config, read_config(config_text, vocabulary));
  MORTISE_TRY(family, find_family(vocabulary.size(), config.tokenizer_class, model_type));
  hub::Parts parts;
  parts.added = std::move(config.specials);
  if (parts.added.empty()) parts.added = family_specials(*family, vocabulary.size());
  MORTISE_TRY(pre_tokenizer, make_pre_tokenizer(family->pattern));
  Result<std::vector<Rule>> rules = rules_by_rank(vocabulary, 0);
  if (!rules) return fail(rules.error().code, std::string(kFile), rules.error().message);
  BpeOptions options;
  options.spelling = Spelling::bytes;
  options.whole_words = true;
  parts.model = std::make_unique<BpeModel>(std::move(vocabulary), MergeTable(*rules), options);
  parts.pre_tokenizer = std::move(pre_tokenizer);
  MORTISE_TRY(pipeline, hub::Pipeline::make(std::move(parts)));
  hub::SpecialIds ids;
  ids.bos = pipeline->find_special(family->bos);
  ids.eos = pipeline->find_special(family->eos);
  if (family->add_bos) ids.add_bos = true;
  pipeline->set_special_ids(ids);
  return std::move(pipeline);
}

}  // namespace mortise::bpe

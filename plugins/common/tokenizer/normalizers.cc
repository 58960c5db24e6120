// See normalizers.h. Thread rule: as there. Flow: load time and the second step of encoding.
#include "tokenizer/normalizers.h"

#include "tokenizer/byte_alphabet.h"
#include "tokenizer/chars.h"
#include "tokenizer/unicode_forms.h"

namespace mortise::hub {
namespace {

/// One character to none or some.
template <class Map>
void map_chars(std::string* text, Map&& map) {
  std::string out;
  out.reserve(text->size());
  for (size_t at = 0; at < text->size();) map(next_char(*text, &at), &out);
  text->swap(out);
}

struct FormStep : NormalizerStep {
  explicit FormStep(UnicodeForm wanted) : form(wanted) {}
  Result<void> run(std::string* text, MatchScratch*) const override {
    if (!may_need_form(*text, form)) return {};
    MORTISE_TRY(done, to_form(*text, form));
    *text = std::move(done);
    return {};
  }
  UnicodeForm form;
};

struct LowercaseStep : NormalizerStep {
  Result<void> run(std::string* text, MatchScratch*) const override {
    map_chars(text, [](uint32_t point, std::string* out) {
      if (point == 0x130)  // the only character with two in its lower case
        out->append("i\xCC\x87");
      else
        append_char(to_lower(point), out);
    });
    return {};
  }
};

struct StripStep : NormalizerStep {
  Result<void> run(std::string* text, MatchScratch*) const override {
    size_t begin = 0, end = text->size();
    for (size_t at = 0; left && at < end && is_white_space(next_char(*text, &at));) begin = at;
    while (right && end > begin) {
      const size_t before = char_before(*text, end);
      size_t at = before;
      if (!is_white_space(next_char(*text, &at))) break;
      end = before;
    }
    *text = text->substr(begin, end - begin);
    return {};
  }
  bool left = true, right = true;
};

struct StripAccentsStep : NormalizerStep {
  Result<void> run(std::string* text, MatchScratch*) const override {
    map_chars(text, [](uint32_t point, std::string* out) {
      if (!is_mark(point)) append_char(point, out);
    });
    return {};
  }
};

struct PrependStep : NormalizerStep {
  Result<void> run(std::string* text, MatchScratch*) const override {
    if (!text->empty()) text->insert(0, prefix);
    return {};
  }
  std::string prefix;
};

struct ReplaceStep : NormalizerStep {
  Result<void> run(std::string* text, MatchScratch* scratch) const override {
    return replace_all(pattern, content, text, scratch);
  }
  Pattern pattern;
  std::string content;
};

// The clean-up of SentencePiece's nmt rules: control characters go, unusual blanks become blanks.
struct NmtStep : NormalizerStep {
  Result<void> run(std::string* text, MatchScratch*) const override {
    map_chars(text, [](uint32_t point, std::string* out) {
      const bool control = (point >= 0x01 && point <= 0x08) || point == 0x0B ||
                           (point >= 0x0E && point <= 0x1F) || point == 0x7F || point == 0x8F ||
                           point == 0x9F;
      const bool blank = point == 0x09 || point == 0x0A || point == 0x0C || point == 0x0D ||
                         point == 0x1680 || (point >= 0x200B && point <= 0x200F) || point == 0x2028 ||
                         point == 0x2029 || point == 0x2581 || point == 0xFEFF || point == 0xFFFD;
      if (!control) append_char(blank ? ' ' : point, out);
    });
    return {};
  }
};

bool is_chinese(uint32_t point) {
  constexpr uint32_t kRanges[][2] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF},
                                     {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF},
                                     {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};
  for (const auto& range : kRanges)
    if (point >= range[0] && point <= range[1]) return true;
  return false;
}

struct BertStep : NormalizerStep {
  Result<void> run(std::string* text, MatchScratch* scratch) const override {
    if (clean)
      map_chars(text, [](uint32_t point, std::string* out) {
        const bool blank = point == '\t' || point == '\n' || point == '\r';
        if (!blank && (point == 0 || point == 0xFFFD || is_other(point))) return;
        append_char(blank || is_white_space(point) ? ' ' : point, out);
      });
    if (chinese)
      map_chars(text, [](uint32_t point, std::string* out) {
        if (!is_chinese(point)) return append_char(point, out);
        *out += ' ';
        append_char(point, out);
        *out += ' ';
      });
    if (strip_accents) {
      MORTISE_CHECK(FormStep(UnicodeForm::nfd).run(text, scratch));
      map_chars(text, [](uint32_t point, std::string* out) {
        if (!is_nonspacing_mark(point)) append_char(point, out);
      });
    }
    return lowercase ? LowercaseStep().run(text, scratch) : Result<void>();
  }
  bool clean = true, chinese = true, strip_accents = true, lowercase = true;
};

struct SpellStep : NormalizerStep {
  Result<void> run(std::string* text, MatchScratch*) const override {
    std::string out;
    append_spelling(*text, &out);
    text->swap(out);
    return {};
  }
};

using Step = std::unique_ptr<NormalizerStep>;

Result<Step> load_step(const Node& node, std::string_view type) {
  if (type == "NFC") return Step(std::make_unique<FormStep>(UnicodeForm::nfc));
  if (type == "NFD") return Step(std::make_unique<FormStep>(UnicodeForm::nfd));
  if (type == "NFKC") return Step(std::make_unique<FormStep>(UnicodeForm::nfkc));
  if (type == "NFKD") return Step(std::make_unique<FormStep>(UnicodeForm::nfkd));
  if (type == "Lowercase") return Step(std::make_unique<LowercaseStep>());
  if (type == "StripAccents") return Step(std::make_unique<StripAccentsStep>());
  if (type == "Nmt") return Step(std::make_unique<NmtStep>());
  if (type == "ByteLevel") return Step(std::make_unique<SpellStep>());
  if (type == "Strip") {
    auto step = std::make_unique<StripStep>();
    MORTISE_TRY(left, node.boolean("strip_left"));
    MORTISE_TRY(right, node.boolean("strip_right"));
    step->left = left;
    step->right = right;
    return Step(std::move(step));
  }
  if (type == "Prepend") {
    auto step = std::make_unique<PrependStep>();
    MORTISE_TRY(prefix, node.string("prepend"));
    step->prefix = prefix;
    return Step(std::move(step));
  }
  if (type == "Replace") {
    auto step = std::make_unique<ReplaceStep>();
    MORTISE_TRY(pattern, load_pattern(node));
    MORTISE_TRY(content, node.string("content"));
    step->pattern = std::move(pattern);
    step->content = content;
    return Step(std::move(step));
  }
  if (type == "BertNormalizer") {
    auto step = std::make_unique<BertStep>();
    MORTISE_TRY(clean, node.boolean("clean_text"));
    MORTISE_TRY(chinese, node.boolean("handle_chinese_chars"));
    MORTISE_TRY(lowercase, node.boolean("lowercase"));
    MORTISE_TRY(strip_accents, node.boolean("strip_accents", lowercase));
    step->clean = clean;
    step->chinese = chinese;
    step->lowercase = lowercase;
    step->strip_accents = strip_accents;
    return Step(std::move(step));
  }
  return node.bad_field("type",
                        quoted(type) +
                            " is no known normalizer; known are: NFC NFD NFKC NFKD Lowercase Strip "
                            "StripAccents Replace Prepend Nmt BertNormalizer ByteLevel Sequence",
                        Code::unsupported);
}

}  // namespace

Result<Pattern> load_pattern(const Node& node) {
  MORTISE_TRY(field, node.at("pattern"));
  MORTISE_TRY(text, field.find("String"));
  MORTISE_TRY(regex, field.find("Regex"));
  if (!text && !regex) return field.bad("must hold a String or a Regex");
  const Node& source = text ? *text : *regex;
  MORTISE_TRY(value, source.string());
  Result<Pattern> pattern = text ? Pattern::literal(value) : Pattern::regex(value, PatternSyntax::oniguruma);
  if (!pattern) return source.bad(pattern.error().message, pattern.error().code);
  return pattern;
}

Result<void> replace_all(const Pattern& pattern, std::string_view content, std::string* text,
                         MatchScratch* scratch) {
  std::string out;
  size_t done = 0;
  bool fits = true;
  MORTISE_CHECK(pattern.each(*text, scratch, [&](Range match) {
    fits = fits && out.size() + (match.begin - done) + content.size() <= kNormalizedBytesMax;
    if (!fits) return;
    out.append(*text, done, match.begin - done).append(content);
    done = match.end;
  }));
  if (!fits || out.size() + text->size() - done > kNormalizedBytesMax)
    return fail(Code::limit, "text",
                "grows beyond " + std::to_string(kNormalizedBytesMax) +
                    " bytes by the tokenizer's rules; shorten it");
  out.append(*text, done);
  text->swap(out);
  return {};
}

std::unique_ptr<NormalizerStep> make_nfc() { return std::make_unique<FormStep>(UnicodeForm::nfc); }

Result<Normalizer> Normalizer::load(const Node& root) {
  Normalizer out;
  MORTISE_TRY(node, root.find("normalizer"));
  if (node) MORTISE_CHECK(out.add_parts(*node));
  return out;
}

Result<void> Normalizer::add_parts(const Node& node) {
  MORTISE_TRY(type, node.string("type"));
  if (type == "Sequence") {
    MORTISE_TRY(parts, node.items("normalizers"));
    for (const Node& part : parts) MORTISE_CHECK(add_parts(part));
    return {};
  }
  if (steps_.size() == kPartsMax)
    return node.bad("is one of more than " + std::to_string(kPartsMax) + " normalizers, the limit",
                    Code::limit);
  MORTISE_TRY(step, load_step(node, type));
  add(std::move(step));
  return {};
}

Result<void> Normalizer::run(std::string* text, MatchScratch* scratch) const {
  for (const auto& step : steps_) {
    MORTISE_CHECK(step->run(text, scratch));
    MORTISE_CHECK(scratch->count_bytes(text->size()));
  }
  return {};
}

}  // namespace mortise::hub

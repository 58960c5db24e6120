// See pre_tokenizers.h. Thread rule: as there. Flow: load time.
#include "tokenizer/pre_tokenizers.h"

#include "tokenizer/normalizers.h"
#include "tokenizer/pre_tokenizer_steps.h"

namespace mortise::hub {
namespace {

using Step = std::unique_ptr<SplitStep>;

// What the Whitespace pre-tokenizer keeps; its engine is Rust's.
constexpr std::string_view kWordsAndSigns = R"(\w+|[^\w\s]+)";

Result<SplitBehavior> load_behavior(const Node& node) {
  constexpr std::pair<std::string_view, SplitBehavior> kNames[] = {
      {"Removed", SplitBehavior::removed},
      {"Isolated", SplitBehavior::isolated},
      {"MergedWithPrevious", SplitBehavior::merged_with_previous},
      {"MergedWithNext", SplitBehavior::merged_with_next},
      {"Contiguous", SplitBehavior::contiguous}};
  MORTISE_TRY(name, node.string());
  for (const auto& [known, behavior] : kNames)
    if (name == known) return behavior;
  return node.bad(quoted(name) +
                  " is no known behavior; known are: Removed Isolated MergedWithPrevious MergedWithNext "
                  "Contiguous");
}

Result<Step> load_split(const Node& node) {
  MORTISE_TRY(pattern, load_pattern(node));
  MORTISE_TRY(field, node.at("behavior"));
  MORTISE_TRY(behavior, load_behavior(field));
  MORTISE_TRY(invert, node.boolean("invert", false));
  return make_split(std::move(pattern), behavior, invert);
}

Result<std::string> one_char(const Node& node, std::string_view key) {
  MORTISE_TRY(text, node.string(key));
  size_t at = 0;
  if (!text.empty()) next_char(text, &at);
  if (text.empty() || at != text.size()) return node.bad_field(key, "must be one character");
  return std::string(text);
}

Result<Step> load_metaspace(const Node& node) {
  auto step = std::make_unique<MetaspaceSplit>();
  MORTISE_TRY(mark, one_char(node, "replacement"));
  MORTISE_TRY(pattern, Pattern::literal(mark));
  MORTISE_TRY(split, node.boolean("split", true));
  MORTISE_TRY(prefix, node.boolean("add_prefix_space", true));
  MORTISE_TRY(scheme, node.find("prepend_scheme"));
  if (scheme) {
    MORTISE_TRY(name, scheme->string());
    if (name != "always" && name != "first" && name != "never")
      return scheme->bad(quoted(name) + " is no known scheme; known are: always first never");
    step->prepend = name == "always" ? Prepend::always : name == "first" ? Prepend::first : Prepend::never;
  } else if (!prefix) {
    step->prepend = Prepend::never;
  }
  step->mark = mark;
  step->mark_pattern = std::move(pattern);
  step->split = split;
  return Step(std::move(step));
}

Result<Step> load_class(const Node& node, std::string_view type) {
  if (type == "Digits") {
    MORTISE_TRY(each, node.boolean("individual_digits", false));
    return Step(
        std::make_unique<ClassSplit>(is_number, each ? SplitBehavior::isolated : SplitBehavior::contiguous));
  }
  if (type == "Punctuation") {
    MORTISE_TRY(field, node.find("behavior"));
    SplitBehavior behavior = SplitBehavior::isolated;
    if (field) {
      MORTISE_TRY(named, load_behavior(*field));
      behavior = named;
    }
    return Step(std::make_unique<ClassSplit>(is_punctuation, behavior));
  }
  return Step(std::make_unique<ClassSplit>(is_white_space, SplitBehavior::removed));
}

Result<Step> load_step(const Node& node, std::string_view type) {
  if (type == "Split") return load_split(node);
  if (type == "Metaspace") return load_metaspace(node);
  if (type == "Digits" || type == "Punctuation" || type == "WhitespaceSplit") return load_class(node, type);
  if (type == "Whitespace") {
    MORTISE_TRY(pattern, Pattern::regex(kWordsAndSigns, PatternSyntax::rust));
    return make_split(std::move(pattern), SplitBehavior::removed, true);
  }
  if (type == "CharDelimiterSplit") {
    MORTISE_TRY(delimiter, one_char(node, "delimiter"));
    MORTISE_TRY(pattern, Pattern::literal(delimiter));
    return make_split(std::move(pattern), SplitBehavior::removed, false);
  }
  if (type == "FixedLength") {
    auto step = std::make_unique<FixedLength>();
    MORTISE_TRY(length, node.find("length"));
    if (length) {
      MORTISE_TRY(value, length->integer());
      if (value < 1) return length->bad("must be at least 1");
      step->length = static_cast<size_t>(value);
    }
    return Step(std::move(step));
  }
  return node.bad_field("type",
                        quoted(type) +
                            " is no known pre-tokenizer; known are: Split ByteLevel Metaspace Digits "
                            "Punctuation Whitespace WhitespaceSplit CharDelimiterSplit BertPreTokenizer "
                            "FixedLength Sequence",
                        Code::unsupported);
}

}  // namespace

std::unique_ptr<SplitStep> make_split(Pattern pattern, SplitBehavior behavior, bool invert) {
  auto step = std::make_unique<PatternSplit>();
  step->pattern = std::move(pattern);
  step->behavior = behavior;
  step->invert = invert;
  return step;
}

Result<Pattern> gpt2_pattern() {
  return Pattern::regex(R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
                        PatternSyntax::oniguruma);
}

Result<PreTokenizer> PreTokenizer::load(const Node& root, bool model_takes_bytes) {
  PreTokenizer out;
  MORTISE_TRY(node, root.find("pre_tokenizer"));
  if (!node) return out;
  MORTISE_CHECK(out.add_parts(*node));
  if (model_takes_bytes && !out.steps_.empty() &&
      dynamic_cast<const SpellBytes*>(out.steps_.back().get()) != nullptr) {
    out.steps_.pop_back();
    out.bytes_ = true;
  }
  return out;
}

Result<void> PreTokenizer::add_parts(const Node& node) {
  MORTISE_TRY(type, node.string("type"));
  if (type == "Sequence") {
    MORTISE_TRY(parts, node.items("pretokenizers"));
    for (const Node& part : parts) MORTISE_CHECK(add_parts(part));
    return {};
  }
  if (steps_.size() >= kPartsMax)
    return node.bad("is one of more than " + std::to_string(kPartsMax) + " steps, the limit", Code::limit);
  if (type == "ByteLevel") {
    MORTISE_TRY(prefix, node.boolean("add_prefix_space", true));
    MORTISE_TRY(cut, node.boolean("use_regex", true));
    if (prefix) add(std::make_unique<PrefixSpace>());
    if (cut) {
      MORTISE_TRY(pattern, gpt2_pattern());
      add(make_split(std::move(pattern), SplitBehavior::isolated, false));
    }
    add(std::make_unique<SpellBytes>());
    return {};
  }
  if (type == "BertPreTokenizer") {
    add(std::make_unique<ClassSplit>(is_white_space, SplitBehavior::removed));
    add(std::make_unique<ClassSplit>(is_punctuation, SplitBehavior::isolated));
    return {};
  }
  MORTISE_TRY(step, load_step(node, type));
  add(std::move(step));
  return {};
}

}  // namespace mortise::hub

// Mistral's tekken.json: ranks in base64, special tokens before them.
// Thread rule: [load]. Flow: blob -> hub::Pipeline.
#include <algorithm>

#include "base64.h"
#include "bpe_model.h"
#include "load.h"

namespace mortise::bpe {
namespace {

// The special tokens of files that list none (up to version 7 of the format).
constexpr std::string_view kOldSpecials[] = {"<unk>",
                                             "<s>",
                                             "</s>",
                                             "[INST]",
                                             "[/INST]",
                                             "[AVAILABLE_TOOLS]",
                                             "[/AVAILABLE_TOOLS]",
                                             "[TOOL_RESULTS]",
                                             "[/TOOL_RESULTS]",
                                             "[TOOL_CALLS]",
                                             "[IMG]",
                                             "<pad>",
                                             "[IMG_BREAK]",
                                             "[IMG_END]",
                                             "[PREFIX]",
                                             "[MIDDLE]",
                                             "[SUFFIX]",
                                             "[SYSTEM_PROMPT]",
                                             "[/SYSTEM_PROMPT]",
                                             "[TOOL_CONTENT]"};

struct Sizes {
  int64_t specials = 0;
  int64_t words = 0;  // tokens behind them
};

Result<Sizes> load_sizes(const Node& config) {
  Sizes out;
  MORTISE_TRY(specials, config.integer("default_num_special_tokens"));
  MORTISE_TRY(size, config.integer("default_vocab_size"));
  if (size < 1 || size > static_cast<int64_t>(hub::kTokensMax))
    return config.bad_field(
        "default_vocab_size",
        "is " + std::to_string(size) + "; the limit is " + std::to_string(hub::kTokensMax), Code::limit);
  if (specials < 0 || specials >= size)
    return config.bad_field("default_num_special_tokens",
                            "is " + std::to_string(specials) + ", with " + std::to_string(size) + " in all");
  out.specials = specials;
  out.words = size - specials;
  return out;
}

Result<std::vector<std::string>> load_specials(const Node& root, int64_t count) {
  std::vector<std::string> out(static_cast<size_t>(count));
  MORTISE_TRY(list, root.find("special_tokens"));
  if (!list)
    for (size_t i = 0; i < std::min(out.size(), std::size(kOldSpecials)); ++i) out[i] = kOldSpecials[i];
  std::vector<Node> items;
  if (list) {
    MORTISE_TRY(given, list->items());
    items = std::move(given);
  }
  for (const Node& item : items) {
    MORTISE_TRY(rank, item.integer("rank"));
    MORTISE_TRY(text, item.string("token_str"));
    if (rank < 0 || rank >= count)
      return item.bad_field("rank", "is " + std::to_string(rank) + ", but special tokens are 0 to " +
                                        std::to_string(count - 1));
    if (text.empty() || text.size() > hub::kAddedBytesMax)
      return item.bad_field("token_str", "must have 1 to " + std::to_string(hub::kAddedBytesMax) + " bytes");
    if (!out[static_cast<size_t>(rank)].empty())
      return item.bad_field("rank", "is " + std::to_string(rank) + ", as another's");
    out[static_cast<size_t>(rank)] = text;
  }
  for (size_t i = 0; i < out.size(); ++i)
    if (out[i].empty()) out[i] = "<SPECIAL_" + std::to_string(i) + ">";
  return out;
}

Result<Vocabulary> load_words(const Node& node, const Sizes& sizes) {
  MORTISE_TRY(entries, node.array());
  std::vector<std::string> texts(static_cast<size_t>(sizes.words));
  size_t index = 0;
  std::string bytes;
  for (const simdjson::dom::element entry : entries) {
    const size_t at = index++;
    std::string_view encoded;
    int64_t rank = 0;
    if (entry.at_key("rank").get(rank) != simdjson::SUCCESS || rank < 0)
      return node.bad_entry(at, "has no rank");
    if (rank >= sizes.words) continue;  // the file may hold more than the model uses
    if (entry.at_key("token_bytes").get(encoded) != simdjson::SUCCESS || !read_base64(encoded, &bytes) ||
        bytes.size() > kOneTokenBytesMax)
      return node.bad_entry(at,
                            "has no token_bytes in base64 of at most " + std::to_string(kOneTokenBytesMax));
    std::string& text = texts[static_cast<size_t>(rank)];
    if (!text.empty()) return node.bad_entry(at, "has rank " + std::to_string(rank) + ", as another's");
    text = bytes;
  }
  Vocabulary out;
  for (int64_t i = 0; i < sizes.specials; ++i) out.push("");
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty())
      return node.bad("has no token of rank " + std::to_string(i) + ", of " + std::to_string(texts.size()));
    out.push(texts[i]);
  }
  out.index(Spelling::bytes);
  return out;
}

}  // namespace

Result<Loaded> load_tekken(std::string_view text, bool parse_special) {
  MORTISE_TRY(file, hub::JsonFile::parse(text, "tekken.json"));
  const Node root = file.root();
  MORTISE_TRY(config, root.at("config"));
  MORTISE_TRY(sizes, load_sizes(config));
  MORTISE_TRY(specials, load_specials(root, sizes.specials));
  MORTISE_TRY(words, root.at("vocab"));
  MORTISE_TRY(vocabulary, load_words(words, sizes));
  MORTISE_TRY(pattern, config.string("pattern"));
  Result<hub::PreTokenizer> pre_tokenizer = make_pre_tokenizer(pattern);
  if (!pre_tokenizer)
    return config.bad_field("pattern", pre_tokenizer.error().message, pre_tokenizer.error().code);
  Result<std::vector<Rule>> rules = rules_by_rank(vocabulary, static_cast<int32_t>(sizes.specials));
  if (!rules) return words.bad(rules.error().message, rules.error().code);
  hub::Parts parts;
  for (size_t i = 0; i < specials.size(); ++i) {
    hub::AddedToken token;
    token.text = specials[i];
    token.id = static_cast<int32_t>(i);
    token.special = true;
    token.only_decoded = !parse_special;
    parts.added.push_back(std::move(token));
  }
  BpeOptions options;
  options.spelling = Spelling::bytes;
  options.whole_words = true;
  parts.model = std::make_unique<BpeModel>(std::move(vocabulary), MergeTable(*rules), options);
  parts.pre_tokenizer = std::move(*pre_tokenizer);
  MORTISE_TRY(pipeline, hub::Pipeline::make(std::move(parts)));
  return std::move(pipeline);
}

}  // namespace mortise::bpe

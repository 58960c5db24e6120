// A tokenizer.json whose model is BPE. Thread rule: [load]. Flow: blob -> hub::Pipeline.
#include <algorithm>

#include "bpe_model.h"
#include "load.h"

namespace mortise::bpe {
namespace {

using simdjson::dom::element;

Result<void> check_type(const Node& model) {
  MORTISE_TRY(type, model.find("type"));
  if (!type) {  // older files name none; BPE is what has merges
    MORTISE_TRY(merges, model.find("merges"));
    return merges ? Result<void>() : model.bad_field("type", "is missing, and merges too", Code::unsupported);
  }
  MORTISE_TRY(name, type->string());
  if (name == "BPE") return {};
  return type->bad("is " + quoted(name) + "; this plugin reads \"BPE\"", Code::unsupported);
}

// The texts by id; ids that the file leaves out stand for nothing.
Result<Vocabulary> load_vocabulary(const Node& node) {
  MORTISE_TRY(entries, node.object());
  std::vector<std::string_view> by_id;
  size_t total = 0;
  for (const simdjson::dom::key_value_pair entry : entries) {
    int64_t id = 0;
    if (!entry.value.is_int64() || entry.value.get(id) != simdjson::SUCCESS)
      return node.bad_field(entry.key, "must be an integer");
    if (id < 0 || id >= static_cast<int64_t>(hub::kTokensMax))
      return node.bad_field(
          entry.key, "is " + std::to_string(id) + "; ids are 0 to " + std::to_string(hub::kTokensMax - 1));
    const auto at = static_cast<size_t>(id);
    if (at >= by_id.size()) by_id.resize(at + 1);
    if (!by_id[at].empty() && by_id[at] != entry.key)
      return node.bad_field(entry.key, "has id " + std::to_string(id) + ", as " + quoted(by_id[at]) + " has");
    by_id[at] = entry.key;
    total += entry.key.size();
  }
  if (by_id.empty()) return node.bad("is empty; the file holds no tokenizer");
  Vocabulary out;
  out.reserve(by_id.size(), total);
  for (const std::string_view text : by_id) out.push(text);
  out.index(Spelling::alphabet);
  return out;
}

// "a b" or ["a", "b"].
bool read_pair(element entry, std::string_view* left, std::string_view* right) {
  std::string_view text;
  if (entry.get(text) == simdjson::SUCCESS) {
    const size_t blank = text.find(' ');
    if (blank == std::string_view::npos || text.find(' ', blank + 1) != std::string_view::npos) return false;
    *left = text.substr(0, blank);
    *right = text.substr(blank + 1);
    return true;
  }
  simdjson::dom::array pair;
  return entry.get(pair) == simdjson::SUCCESS && pair.size() == 2 &&
         pair.at(0).get(*left) == simdjson::SUCCESS && pair.at(1).get(*right) == simdjson::SUCCESS;
}

bool is_version_line(element entry) {
  std::string_view text;
  return entry.get(text) == simdjson::SUCCESS && text.substr(0, 8) == "#version";
}

Result<MergeTable> load_merges(const Node& node, const Vocabulary& vocabulary, const std::string& prefix) {
  MORTISE_TRY(entries, node.array());
  std::vector<Rule> rules;
  std::string joined;
  size_t index = 0;
  for (const element entry : entries) {
    const size_t at = index++;
    if (is_version_line(entry)) continue;
    if (rules.size() == kMaxMerges)
      return node.bad("has more than " + std::to_string(kMaxMerges) + " entries, the limit", Code::limit);
    std::string_view left, right;
    if (!read_pair(entry, &left, &right)) return node.bad_entry(at, "isn't a pair of tokens");
    joined.assign(left).append(right.substr(std::min(prefix.size(), right.size())));
    const Rule rule{vocabulary.find(left), vocabulary.find(right), vocabulary.find(joined),
                    static_cast<uint32_t>(rules.size())};
    for (const auto& [id, text] : {std::pair(rule.left, left), std::pair(rule.right, right),
                                   std::pair(rule.result, std::string_view(joined))})
      if (id == kNoToken) return node.bad_entry(at, "needs " + quoted(text) + ", which isn't a token");
    rules.push_back(rule);
  }
  return MergeTable(rules);
}

Result<std::string> optional_text(const Node& node, std::string_view key) {
  MORTISE_TRY(field, node.find(key));
  if (!field) return std::string();
  MORTISE_TRY(text, field->string());
  if (text.size() > hub::kAddedBytesMax)
    return field->bad("has more than " + std::to_string(hub::kAddedBytesMax) + " bytes, the limit",
                      Code::limit);
  return std::string(text);
}

Result<std::unique_ptr<BpeModel>> load_model(const Node& node) {
  BpeOptions options;
  MORTISE_TRY(whole_words, node.boolean("ignore_merges", false));
  MORTISE_TRY(byte_fallback, node.boolean("byte_fallback", false));
  MORTISE_TRY(fuse_unknown, node.boolean("fuse_unk", false));
  MORTISE_TRY(prefix, optional_text(node, "continuing_subword_prefix"));
  MORTISE_TRY(suffix, optional_text(node, "end_of_word_suffix"));
  MORTISE_TRY(unknown, optional_text(node, "unk_token"));
  MORTISE_TRY(dropout, node.find("dropout"));
  double rate = 0;
  if (dropout && (dropout->value().get(rate) != simdjson::SUCCESS || rate != 0))
    return dropout->bad("must be null or 0: a text's tokens must not change by chance", Code::unsupported);
  MORTISE_TRY(tokens, node.at("vocab"));
  MORTISE_TRY(vocabulary, load_vocabulary(tokens));
  MORTISE_TRY(pairs, node.at("merges"));
  MORTISE_TRY(merges, load_merges(pairs, vocabulary, prefix));
  options.whole_words = whole_words;
  options.byte_fallback = byte_fallback;
  options.fuse_unknown = fuse_unknown;
  options.prefix = prefix;
  options.suffix = suffix;
  if (!unknown.empty()) options.unknown = vocabulary.find(unknown);
  return std::make_unique<BpeModel>(std::move(vocabulary), std::move(merges), std::move(options));
}

}  // namespace

Result<void> check_hub(std::string_view text) {
  MORTISE_TRY(file, hub::JsonFile::parse(text, "tokenizer.json"));
  MORTISE_TRY(model, file.root().at("model"));
  return check_type(model);
}

Result<Loaded> load_hub(std::string_view text) {
  MORTISE_TRY(file, hub::JsonFile::parse(text, "tokenizer.json"));
  MORTISE_TRY(node, file.root().at("model"));
  MORTISE_CHECK(check_type(node));
  MORTISE_TRY(model, load_model(node));
  BpeModel* const bpe = model.get();
  MORTISE_TRY(parts, hub::load_parts(file.root(), std::move(model)));
  for (const hub::AddedToken& token : parts.added)
    if (token.special) bpe->forbid_whole(token.id);
  return hub::Pipeline::make(std::move(parts));
}

}  // namespace mortise::bpe

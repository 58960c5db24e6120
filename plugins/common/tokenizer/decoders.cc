// See decoders.h. Thread rule: as there. Flow: load time.
#include "tokenizer/decoders.h"

#include "tokenizer/byte_alphabet.h"
#include "tokenizer/chars.h"
#include "tokenizer/normalizers.h"

namespace mortise::hub {
namespace {

using Step = std::unique_ptr<DecoderStep>;

struct ByteLevelStep final : DecoderStep {
  Result<void> run(std::string* token, bool, MatchScratch*) const override {
    std::string bytes;
    if (append_spelled(*token, &bytes)) token->swap(bytes);
    return {};
  }
};

/// "<0x0A>" to its byte.
struct ByteFallbackStep final : DecoderStep {
  Result<void> run(std::string* token, bool, MatchScratch*) const override {
    const int byte = byte_of(*token);
    if (byte >= 0) token->assign(1, static_cast<char>(byte));
    return {};
  }
  static int byte_of(std::string_view token) {
    if (token.size() != 6 || token.substr(0, 3) != "<0x" || token[5] != '>') return -1;
    const int high = digit(token[3]), low = digit(token[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
  }
  static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  }
};

struct ReplaceTokenStep final : DecoderStep {
  Result<void> run(std::string* token, bool, MatchScratch* scratch) const override {
    return replace_all(pattern, content, token, scratch);
  }
  Pattern pattern;
  std::string content;
};

/// Up to `start` characters `content` from the front and `stop` from the back.
struct StripTokenStep final : DecoderStep {
  Result<void> run(std::string* token, bool first, MatchScratch*) const override {
    if (of_text && !first) return {};
    size_t begin = 0, end = token->size();
    for (int64_t i = 0; i < start && token->compare(begin, content.size(), content) == 0; ++i)
      begin += content.size();
    for (int64_t i = 0; i < stop && end >= begin + content.size() &&
                        token->compare(end - content.size(), content.size(), content) == 0;
         ++i)
      end -= content.size();
    *token = token->substr(begin, end - begin);
    return {};
  }
  std::string content;
  int64_t start = 0, stop = 0;
  bool of_text = false;
};

struct MetaspaceStep final : DecoderStep {
  Result<void> run(std::string* token, bool first, MatchScratch*) const override {
    const std::string_view blank = first && drop_first ? "" : " ";
    std::string out;
    for (size_t at = 0; at < token->size();) {
      if (token->compare(at, mark.size(), mark) == 0) {
        out += blank;
        at += mark.size();
      } else {
        out += (*token)[at++];
      }
    }
    token->swap(out);
    return {};
  }
  std::string mark;
  bool drop_first = true;
};

/// What the hub does where a file names no decoder.
struct JoinStep final : DecoderStep {
  Result<void> run(std::string* token, bool first, MatchScratch*) const override {
    if (!first) token->insert(0, " ");
    return {};
  }
};

Result<Step> load_strip(const Node& node, bool fused) {
  auto step = std::make_unique<StripTokenStep>();
  MORTISE_TRY(content, node.string("content"));
  MORTISE_TRY(start, node.integer("start"));
  MORTISE_TRY(stop, node.integer("stop"));
  if (content.empty()) return node.bad_field("content", "must be one character");
  if (fused && stop != 0)
    return node.bad_field("stop", "must be 0 behind Fuse: streaming can't know a text's end",
                          Code::unsupported);
  step->content = content;
  step->start = start;
  step->stop = stop;
  step->of_text = fused;
  return Step(std::move(step));
}

Result<Step> load_metaspace(const Node& node) {
  auto step = std::make_unique<MetaspaceStep>();
  MORTISE_TRY(mark, node.string("replacement"));
  MORTISE_TRY(prefix, node.boolean("add_prefix_space", true));
  MORTISE_TRY(scheme, node.find("prepend_scheme"));
  if (mark.empty()) return node.bad_field("replacement", "must be one character");
  step->mark = mark;
  step->drop_first = prefix;
  if (scheme) {
    MORTISE_TRY(name, scheme->string());
    step->drop_first = name != "never";
  }
  return Step(std::move(step));
}

Result<Step> load_step(const Node& node, std::string_view type, bool fused) {
  if (type == "ByteLevel") return Step(std::make_unique<ByteLevelStep>());
  if (type == "ByteFallback") return Step(std::make_unique<ByteFallbackStep>());
  if (type == "Strip") return load_strip(node, fused);
  if (type == "Metaspace") return load_metaspace(node);
  if (type == "Replace") {
    auto step = std::make_unique<ReplaceTokenStep>();
    MORTISE_TRY(pattern, load_pattern(node));
    MORTISE_TRY(content, node.string("content"));
    step->pattern = std::move(pattern);
    step->content = content;
    return Step(std::move(step));
  }
  return node.bad_field("type",
                        quoted(type) +
                            " is no decoder that can stream; known are: ByteLevel ByteFallback Replace "
                            "Metaspace Strip Fuse Sequence",
                        Code::unsupported);
}

}  // namespace

Decoder Decoder::byte_level() {
  Decoder out;
  out.add(std::make_unique<ByteLevelStep>());
  return out;
}

Result<Decoder> Decoder::load(const Node& root) {
  Decoder out;
  MORTISE_TRY(node, root.find("decoder"));
  if (node)
    MORTISE_CHECK(out.add_parts(*node));
  else
    out.add(std::make_unique<JoinStep>());
  return out;
}

Result<void> Decoder::add_parts(const Node& node) {
  MORTISE_TRY(type, node.string("type"));
  if (type == "Sequence") {
    MORTISE_TRY(parts, node.items("decoders"));
    for (const Node& part : parts) MORTISE_CHECK(add_parts(part));
    return {};
  }
  if (type == "Fuse") {
    fused_ = true;
    return {};
  }
  if (steps_.size() == kPartsMax)
    return node.bad("is one of more than " + std::to_string(kPartsMax) + " decoders, the limit", Code::limit);
  MORTISE_TRY(step, load_step(node, type, fused_));
  add(std::move(step));
  return {};
}

Result<void> Decoder::run(std::string* token, bool first, MatchScratch* scratch) const {
  for (const Step& step : steps_) {
    MORTISE_CHECK(step->run(token, first, scratch));
    MORTISE_CHECK(scratch->count_bytes(token->size()));
  }
  return {};
}

}  // namespace mortise::hub

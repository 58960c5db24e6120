// See pipeline.h. Thread rule: any thread. Flow: encoding and streaming.
#include "tokenizer/pipeline.h"

#include <mortise/cpp/utf8.h>

#include <algorithm>

#include "tokenizer/pipeline_scratch.h"

namespace mortise::hub {
namespace {

const TrustedRanges kNoTrust;

// How many bytes from the start on belong to no valid character.
size_t invalid_prefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const Utf8Unit unit = utf8_unit(text.substr(at));
    if (unit.kind == Utf8Kind::valid) break;
    at += unit.size;
  }
  return at;
}

}  // namespace

std::unique_ptr<Pipeline::Scratch> Pipeline::take_scratch() const {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Scratch> scratch = std::move(idle_.back());
      idle_.pop_back();
      return scratch;
    }
  }
  auto scratch = std::make_unique<Scratch>();
  scratch->model = parts_.model->make_scratch();
  return scratch;
}

void Pipeline::give_back(std::unique_ptr<Scratch> scratch) const {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(scratch));
}

std::string_view Pipeline::bytes(int32_t id, bool first) const {
  const StringTable& table = first && first_bytes_.size() != 0 ? first_bytes_ : bytes_;
  return table[static_cast<size_t>(id)];
}

Result<void> Pipeline::encode(std::span<const Span> spans, bool add_special,
                              std::vector<int32_t>* ids) const {
  size_t total = 0;
  for (const Span& span : spans) {
    if (span.text.size() > kTextBytesMax - total)
      return fail(
          Code::limit, "text",
          "is longer than " + std::to_string(kTextBytesMax) + " bytes, the limit; encode it in parts");
    total += span.text.size();
  }
  const size_t before = ids->size();
  std::unique_ptr<Scratch> scratch = take_scratch();
  scratch->match.start(total);
  const Result<void> done = encode_all(spans, scratch.get(), ids);
  give_back(std::move(scratch));
  MORTISE_CHECK(done);
  if (!add_special) return {};
  const Frame& frame = parts_.frame;
  const auto begin = ids->begin() + static_cast<ptrdiff_t>(before);
  const size_t count = ids->size() - before;
  const bool has_front =
      count >= frame.before.size() && std::equal(frame.before.begin(), frame.before.end(), begin);
  if (!has_front) ids->insert(begin, frame.before.begin(), frame.before.end());
  const bool has_back =
      count >= frame.behind.size() && std::equal(frame.behind.rbegin(), frame.behind.rend(), ids->rbegin());
  if (!has_back) ids->insert(ids->end(), frame.behind.begin(), frame.behind.end());
  return {};
}

Result<void> Pipeline::encode_all(std::span<const Span> spans, Scratch* scratch,
                                  std::vector<int32_t>* ids) const {
  std::string joined;
  std::string_view text = spans.size() == 1 ? spans[0].text : std::string_view();
  if (spans.size() > 1) {
    for (const Span& span : spans) joined.append(span.text);
    text = joined;
  }
  const TrustedRanges trusted = trusted_ranges(spans);
  const bool all = trusted.size() == 1 && trusted[0].begin == 0 && trusted[0].end == text.size();
  Text whole;
  whole.mixed = !all && !trusted.empty();
  whole.trust = all ? nullptr : &kNoTrust;
  std::vector<Segment> segments;
  cut_by_tokens(text, whole.mixed ? raw_and_special_ : raw_, parts_.added, all ? nullptr : &trusted,
                &segments);
  for (const Segment& segment : segments) {
    if (segment.index != TokenMatcher::kNone)
      ids->push_back(parts_.added[segment.index].id);
    else
      MORTISE_CHECK(encode_between(text.substr(segment.begin, segment.end - segment.begin), whole,
                                   segment.begin == 0, scratch, ids));
  }
  return {};
}

// The text between tokens that are found as it came: normalized, then searched for the others.
Result<void> Pipeline::encode_between(std::string_view text, const Text& whole, bool starts, Scratch* scratch,
                                      std::vector<int32_t>* ids) const {
  std::string storage;
  if (!parts_.normalizer.empty() || (!parts_.pre_tokenizer.bytes() && !valid_utf8(text))) {
    MORTISE_TRY(normalized, normalize(text, scratch));
    storage = std::move(normalized);
    text = storage;
  }
  if (normalized_.empty()) return encode_text(text, starts, scratch, ids);
  std::vector<Segment> segments;
  cut_by_tokens(text, normalized_, parts_.added, whole.trust, &segments);
  for (const Segment& segment : segments) {
    if (segment.index != TokenMatcher::kNone)
      ids->push_back(parts_.added[segment.index].id);
    else
      MORTISE_CHECK(encode_text(text.substr(segment.begin, segment.end - segment.begin),
                                starts && segment.begin == 0, scratch, ids));
  }
  return {};
}

Result<std::string> Pipeline::normalize(std::string_view text, Scratch* scratch) const {
  std::string out;
  if (!parts_.pre_tokenizer.bytes() || valid_utf8(text)) {
    out = replace_invalid(text);
    MORTISE_CHECK(parts_.normalizer.run(&out, &scratch->match));
    return out;
  }
  while (!text.empty()) {
    const size_t valid = valid_utf8_prefix(text);
    std::string part(text.substr(0, valid));
    MORTISE_CHECK(parts_.normalizer.run(&part, &scratch->match));
    text.remove_prefix(valid);
    const size_t invalid = invalid_prefix(text);
    out.append(part).append(text.substr(0, invalid));
    text.remove_prefix(invalid);
  }
  return out;
}

Result<void> Pipeline::encode_text(std::string_view text, bool starts, Scratch* scratch,
                                   std::vector<int32_t>* ids) const {
  while (!text.empty()) {
    const size_t valid = valid_utf8_prefix(text);
    if (valid > 0) MORTISE_CHECK(encode_valid(text.substr(0, valid), starts, scratch, ids));
    text.remove_prefix(valid);
    const size_t invalid = invalid_prefix(text);
    if (invalid > 0)
      MORTISE_CHECK(parts_.model->encode(text.substr(0, invalid), true, scratch->model.get(), ids));
    text.remove_prefix(invalid);
    starts = false;
  }
  return {};
}

Result<void> Pipeline::encode_valid(std::string_view text, bool starts, Scratch* scratch,
                                    std::vector<int32_t>* ids) const {
  Pieces& pieces = scratch->pieces;
  pieces.reset(text, starts);
  MORTISE_CHECK(parts_.pre_tokenizer.run(&pieces, &scratch->match));
  const bool bytes = parts_.pre_tokenizer.bytes();
  for (size_t i = 0; i < pieces.list.size(); ++i)
    MORTISE_CHECK(parts_.model->encode(pieces[i], bytes, scratch->model.get(), ids));
  return {};
}

}  // namespace mortise::hub

// See tokenizer.h. Thread rule: any thread. Flow: encoding.
#include "tokenizer.h"

#include <mortise/cpp/utf8.h>

#include "tokenizer/byte_alphabet.h"
#include "tokenizer/unicode_forms.h"

namespace mortise::bpe {
namespace {

struct Range {
  size_t begin, end;
};

// The stretches in which control tokens are recognised; neighbours are one.
std::vector<Range> trusted_ranges(std::span<const Span> spans) {
  std::vector<Range> out;
  size_t at = 0;
  for (const Span& span : spans) {
    const size_t end = at + span.text.size();
    if (span.parse_special && at != end) {
      if (!out.empty() && out.back().end == at)
        out.back().end = end;
      else
        out.push_back({at, end});
    }
    at = end;
  }
  return out;
}

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

std::unique_ptr<Tokenizer::Scratch> Tokenizer::take_scratch() const {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Scratch> scratch = std::move(idle_.back());
      idle_.pop_back();
      return scratch;
    }
  }
  auto scratch = std::make_unique<Scratch>();
  scratch->match = pre_tokenizer_.make_match();
  return scratch;
}

void Tokenizer::give_back(std::unique_ptr<Scratch> scratch) const {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(scratch));
}

Result<void> Tokenizer::encode(std::span<const Span> spans, bool add_special,
                               std::vector<int32_t>* ids) const {
  size_t total = 0;
  for (const Span& span : spans) {
    if (span.text.size() > kMaxTextBytes - total)
      return fail(
          Code::limit, "text",
          "is longer than " + std::to_string(kMaxTextBytes) + " bytes, the limit; encode it in parts");
    total += span.text.size();
  }
  const size_t before = ids->size();
  std::unique_ptr<Scratch> scratch = take_scratch();
  const Result<void> done = encode_all(spans, scratch.get(), ids);
  give_back(std::move(scratch));
  MORTISE_CHECK(done);
  if (!add_special) return {};
  const SpecialIds& special = special_ids_;
  if (special.add_bos && (ids->size() == before || (*ids)[before] != special.bos))
    ids->insert(ids->begin() + static_cast<ptrdiff_t>(before), special.bos);
  if (special.add_eos && (ids->size() == before || ids->back() != special.eos)) ids->push_back(special.eos);
  return {};
}

Result<void> Tokenizer::encode_all(std::span<const Span> spans, Scratch* scratch,
                                   std::vector<int32_t>* ids) const {
  std::string joined;
  std::string_view text = spans.size() == 1 ? spans[0].text : std::string_view();
  if (spans.size() > 1) {
    for (const Span& span : spans) joined.append(span.text);
    text = joined;
  }
  const std::vector<Range> trusted = trusted_ranges(spans);
  auto range = trusted.begin();
  const auto trusted_end = [&](size_t at) {  // asked with rising positions
    while (range != trusted.end() && range->end <= at) ++range;
    return range != trusted.end() && range->begin <= at ? range->end : at;
  };
  for (size_t at = 0; at < text.size();) {
    const SpecialTokens::Match match = special_tokens_.find(text, at, trusted_end);
    const size_t end = match.id == kNoToken ? text.size() : match.begin;
    MORTISE_CHECK(encode_text(text.substr(at, end - at), scratch, ids));
    if (match.id != kNoToken) ids->push_back(match.id);
    at = end + match.size;
  }
  return {};
}

Result<void> Tokenizer::encode_text(std::string_view text, Scratch* scratch,
                                    std::vector<int32_t>* ids) const {
  while (!text.empty()) {
    const size_t valid = valid_utf8_prefix(text);
    MORTISE_CHECK(encode_valid(text.substr(0, valid), scratch, ids));
    text.remove_prefix(valid);
    const size_t invalid = invalid_prefix(text);
    if (invalid > 0) encode_piece(text.substr(0, invalid), scratch, ids);
    text.remove_prefix(invalid);
  }
  return {};
}

Result<void> Tokenizer::encode_valid(std::string_view text, Scratch* scratch,
                                     std::vector<int32_t>* ids) const {
  std::string normalized;
  if (pre_tokenizer_.row().nfc && hub::may_need_form(text, hub::UnicodeForm::nfc)) {
    MORTISE_TRY(form_c, hub::to_form(text, hub::UnicodeForm::nfc));
    normalized = std::move(form_c);
    text = normalized;
  }
  scratch->ends.clear();
  MORTISE_CHECK(pre_tokenizer_.split(text, &scratch->match, &scratch->ends));
  size_t begin = 0;
  for (const uint32_t end : scratch->ends) {
    encode_piece(text.substr(begin, end - begin), scratch, ids);
    begin = end;
  }
  return {};
}

// Bytes without a token vanish before the merges, so their neighbours may merge, as in the hub's tokenizers.
void Tokenizer::encode_piece(std::string_view piece, Scratch* scratch, std::vector<int32_t>* ids) const {
  size_t count = 0;
  if (const int32_t* known = scratch->cache.find(piece, &count)) {
    ids->insert(ids->end(), known, known + count);
    return;
  }
  std::vector<int32_t>& symbols = scratch->symbols;
  symbols.clear();
  const int32_t whole = pre_tokenizer_.row().ignore_merges ? whole_piece(piece, scratch) : kNoToken;
  if (whole != kNoToken) {
    symbols.push_back(whole);
  } else {
    for (const char byte : piece) {
      const int32_t id = vocabulary_.byte_token(static_cast<uint8_t>(byte));
      if (id != kNoToken) symbols.push_back(id);
    }
    merges_.merge(&symbols, &scratch->merge);
  }
  ids->insert(ids->end(), symbols.begin(), symbols.end());
  scratch->cache.put(piece, symbols);
}

// A piece of plain text never becomes a special token, even where it spells one.
int32_t Tokenizer::whole_piece(std::string_view piece, Scratch* scratch) const {
  scratch->spelling.clear();
  hub::append_spelling(piece, &scratch->spelling);
  const int32_t id = vocabulary_.find(scratch->spelling);
  if (id == kNoToken) return id;
  const TokenType type = vocabulary_.type(id);
  const bool plain = type == TokenType::normal || type == TokenType::undefined || type == TokenType::byte;
  return plain ? id : kNoToken;
}

}  // namespace mortise::bpe

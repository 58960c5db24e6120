// See tokenizer.h. Thread rule: any thread. Flow: encoding and decoding.
#include "tokenizer.h"

#include <mortise/tokenizer.h>

namespace mortise::sentencepiece {
namespace {

Result<Trie> user_defined_trie(const Model& model) {
  std::vector<Trie::Entry> entries;
  for (size_t id = 0; model.match_user_defined && id < model.pieces.size(); ++id) {
    const Piece& piece = model.pieces[id];
    if (piece.type == PieceType::user_defined) entries.push_back({piece.text, static_cast<int32_t>(id), 0});
  }
  return Trie::build(std::move(entries));
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> Tokenizer::load(Model model, bool is_strict) {
  MORTISE_CHECK(check_pieces(model));
  auto out = std::make_unique<Tokenizer>();
  MORTISE_TRY(pieces, Pieces::load(model, is_strict));
  MORTISE_TRY(user_defined, user_defined_trie(model));
  MORTISE_TRY(normalizer, Normalizer::load(model, user_defined));
  MORTISE_TRY(special_tokens, SpecialTokens::load(model.specials));
  if (model.algorithm == Algorithm::unigram) {
    MORTISE_TRY(unigram, Unigram::load(model, pieces));
    out->unigram_ = std::move(unigram);
  } else {
    out->bpe_ = Bpe::load(pieces, user_defined);
  }
  for (const Piece& piece : model.pieces) {
    // A surface of its own makes an unknown piece something to be shown.
    const bool unknown = piece.type == PieceType::unknown && model.unknown_surface.empty();
    uint32_t flags = 0;
    if (piece.type == PieceType::control || unknown) flags |= MORTISE_PIECE_CONTROL;
    if (piece.type == PieceType::unused) flags |= MORTISE_PIECE_UNUSED;
    if (piece.type == PieceType::byte) flags |= MORTISE_PIECE_BYTE;
    out->flags_.push_back(flags);
  }
  for (const int32_t id : model.ends) out->flags_[static_cast<size_t>(id)] |= MORTISE_PIECE_END;
  out->pieces_ = std::move(pieces);
  out->normalizer_ = std::move(normalizer);
  out->user_defined_ = std::move(user_defined);
  out->special_tokens_ = std::move(special_tokens);
  out->model_ = std::move(model);
  out->model_.pieces = {};
  out->model_.specials = {};
  return out;
}

std::unique_ptr<Tokenizer::Scratch> Tokenizer::take_scratch() const {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Scratch> scratch = std::move(idle_.back());
      idle_.pop_back();
      return scratch;
    }
  }
  return std::make_unique<Scratch>();
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
  if (model_.add_bos && (ids->size() == before || (*ids)[before] != model_.bos))
    ids->insert(ids->begin() + static_cast<ptrdiff_t>(before), model_.bos);
  if (model_.add_eos && (ids->size() == before || ids->back() != model_.eos)) ids->push_back(model_.eos);
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
  const hub::TrustedRanges trusted = hub::trusted_ranges(spans);
  auto range = trusted.begin();
  const auto trusted_end = [&](size_t at) {  // asked with rising positions
    while (range != trusted.end() && range->end <= at) ++range;
    return range != trusted.end() && range->begin <= at ? range->end : at;
  };
  bool with_dummy = true;
  for (size_t at = 0; at < text.size();) {
    const SpecialTokens::Match match = special_tokens_.find(text, at, trusted_end);
    const size_t end = match.id == kNoPiece ? text.size() : match.begin;
    if (end > at) MORTISE_CHECK(encode_text(text.substr(at, end - at), with_dummy, scratch, ids));
    if (match.id != kNoPiece) ids->push_back(match.id);
    // A BOS at the start is as one that add_special puts there.
    with_dummy = model_.prefix_after_special || (with_dummy && match.begin == at && match.id == model_.bos);
    at = end + match.size;
  }
  return {};
}

Result<void> Tokenizer::encode_text(std::string_view text, bool with_dummy, Scratch* scratch,
                                    std::vector<int32_t>* ids) const {
  MORTISE_CHECK(normalizer_.normalize(text, with_dummy, user_defined_, &scratch->normalized));
  if (scratch->normalized.empty()) return {};
  if (model_.algorithm == Algorithm::unigram)
    unigram_.encode(scratch->normalized, pieces_, &scratch->unigram, ids);
  else
    bpe_.encode(scratch->normalized, pieces_, user_defined_, &scratch->bpe, ids);
  return {};
}

std::string_view Tokenizer::bytes(int32_t id, bool is_first) const {
  std::string_view out = pieces_.bytes(id);
  const Normalization& rules = normalizer_.rules();
  if (is_first && (rules.add_dummy_prefix || rules.remove_extra_whitespaces) && pieces_.begins_with_blank(id))
    out.remove_prefix(1);
  return out;
}

}  // namespace mortise::sentencepiece

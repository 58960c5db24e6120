// See hub_unigram.h. Thread rule: immutable after load, any thread. Flow: load time; the inner loop of
// encoding.
#include "hub_unigram.h"

#include <algorithm>
#include <cmath>

#include "unigram.h"
#include "viterbi.h"

namespace mortise::sentencepiece {
namespace {

// One entry of the vocabulary: ["▁the", -3.1].
Result<Piece> read_entry(const hub::Node& node, size_t index, simdjson::dom::element entry, double* score) {
  simdjson::dom::array pair;
  std::string_view text;
  if (entry.get(pair) != simdjson::SUCCESS || pair.size() != 2 || pair.at(0).get(text) != simdjson::SUCCESS ||
      pair.at(1).get(*score) != simdjson::SUCCESS)
    return node.bad_entry(index, "isn't a text and its score");
  if (text.size() > kMaxPieceBytes)
    return node.bad_entry(index, "has more than " + std::to_string(kMaxPieceBytes) + " bytes, the limit",
                          Code::limit);
  if (!std::isfinite(*score)) return node.bad_entry(index, "has a score that is not a finite number");
  return Piece{std::string(text), 0, PieceType::normal};
}

}  // namespace

struct HubUnigram::Scratch final : hub::ModelScratch {
  Viterbi<double> viterbi;
};

Result<std::unique_ptr<HubUnigram>> HubUnigram::load(const hub::Node& node) {
  auto out = std::make_unique<HubUnigram>();
  MORTISE_TRY(byte_fallback, node.boolean("byte_fallback", false));
  MORTISE_TRY(unknown, node.find("unk_id"));
  MORTISE_TRY(vocabulary, node.at("vocab"));
  MORTISE_TRY(entries, vocabulary.array());
  sentencepiece::Model model;
  model.where = vocabulary.path();
  size_t total = 0;
  for (const simdjson::dom::element entry : entries) {
    double score = 0;
    const size_t index = model.pieces.size();
    MORTISE_TRY(piece, read_entry(vocabulary, index, entry, &score));
    if (index == kMaxPieces || piece.text.size() > kMaxVocabularyBytes - total)
      return vocabulary.bad_entry(index,
                                  "is beyond " + std::to_string(kMaxPieces) + " pieces or " +
                                      std::to_string(kMaxVocabularyBytes) + " bytes of them, the limits",
                                  Code::limit);
    total += piece.text.size();
    if (byte_fallback && byte_of_piece(piece.text) >= 0) piece.type = PieceType::byte;
    model.pieces.push_back(std::move(piece));
    out->scores_.push_back(score);
  }
  if (model.pieces.empty()) return vocabulary.bad("is empty; the file holds no tokenizer");
  if (unknown) {
    MORTISE_TRY(id, unknown->integer());
    if (id < 0 || static_cast<uint64_t>(id) >= model.pieces.size())
      return unknown->bad("is " + std::to_string(id) + ", but the pieces are 0 to " +
                          std::to_string(model.pieces.size() - 1));
    model.pieces[static_cast<size_t>(id)].type = PieceType::unknown;
  }
  MORTISE_TRY(pieces, Pieces::load(model, false));
  out->pieces_ = std::move(pieces);
  out->unknown_score_ = *std::min_element(out->scores_.begin(), out->scores_.end()) - kUnknownPenalty;
  return out;
}

Result<void> HubUnigram::finish(const std::vector<int32_t>& specials) {
  std::vector<bool> is_special(scores_.size());
  for (const int32_t id : specials)
    if (id < size()) is_special[static_cast<size_t>(id)] = true;
  std::vector<Trie::Entry> entries;
  for (int32_t id = 0; id < size(); ++id)
    if (!is_special[static_cast<size_t>(id)] && pieces_.find(text(id)) == id)
      entries.push_back({text(id), id, 0});
  MORTISE_TRY(trie, Trie::build(std::move(entries)));
  trie_ = std::move(trie);
  return {};
}

int32_t HubUnigram::find(std::string_view text) const {
  const int32_t id = pieces_.find(text);
  if (id != kNoPiece) return id;
  return pieces_.unknown() != kNoPiece && text == pieces_.text(pieces_.unknown()) ? pieces_.unknown()
                                                                                  : kNoPiece;
}

std::unique_ptr<hub::ModelScratch> HubUnigram::make_scratch() const { return std::make_unique<Scratch>(); }

Result<void> HubUnigram::encode(std::string_view word, bool, hub::ModelScratch* scratch,
                                std::vector<int32_t>* ids) const {
  const size_t first = ids->size();
  std::string_view unknown;  // neighbouring characters without a piece fall back together
  const auto end_unknown = [&] {
    if (!unknown.empty()) pieces_.append_unknown(unknown, first, ids);
    unknown = {};
  };
  const auto score_of = [&](const Trie::Node& node) { return scores_[static_cast<size_t>(node.value)]; };
  const auto take = [&](std::string_view part, int32_t id) {
    if (id == kNoPiece) {
      unknown = unknown.empty() ? part : std::string_view(unknown.data(), unknown.size() + part.size());
      return;
    }
    end_unknown();
    ids->push_back(id);
  };
  static_cast<Scratch*>(scratch)->viterbi.run(word, trie_, pieces_.longest(), unknown_score_, score_of, take);
  end_unknown();
  return {};
}

}  // namespace mortise::sentencepiece

// See pieces.h. Thread rule: immutable after load, any thread. Flow: load time; look-ups while encoding.
#include "pieces.h"

#include <cmath>

#include "hash.h"

namespace mortise::sentencepiece {
namespace {

bool is_plain(PieceType type) {
  return type == PieceType::normal || type == PieceType::user_defined || type == PieceType::unused;
}

void append_unmarked(std::string_view text, std::string* out) {
  for (size_t mark; (mark = text.find(kSpaceMark)) != std::string_view::npos;) {
    out->append(text.substr(0, mark)).push_back(' ');
    text.remove_prefix(mark + kSpaceMark.size());
  }
  out->append(text);
}

void append_bytes(const Piece& piece, const Model& model, std::string* out) {
  if (piece.type == PieceType::byte) {
    out->push_back(static_cast<char>(byte_of_piece(piece.text)));
  } else if (piece.type == PieceType::unknown && !model.unknown_surface.empty()) {
    out->append(model.unknown_surface);
  } else if (is_plain(piece.type) && (piece.type != PieceType::user_defined || model.marks_in_user_defined)) {
    append_unmarked(piece.text, out);
  } else {
    out->append(piece.text);
  }
}

}  // namespace

Result<Pieces> Pieces::load(const Model& model, bool is_strict) {
  Pieces out;
  out.byte_ids_.fill(kNoPiece);
  size_t total = 0;
  for (const Piece& piece : model.pieces) total += piece.text.size();
  out.texts_.reserve(total);
  out.bytes_.reserve(total);
  for (size_t i = 0; i < model.pieces.size(); ++i) {
    const Piece& piece = model.pieces[i];
    const auto id = static_cast<int32_t>(i);
    out.types_.push_back(piece.type);
    out.scores_.push_back(piece.score);
    out.texts_.append(piece.text);
    out.text_ends_.push_back(static_cast<uint32_t>(out.texts_.size()));
    append_bytes(piece, model, &out.bytes_);
    out.byte_ends_.push_back(static_cast<uint32_t>(out.bytes_.size()));
    if (piece.type == PieceType::unknown && out.unknown_ == kNoPiece) out.unknown_ = id;
    if (piece.type == PieceType::byte) {
      int32_t& known = out.byte_ids_[static_cast<size_t>(byte_of_piece(piece.text))];
      if (known == kNoPiece) known = id;
    }
  }
  MORTISE_CHECK(out.index(model.where, is_strict));
  return out;
}

Result<void> Pieces::index(const std::string& where, bool is_strict) {
  seed_ = random_seed();
  size_t slots = 16;
  while (slots < 2 * types_.size()) slots *= 2;
  slots_.assign(slots, Slot());
  for (int32_t id = 0; id < size(); ++id) {
    const std::string_view text = this->text(id);
    if (!is_plain(type(id)) || text.empty()) continue;
    const uint64_t hash = hash_bytes(text, seed_);
    size_t slot = hash & (slots - 1);
    while (slots_[slot].id != kNoPiece && this->text(slots_[slot].id) != text)
      slot = (slot + 1) & (slots - 1);
    if (slots_[slot].id == kNoPiece) {
      slots_[slot] = {id, static_cast<uint32_t>(hash >> 32)};
      longest_ = std::max(longest_, text.size());
    } else if (is_strict) {
      return fail(
          Code::bad_data, where,
          "piece " + std::to_string(id) + ", " + quoted(text) + ", stands there twice; the file is damaged");
    }
  }
  return {};
}

int32_t Pieces::find(std::string_view text) const {
  const uint64_t hash = hash_bytes(text, seed_);
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask; slots_[slot].id != kNoPiece; slot = (slot + 1) & mask)
    if (slots_[slot].tag == static_cast<uint32_t>(hash >> 32) && this->text(slots_[slot].id) == text)
      return slots_[slot].id;
  return kNoPiece;
}

bool Pieces::begins_with_blank(int32_t id) const {
  if (!is_plain(type(id))) return false;
  const std::string_view bytes = this->bytes(id);
  return !bytes.empty() && bytes[0] == ' ' && text(id).substr(0, kSpaceMark.size()) == kSpaceMark;
}

void Pieces::append_unknown(std::string_view character, size_t first, std::vector<int32_t>* ids) const {
  bool all = true;
  for (const char byte : character) all = all && byte_ids_[static_cast<uint8_t>(byte)] != kNoPiece;
  if (all) {
    for (const char byte : character) ids->push_back(byte_ids_[static_cast<uint8_t>(byte)]);
  } else if (unknown_ != kNoPiece) {
    append(unknown_, first, ids);
  }
}

}  // namespace mortise::sentencepiece

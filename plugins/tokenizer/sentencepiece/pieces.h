// The vocabulary at work: from a text to its piece, from a piece to its bytes.
// Thread rule: immutable after load, any thread. Flow: Model -> Pieces -> BPE, unigram, decoding.
#pragma once
#include <array>
#include <span>

#include "sentencepiece/model.h"

namespace mortise::sentencepiece {

class Pieces {
 public:
  Pieces() = default;
  /// Equal texts: an error where `is_strict`, else the lowest id is found and all decode.
  static Result<Pieces> load(const Model& model, bool is_strict);

  int32_t size() const { return static_cast<int32_t>(types_.size()); }
  PieceType type(int32_t id) const { return types_[static_cast<size_t>(id)]; }
  float score(int32_t id) const { return scores_[static_cast<size_t>(id)]; }
  std::string_view text(int32_t id) const { return slice(texts_, text_ends_, id); }
  /// What the piece stands for in decoded text.
  std::string_view bytes(int32_t id) const { return slice(bytes_, byte_ends_, id); }
  /// The piece's text begins with a blank that may be the dummy prefix.
  bool begins_with_blank(int32_t id) const;

  /// The piece of a text that plain text can become (normal, user-defined, unused), or kNoPiece.
  int32_t find(std::string_view text) const;
  size_t longest() const { return longest_; }  // bytes of the longest such text

  /// Appends the ids of a character that no piece has: of its bytes where all of them have pieces, else the
  /// unknown piece (`first` is where this text's ids begin: neighbours that are unknown are one). Where there
  /// is no unknown piece, nothing.
  void append_unknown(std::string_view character, size_t first, std::vector<int32_t>* ids) const;
  void append(int32_t id, size_t first, std::vector<int32_t>* ids) const {
    if (id == unknown_ && ids->size() > first && ids->back() == unknown_) return;
    ids->push_back(id);
  }
  int32_t unknown() const { return unknown_; }

 private:
  static std::string_view slice(const std::string& data, const std::vector<uint32_t>& ends, int32_t id) {
    const auto i = static_cast<size_t>(id);
    const size_t begin = i == 0 ? 0 : ends[i - 1];
    return std::string_view(data).substr(begin, ends[i] - begin);
  }
  Result<void> index(const std::string& where, bool is_strict);

  struct Slot {
    int32_t id = kNoPiece;
    uint32_t tag = 0;  // high bits of the hash: most misses end here
  };

  std::string texts_, bytes_;
  std::vector<uint32_t> text_ends_, byte_ends_;
  std::vector<PieceType> types_;
  std::vector<float> scores_;
  std::vector<Slot> slots_;  // open addressing
  uint64_t seed_ = 0;
  size_t longest_ = 0;
  int32_t unknown_ = kNoPiece;
  std::array<int32_t, 256> byte_ids_{};
};

/// Bytes of the character that begins a text, by its first byte, at most what is left of the text.
inline size_t character_size(std::string_view text) {
  static constexpr uint8_t kSizes[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4};
  const size_t size = kSizes[static_cast<uint8_t>(text[0]) >> 4];
  return size < text.size() ? size : text.size();
}

}  // namespace mortise::sentencepiece

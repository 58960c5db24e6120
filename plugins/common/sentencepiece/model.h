// A SentencePiece model as its file says it, whatever the file: what load.cc and its kin make, and Tokenizer
// builds its tables from. Thread rule: a plain value. Flow: tokenizer.model or GGUF -> Model -> Tokenizer.
#pragma once
#include <mortise/cpp/result.h>

#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/quoted.h"

namespace mortise::sentencepiece {

constexpr int32_t kNoPiece = -1;
constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581 stands for a blank in pieces

// Limits of what is loaded (docs/limits.md).
constexpr size_t kMaxPieces = size_t{1} << 20;           // 1,048,576
constexpr size_t kMaxPieceBytes = 512;                   // of one piece's text
constexpr size_t kMaxVocabularyBytes = size_t{1} << 24;  // 16 MiB of piece texts in all

/// Numbered as SentencePiece's `type` and as tokenizer.ggml.token_type.
enum class PieceType : uint8_t {
  normal = 1,
  unknown = 2,
  control = 3,
  user_defined = 4,
  unused = 5,
  byte = 6
};

struct Piece {
  std::string text;
  float score = 0;
  PieceType type = PieceType::normal;
};

enum class Algorithm : uint8_t { bpe, unigram };

/// What happens to a text before it is taken apart.
struct Normalization {
  std::string charsmap;  // precompiled_charsmap, empty: none
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
  bool whitespace_as_suffix = false;  // the dummy blank stands at the end
};

/// A text that is cut out before normalization.
struct SpecialText {
  std::string text;
  int32_t id = kNoPiece;
  bool anywhere = false;     // else only where special tokens are parsed
  bool right_strip = false;  // takes the blanks behind it
};

struct Model {
  std::string where;  // the file, for errors
  Algorithm algorithm = Algorithm::bpe;
  std::vector<Piece> pieces;
  Normalization normalization;
  std::vector<SpecialText> specials;
  bool match_user_defined = true;     // within the text, as SentencePiece does
  bool prefix_after_special = false;  // the dummy prefix also behind special tokens, not at the start alone
  bool marks_in_user_defined = true;  // U+2581 in a user-defined piece stands for a blank
  std::string unknown_surface;        // what an unknown piece decodes to; empty: its text
  int32_t bos = kNoPiece;
  int32_t eos = kNoPiece;
  bool add_bos = false;
  bool add_eos = false;
  std::vector<int32_t> ends;  // pieces that end a generation
};

/// Checks what every source must keep to: the limits, and scores that are numbers. Errors name the piece.
Result<void> check_pieces(const Model& model);

/// The bytes of a tokenizer.model. Errors carry the offset.
Result<Model> read_model_file(std::string_view bytes, const std::string& where);

/// The byte that a byte piece ("<0x0A>") names, or -1.
int byte_of_piece(std::string_view text);

using hub::quoted;

/// The first piece of a text, or kNoPiece; find_special_piece: if it is a control or user-defined one.
int32_t find_piece(const Model& model, std::string_view text);
int32_t find_special_piece(const Model& model, std::string_view text);

}  // namespace mortise::sentencepiece

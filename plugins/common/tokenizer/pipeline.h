// A whole tokenizer: added tokens, normalizer, pre-tokenizer, model, post-processor, decoder.
// Thread rule: immutable after load; encode() and the rest on any number of threads at once.
// Flow: spans -> added tokens -> normalized text -> added tokens -> words -> Model -> ids -> frame;
// id -> bytes.
#pragma once
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "tokenizer/added_tokens.h"
#include "tokenizer/decoders.h"
#include "tokenizer/model.h"
#include "tokenizer/normalizers.h"
#include "tokenizer/post_processor.h"
#include "tokenizer/pre_tokenizers.h"
#include "tokenizer/special_ids.h"
#include "tokenizer/string_table.h"

namespace mortise::hub {

constexpr size_t kTextBytesMax = size_t{1} << 24;        // 16 MiB in one encode(); docs/limits.md
constexpr size_t kTokensMax = size_t{1} << 21;           // 2,097,152
constexpr size_t kVocabularyBytesMax = size_t{1} << 28;  // 256 MiB of token texts in all

/// What a pipeline is made of.
struct Parts {
  std::unique_ptr<Model> model;
  std::vector<AddedToken> added;  // an id of the model's or one of its own
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  Decoder decoder;
  bool decode_added = true;  // false: added tokens stand for their text as it is
  Frame frame;
};

/// Reads one token's content and flags; an error where its text is too long.
Result<AddedToken> load_added_token(const Node& node, int32_t id);
/// Reads $.added_tokens. A token that the model has keeps the model's id.
Result<std::vector<AddedToken>> load_added_tokens(const Node& root, const Model& model);

/// Reads all of a tokenizer.json but its model, which the caller has read from $.model.
Result<Parts> load_parts(const Node& root, std::unique_ptr<Model> model);

class Pipeline {
 public:
  static Result<std::unique_ptr<Pipeline>> make(Parts parts);
  ~Pipeline();

  /// The ids of the spans as one text, appended to `ids`: a special token lies wholly in spans with
  /// parse_special. What isn't UTF-8 is encoded byte by byte where the model takes bytes, else as U+FFFD.
  /// `add_special`: the frame, unless it stands there.
  Result<void> encode(std::span<const Span> spans, bool add_special, std::vector<int32_t>* ids) const;

  /// Ids are below it.
  int32_t count() const { return static_cast<int32_t>(flags_.size()); }
  /// The bytes that a token stands for; `first`: it begins a text.
  std::string_view bytes(int32_t id, bool first) const;
  /// MORTISE_PIECE_CONTROL, MORTISE_PIECE_END, MORTISE_PIECE_UNUSED, MORTISE_PIECE_BYTE.
  uint32_t flags(int32_t id) const { return flags_[static_cast<size_t>(id)]; }

  /// By the text as the file spells it; kNoToken where there is none.
  int32_t find(std::string_view text) const;
  int32_t find_special(std::string_view text) const;

  /// Takes what configuration files say: ends, and whether BOS and EOS are added.
  void set_special_ids(const SpecialIds& ids);
  const SpecialIds& special_ids() const { return special_ids_; }
  const Frame& frame() const { return parts_.frame; }
  const Model& model() const { return *parts_.model; }

 private:
  struct Scratch;
  struct Text;

  explicit Pipeline(Parts parts);
  Result<void> decode_all(const std::vector<std::string>& normalized);
  void build_matchers(const std::vector<std::string>& normalized);
  std::unique_ptr<Scratch> take_scratch() const;
  void give_back(std::unique_ptr<Scratch> scratch) const;
  Result<void> encode_all(std::span<const Span> spans, Scratch* scratch, std::vector<int32_t>* ids) const;
  Result<void> encode_between(std::string_view text, const Text& whole, bool starts, Scratch* scratch,
                              std::vector<int32_t>* ids) const;
  Result<std::string> normalize(std::string_view text, Scratch* scratch) const;
  Result<void> encode_text(std::string_view text, bool starts, Scratch* scratch,
                           std::vector<int32_t>* ids) const;
  Result<void> encode_valid(std::string_view text, bool starts, Scratch* scratch,
                            std::vector<int32_t>* ids) const;

  Parts parts_;
  TokenMatcher raw_;                 // added tokens that are found in the text as it came
  TokenMatcher raw_and_special_;     // these and all special ones, for texts that are trusted in part
  TokenMatcher normalized_;          // the others
  StringTable bytes_, first_bytes_;  // by id; the second empty where being first makes no difference
  std::vector<uint8_t> flags_;
  SpecialIds special_ids_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Scratch>> idle_;  // at most one for each thread that encoded at once
};

}  // namespace mortise::hub

// The normalizers of a tokenizer.json: text to text, before it is cut into words.
// Thread rule: immutable after load, any thread. Flow: text between added tokens -> Normalizer -> words.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tokenizer/json_node.h"
#include "tokenizer/pattern.h"

namespace mortise::hub {

constexpr size_t kNormalizedBytesMax = size_t{1} << 27;  // 128 MiB of one text; docs/limits.md
constexpr size_t kPartsMax = 64;                         // of all sequences of one kind together

/// One step. `text` is valid UTF-8 before and after.
class NormalizerStep {
 public:
  virtual ~NormalizerStep() = default;
  virtual Result<void> run(std::string* text, MatchScratch* scratch) const = 0;
};

class Normalizer {
 public:
  /// Reads $.normalizer; null or absent: none. An unknown type is an error.
  static Result<Normalizer> load(const Node& root);

  void add(std::unique_ptr<NormalizerStep> step) { steps_.push_back(std::move(step)); }
  bool empty() const { return steps_.empty(); }
  Result<void> run(std::string* text, MatchScratch* scratch) const;

 private:
  Result<void> add_parts(const Node& node);

  std::vector<std::unique_ptr<NormalizerStep>> steps_;
};

/// Normalization form C, for tokenizers whose files don't say it.
std::unique_ptr<NormalizerStep> make_nfc();

/// Each match of the pattern becomes `content`. An error where the text grows beyond kNormalizedBytesMax.
Result<void> replace_all(const Pattern& pattern, std::string_view content, std::string* text,
                         MatchScratch* scratch);

/// {"String": ..} or {"Regex": ..} of a Split or Replace.
Result<Pattern> load_pattern(const Node& node);

}  // namespace mortise::hub

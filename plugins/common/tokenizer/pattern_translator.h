// The translator behind to_pcre2: a recursive descent over the pattern's text.
// Thread rule: one thread at a time. Flow: pattern_syntax.cc reads groups and quantifiers, pattern_class.cc
// escapes and classes of characters.
#pragma once
#include <vector>

#include "tokenizer/pattern_syntax.h"

namespace mortise::hub {

/// One character out of a set: what stands between brackets, and patterns that don't fit there.
struct CharSet {
  std::string items;
  std::vector<std::string> others;
};

/// A pattern that matches one character of the set.
std::string render(const CharSet& set, bool negated);

/// What \w stands for, as it is written between brackets; `in_class`: where the file has it there too.
std::string word_items(PatternSyntax syntax, bool in_class);

class Translator {
 public:
  Translator(std::string_view in, PatternSyntax syntax) : in_(in), syntax_(syntax) {}
  Result<std::string> run();

 private:
  bool oniguruma() const { return syntax_ == PatternSyntax::oniguruma; }
  bool at_end() const { return at_ >= in_.size(); }
  char peek(size_t ahead = 0) const { return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0'; }
  tl::unexpected<Error> bad(const char* what) const {
    return fail(Code::bad_data, "",
                std::string("isn't a regular expression: ") + what + " at its byte " + std::to_string(at_));
  }
  void atom(std::string_view text) {
    atom_begin_ = out_.size();
    out_ += text;
  }

  Result<void> group();
  Result<void> interval();
  Result<void> escape();
  Result<CharSet> class_escape(bool in_class, bool* single);
  Result<CharSet> property();
  Result<CharSet> posix_class();
  Result<std::string> code_point();
  Result<std::string> char_class(int depth);
  Result<CharSet> operand(int depth);

  std::string_view in_;
  PatternSyntax syntax_;
  size_t at_ = 0;
  std::string out_;
  size_t atom_begin_ = 0;            // of what a quantifier would repeat
  std::vector<size_t> open_groups_;  // where they begin in out_
};

}  // namespace mortise::hub

// Template source -> tokens, with white-space control (trim_blocks and lstrip_blocks are always on).
// Thread rule: a pure function. Flow: the first step of a template; the parser reads the tokens.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "value.h"

namespace mortise::jinja {

enum class Tok : uint8_t {
  data,
  variable_begin,
  variable_end,
  block_begin,
  block_end,
  name,
  string,
  integer,
  floating,
  op,
  eof
};

struct Token {
  Tok type = Tok::eof;
  std::string text;  // data, name, string (unescaped), operator
  int64_t integer = 0;
  double floating = 0;
  int line = 1;

  bool is_name(std::string_view name) const { return type == Tok::name && text == name; }
  bool is_op(std::string_view op) const { return type == Tok::op && text == op; }
};

/// Raises TemplateError. `source` is valid UTF-8; the last token is eof.
std::vector<Token> tokenize(std::string_view source);

}  // namespace mortise::jinja

// A parsed format specification, shared by str.format and %.
// Thread rule: plain data. Flow: format_percent.cc and format_value.cc.
#pragma once
#include <cstdint>
#include <string>

#include "value.h"

namespace mortise::jinja {

struct FormatSpec {
  std::string fill = " ";
  char align = 0;  // < > ^ =, 0: by type
  char sign = 0;
  bool alternate = false;
  int64_t width = -1;
  char grouping = 0;
  int64_t precision = -1;
  char type = 0;
};

/// prefix (sign, 0x) and body, filled up to the width; '=' fills between them.
Text pad_text(const FormatSpec& f, const Text& prefix, const Text& body, char align);
/// An int, bool or float.
Text format_number(const FormatSpec& f, const Value& v);

}  // namespace mortise::jinja

// The builtin filters, tests, global functions and methods, by name.
// Thread rule: constant tables. Flow: scope.cc checks names, the evaluator calls.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "interp.h"

namespace mortise::jinja {

using Builtin = Value (*)(Interp&, CallArgs&);
using Method = Value (*)(Interp&, const Value& self, CallArgs&);

struct BuiltinRow {
  const char* name;
  Builtin call;
};
struct MethodRow {
  const char* name;
  Method call;
};
/// A table of one source file.
template <class Row>
struct Table {
  const Row* rows;
  size_t count;
  const Row* find(std::string_view name) const {
    for (size_t i = 0; i < count; ++i) {
      if (rows[i].name == name) return &rows[i];
    }
    return nullptr;
  }
};

Table<BuiltinRow> text_filters();      // filters_text.cc
Table<BuiltinRow> layout_filters();    // filters_layout.cc
Table<BuiltinRow> number_filters();    // filters_number.cc
Table<BuiltinRow> sequence_filters();  // filters_sequence.cc
Table<BuiltinRow> sorting_filters();   // filters_sorting.cc
Table<BuiltinRow> mapping_filters();   // filters_mapping.cc
Table<BuiltinRow> builtin_tests();     // tests_builtin.cc
Table<MethodRow> string_methods();     // methods_string.cc
Table<MethodRow> splitting_methods();  // methods_split.cc

Builtin find_filter(std::string_view name);
bool is_filter(std::string_view name);
bool is_test(std::string_view name);
/// The method or property of a builtin type; missing where it has none. Mutating methods are refused: they
/// give an undefined that says so.
Value builtin_attribute(Interp& interp, const Value& v, std::string_view name);  // methods.cc
Value make_function(Heap& heap, Method call, const Value& self);
/// The global functions, into a context.
void add_globals(Heap& heap, Context& context);

/// Arguments by name, as Python binds them: `names` in order, the first `required` of them needed; absent
/// ones come back missing. Names beginning with '*' are positional only.
std::vector<Value> bind(const char* who, const CallArgs& args, std::initializer_list<const char*> names,
                        size_t required);

/// Checked readings of arguments; `who` stands in the error.
int64_t need_int(const char* who, const Value& v);
const Text& need_string(const char* who, const Value& v);

/// attribute="a.b.0": looks the parts up one after another; postprocess lowers strings.
struct AttributePath {
  std::vector<Value> parts;
  Value fallback;  // missing: none
  bool ignore_case = false;
  Value get(Interp& interp, Value v) const;
};
AttributePath attribute_path(Interp& interp, const Value& attribute, bool ignore_case);

/// x % args and "...".format(...) (format_percent.cc, format_brace.cc); one value by a format specification.
Text format_percent(Interp& interp, const Text& pattern, const Value& args);
Text format_brace(Interp& interp, const Text& pattern, const CallArgs& args);
Text format_value(Interp& interp, const Value& v, std::string_view spec);
/// The last `needle` in `hay`, or npos; its cost, the product of the lengths at worst, is spent beforehand.
size_t rfind_bytes(Interp& interp, std::string_view hay, std::string_view needle);
/// str.replace(); `times` below 0: all.
Text replace_text(Interp& interp, const Text& text, const std::string& old, const Text& by, int64_t times);
inline bool is_markup(const Value& v) { return v.is_string() && v.as<Str>().markup; }
/// &, <, >, ' and " as HTML entities.
Text escape_html(const Text& text);
/// Python's json.dumps (json_write.cc).
struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  bool pretty = false;
  Text indent;
  Text item_separator, key_separator;
};
Text to_json(Interp& interp, const Value& v, const JsonStyle& style);

}  // namespace mortise::jinja

// Binding of arguments to the parameters of builtins, attribute paths, and lookup of builtins by name.
// Thread rule: one render. Flow: every filter, test, method and global function starts here.
#include <charconv>

#include "builtins.h"
#include "unicode.h"

namespace mortise::jinja {

std::vector<Value> bind(const char* who, const CallArgs& args, std::initializer_list<const char*> names,
                        size_t required) {
  std::vector<Value> out(names.size());
  if (args.pos.size() > names.size()) {
    raise(std::string(who) + "() takes at most " + std::to_string(names.size()) + " arguments, got " +
          std::to_string(args.pos.size()));
  }
  std::copy(args.pos.begin(), args.pos.end(), out.begin());
  for (const auto& [name, value] : args.kw) {
    size_t i = 0;
    while (i < names.size() && name != names.begin()[i]) ++i;
    if (i == names.size()) raise(std::string(who) + "() got an unexpected keyword argument '" + name + "'");
    if (!out[i].is_missing()) raise(std::string(who) + "() got multiple values for argument '" + name + "'");
    out[i] = value;
  }
  for (size_t i = 0; i < required; ++i) {
    if (out[i].is_missing()) {
      const std::string name = names.begin()[i];
      raise(std::string(who) + "() lacks its argument '" + name.substr(name[0] == '*' ? 1 : 0) + "'");
    }
  }
  return out;
}

int64_t need_int(const char* who, const Value& v) {
  if (v.is(Kind::undefined)) raise(v.as<Undefined>().message);
  if (!v.is_int()) raise(std::string(who) + "(): an integer is needed, not " + type_name(v));
  return v.as_int();
}

const Text& need_string(const char* who, const Value& v) {
  if (!v.is_string()) raise(std::string(who) + "(): a string is needed, not " + type_name(v));
  return v.text();
}

AttributePath attribute_path(Interp& interp, const Value& attribute, bool ignore_case) {
  AttributePath path;
  path.ignore_case = ignore_case;
  if (attribute.is_missing() || attribute.is(Kind::none)) return path;
  if (!attribute.is_string()) {
    path.parts.push_back(attribute);
    return path;
  }
  const std::string& bytes = attribute.bytes();
  for (size_t begin = 0; begin <= bytes.size();) {
    const size_t dot = std::min(bytes.find('.', begin), bytes.size());
    const std::string part = bytes.substr(begin, dot - begin);
    int64_t index = 0;
    const auto [end, ok] = std::from_chars(part.data(), part.data() + part.size(), index);
    const bool digits =
        !part.empty() && part[0] != '-' && ok == std::errc() && end == part.data() + part.size();
    path.parts.push_back(digits ? Value::integer(index) : interp.string(part));
    begin = dot + 1;
  }
  return path;
}

Value AttributePath::get(Interp& interp, Value v) const {
  for (const Value& part : parts) {
    v = interp.item(v, part);
    if (!fallback.is_missing() && v.is(Kind::undefined)) v = fallback;
  }
  if (ignore_case && v.is_string()) return interp.string(map_case(v.text(), Case::lower));
  return v;
}

Builtin find_filter(std::string_view name) {
  for (const Table<BuiltinRow>& table : {text_filters(), layout_filters(), number_filters(),
                                         sequence_filters(), sorting_filters(), mapping_filters()}) {
    if (const BuiltinRow* row = table.find(name)) return row->call;
  }
  return nullptr;
}

bool is_filter(std::string_view name) { return find_filter(name) != nullptr; }
bool is_test(std::string_view name) { return builtin_tests().find(name) != nullptr; }

Value Interp::filter(const std::string& name, CallArgs& args) {
  const Builtin f = find_filter(name);
  if (f == nullptr) raise("no filter named '" + name + "'");
  budget().spend();
  return f(*this, args);
}

Value Interp::test(const std::string& name, CallArgs& args) {
  const BuiltinRow* row = builtin_tests().find(name);
  if (row == nullptr) raise("no test named '" + name + "'");
  budget().spend();
  return row->call(*this, args);
}

}  // namespace mortise::jinja

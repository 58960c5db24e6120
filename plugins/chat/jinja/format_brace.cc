// "pattern".format(arguments): fields {name.attr[key]!conversion:spec}.
// Thread rule: one render. Flow: str.format and str.format_map.
#include "builtins.h"

namespace mortise::jinja {
namespace {

class Brace {
 public:
  Brace(Interp& interp, const CallArgs& args) : interp_(interp), args_(args) {}

  Text run(const Text& pattern, int depth) {
    if (depth < 0) raise("Max string recursion exceeded");
    const std::string& s = pattern.bytes();
    Text out;
    for (size_t at = 0; at < s.size();) {
      const size_t brace = std::min(s.find_first_of("{}", at), s.size());
      out.append(pattern, at, brace);
      at = brace;
      if (at >= s.size()) break;
      if (at + 1 < s.size() && s[at + 1] == s[at]) {
        out.append(pattern, at, at + 1);
        at += 2;
        continue;
      }
      if (s[at] == '}') raise("Single '}' encountered in format string");
      const size_t end = field_end(s, at);
      out.append(field(pattern, at + 1, end, depth));
      at = end + 1;
      interp_.budget().expect(out.cost(), 1);
    }
    return out;
  }

 private:
  static size_t field_end(const std::string& s, size_t at) {
    int depth = 0;
    for (; at < s.size(); ++at) {
      depth += s[at] == '{' ? 1 : s[at] == '}' ? -1 : 0;
      if (depth == 0) return at;
    }
    raise("expected '}' before end of string");
  }

  Text field(const Text& pattern, size_t begin, size_t end, int depth) {
    const std::string& s = pattern.bytes();
    size_t name_end = begin;
    bool bracket = false;
    for (; name_end < end; ++name_end) {
      if (s[name_end] == '[') bracket = true;
      if (s[name_end] == ']') bracket = false;
      if (!bracket && (s[name_end] == '!' || s[name_end] == ':')) break;
    }
    Value v = lookup(s.substr(begin, name_end - begin));
    size_t at = name_end;
    if (at < end && s[at] == '!') {
      const char conversion = at + 1 < end ? s[at + 1] : '\0';
      if (conversion != 'r' && conversion != 's') raise("Unknown conversion specifier in format string");
      v = interp_.string(conversion == 'r' ? to_repr(v, &interp_.budget()) : interp_.text(v));
      at += 2;
      if (at < end && s[at] != ':') raise("expected ':' after conversion specifier");
    }
    const size_t spec_begin = std::min(at + 1, end);
    const Text spec = at < end ? run(pattern.slice(spec_begin, end), depth - 1) : Text();
    Text out = format_value(interp_, v, spec.bytes());
    // A specification out of user text chose fill and width, so what it made is user text.
    return spec.any_user() ? Text(out.bytes(), true) : out;
  }

  static bool is_number(const std::string& s) {
    return !s.empty() && s.size() < 10 && s.find_first_not_of("0123456789") == std::string::npos;
  }

  Value argument(const std::string& name) {
    if (name.empty() || is_number(name)) {
      if ((name.empty() && automatic_ < 0) || (!name.empty() && automatic_ > 0)) {
        raise("cannot mix automatic and manual field numbering");
      }
      const size_t index = name.empty() ? static_cast<size_t>(automatic_) : std::stoul(name);
      automatic_ = name.empty() ? automatic_ + 1 : -1;
      if (index >= args_.pos.size()) raise("Replacement index " + std::to_string(index) + " out of range");
      return args_.pos[index];
    }
    for (const auto& [key, v] : args_.kw) {
      if (key == name) return v;
    }
    raise("format() lacks the argument '" + name + "'");
  }

  Value lookup(const std::string& path) {
    size_t at = std::min(path.find_first_of(".["), path.size());
    Value v = argument(path.substr(0, at));
    while (at < path.size()) {
      if (path[at] == '.') {
        const size_t end = std::min(path.find_first_of(".[", at + 1), path.size());
        v = interp_.attribute(v, path.substr(at + 1, end - at - 1));
        at = end;
      } else if (path[at] == '[') {
        const size_t end = path.find(']', at);
        if (end == std::string::npos) raise("Missing ']' in format string");
        const std::string key = path.substr(at + 1, end - at - 1);
        v = interp_.item(v, is_number(key) ? Value::integer(std::stol(key)) : interp_.string(key));
        at = end + 1;
      } else {
        raise("Only '.' or '[' may follow ']' in format field specifier");
      }
    }
    return v;
  }

  Interp& interp_;
  const CallArgs& args_;
  int64_t automatic_ = 0;  // next automatic index; -1 once explicit ones are used
};

}  // namespace

Text format_brace(Interp& interp, const Text& pattern, const CallArgs& args) {
  return Brace(interp, args).run(pattern, 2);
}

}  // namespace mortise::jinja

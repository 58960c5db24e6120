// Reading a test's name.
// Thread rule: pure. Flow: see spec.h.
#include "spec.h"

#include <charconv>

namespace mortise::bench {
namespace {

/// Reads a number of 1 to `most` at the front of `text` and removes it.
bool take_number(std::string_view* text, uint64_t most, uint64_t* out) {
  const auto read = std::from_chars(text->data(), text->data() + text->size(), *out);
  if (read.ec != std::errc() || *out == 0 || *out > most) return false;
  text->remove_prefix(static_cast<size_t>(read.ptr - text->data()));
  return true;
}

bool take(std::string_view* text, std::string_view word) {
  if (text->substr(0, word.size()) != word) return false;
  text->remove_prefix(word.size());
  return true;
}

}  // namespace

Result<Spec> parse_spec(std::string_view name) {
  Spec spec;
  spec.name = name;
  std::string_view rest = name;
  bool good = true;
  if (take(&rest, "decode:"))
    spec.kind = Spec::Kind::decode;
  else
    good = take(&rest, "prefill:");
  good = good && take_number(&rest, kTokensMax, &spec.tokens);
  if (good && take(&rest, "+")) good = take_number(&rest, kTokensMax, &spec.depth);
  if (good && spec.kind == Spec::Kind::decode && take(&rest, "@"))
    good = take_number(&rest, kSequencesMax, &spec.sequences);
  if (!good || !rest.empty())
    return fail(
        Code::bad_argument, "plugin.bench.tests",
        "'" + spec.name + "' is no test; write prefill:N[+D] or decode:N[+D][@B], e.g. decode:64+4096@8");
  return spec;
}

}  // namespace mortise::bench

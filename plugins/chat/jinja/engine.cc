// The engine's border; see engine.h.
// Thread rule: pure functions. Flow: plugin.cc -> here -> parser or evaluator.
#include "engine.h"

#include <mortise/cpp/utf8.h>

#include "builtins.h"
#include "parser.h"
#include "scope.h"

namespace mortise::jinja {
namespace {

tl::unexpected<Error> failed(const TemplateError& error) {
  return fail(error.code, "chat template line " + std::to_string(error.line > 0 ? error.line : 1),
              error.message);
}

}  // namespace

std::unique_ptr<Template> parse_template(const std::string& source) {
  auto t = std::make_unique<Template>();
  Parser parser(tokenize(source), t->constants);
  t->body = parser.parse();
  resolve(*t);
  return t;
}

Result<std::unique_ptr<Template>> compile(std::string_view source) {
  if (source.size() > kMaxTemplateBytes) {
    return fail(Code::limit, "chat template",
                "larger than " + std::to_string(kMaxTemplateBytes >> 10) + " KiB; name a smaller one");
  }
  if (const size_t valid = valid_utf8_prefix(source); valid != source.size()) {
    return fail(Code::bad_data, "chat template", "not UTF-8; name a template in UTF-8", valid);
  }
  try {
    return parse_template(std::string(source));
  } catch (const TemplateError& error) {
    return failed(error);
  }
}

Result<Text> render(const Template& t, Context context) {
  Budget budget;
  Heap heap(&budget);
  try {
    add_globals(heap, context);
    return Interp(t, context, heap).render();
  } catch (const TemplateError& error) {
    return failed(error);
  } catch (const std::bad_alloc&) {
    return fail(Code::no_memory, "chat template", "out of memory while rendering");
  }
}

}  // namespace mortise::jinja

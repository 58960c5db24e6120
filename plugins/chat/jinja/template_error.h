// The engine's one exception: how an error leaves the depth of parser and evaluator.
// Thread rule: plain values. Flow: thrown inside the engine only; engine.cc turns it into an Error at the
// border.
#pragma once
#include <mortise/cpp/result.h>

#include <string>
#include <utility>

namespace mortise::jinja {

/// `line` is the template's line, 0 where it is not known yet (the evaluator then adds its present line).
struct TemplateError {
  std::string message;
  int line = 0;
  Code code = Code::bad_argument;
};

[[noreturn]] inline void raise(std::string message, Code code = Code::bad_argument) {
  throw TemplateError{std::move(message), 0, code};
}
[[noreturn]] inline void raise_at(int line, std::string message) {
  throw TemplateError{std::move(message), line, Code::bad_data};
}

}  // namespace mortise::jinja

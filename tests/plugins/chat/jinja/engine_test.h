// Short forms for the engine's tests: a template and JSON variables in, text or the error's text out.
// Thread rule: plain functions. Flow: included by the Catch2 tests of this folder.
#pragma once
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "engine.h"
#include "json_read.h"
#include "messages.h"

namespace mortise::jinja {

inline Result<Text> render_vars(std::string_view source, std::string_view vars, bool user) {
  MORTISE_TRY(parsed, compile(source));
  Heap heap;
  MORTISE_TRY(root, read_json(heap, vars, user, "vars"));
  Context context;
  for (const auto& [key, v] : root.as<Dict>().items) context[key.bytes()] = v;
  return render(*parsed, std::move(context));
}

/// The text, or "error: " and the error's text.
inline std::string shown(std::string_view source, std::string_view vars = "{}") {
  const Result<Text> text = render_vars(source, vars, true);
  return text ? text->bytes() : "error: " + text.error().text();
}

/// The text with user stretches between « and ».
inline std::string marked(const Text& text) {
  std::string out;
  size_t at = 0;
  for (const Run& run : text.user_runs()) {
    out += text.bytes().substr(at, run.begin - at) + "«" +
           text.bytes().substr(run.begin, run.end - run.begin) + "»";
    at = run.end;
  }
  return out + text.bytes().substr(at);
}

inline std::string traced(std::string_view source, std::string_view vars) {
  const Result<Text> text = render_vars(source, vars, true);
  return text ? marked(*text) : "error: " + text.error().text();
}

/// A chat request rendered, with user stretches marked.
inline std::string chat(std::string_view source, std::string_view request) {
  const auto run = [&]() -> Result<std::string> {
    MORTISE_TRY(parsed, compile(source));
    Heap heap;
    Context context;
    MORTISE_CHECK(read_request(heap, request, "<s>", "</s>", context));
    MORTISE_TRY(text, render(*parsed, std::move(context)));
    return marked(text);
  };
  const Result<std::string> text = run();
  return text ? *text : "error: " + text.error().text();
}

inline bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace mortise::jinja

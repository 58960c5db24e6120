// Renders JSON lines for the differential test: {"template", "vars"} or {"template", "request"} in,
// {"rendered"} or
// {"error"} out.
// Thread rule: a program of one thread. Flow: driven by differential_test.py.
#include <iostream>
#include <string>

#include "builtins.h"
#include "engine.h"
#include "json_read.h"
#include "messages.h"

namespace {
using namespace mortise;
using namespace mortise::jinja;

std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (const char c : s) {
    char buffer[8];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(buffer, sizeof(buffer), "\\u%04x", static_cast<unsigned>(c));
      out += buffer;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

Result<std::string> answer(const std::string& line) {
  Heap heap;
  MORTISE_TRY(row, read_json(heap, line, false, "line"));
  MORTISE_TRY(source, compile(row.as<Dict>().find("template")->bytes()));
  Context context;
  if (Value* vars = row.as<Dict>().find("vars")) {
    for (const auto& [key, v] : vars->as<Dict>().items) context[key.bytes()] = v;
  } else {
    MORTISE_CHECK(read_request(heap, row.as<Dict>().find("request")->bytes(), "<s>", "</s>", context));
  }
  MORTISE_TRY(text, render(*source, std::move(context)));
  return text.bytes();
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const Result<std::string> text = answer(line);
    std::cout << (text ? "{\"rendered\": " + quoted(*text) : "{\"error\": " + quoted(text.error().text()))
              << "}" << std::endl;
  }
}

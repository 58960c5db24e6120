// A pipe around the tokenizer for the differential tests. Thread rule: single-threaded.
// Flow: lines of JSON in, one of JSON out for each. {"gguf": TOKENIZER_JSON, "pre": NAME}, {"hub": TEXT of a
// tokenizer.json}, {"tiktoken": PATH, "config": TEXT, "model_type": NAME} and {"tekken": PATH} load and are
// answered with {"count"} or {"error"}; {"text", "parse_special", "add_special"} encodes: {"ids",
// "decoded"} or {"error"}.
#define CATCH_CONFIG_RUNNER  // the support library reports through Catch2
#include <mortise/cpp/utf8.h>

#include <catch2/catch.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "test_model.h"

using namespace mortise::bpe;
using nlohmann::json;

namespace {

mortise::Result<Loaded> load_line(const json& in) {
  if (in.contains("gguf")) return from_tokenizer_json(in.at("gguf"), in.at("pre")).load();
  if (in.contains("hub")) return hub_model(in.at("hub")).load();
  if (in.contains("tiktoken"))
    return load_tiktoken(read_file(in.at("tiktoken")), in.value("config", std::string()),
                         in.value("model_type", std::string()));
  return load_tekken(read_file(in.at("tekken")), false);
}

json answer(const json& in, Loaded* tokenizer) {
  if (!in.contains("text")) {
    auto loaded = load_line(in);
    if (!loaded) return {{"error", loaded.error().text()}};
    *tokenizer = std::move(*loaded);
    return {{"count", (*tokenizer)->count()}};
  }
  const std::string text = in.at("text");
  const Span span{text, in.value("parse_special", true)};
  std::vector<int32_t> ids;
  const auto done = (*tokenizer)->encode(std::span(&span, 1), in.value("add_special", false), &ids);
  if (!done) return {{"error", done.error().text()}};
  return {{"ids", ids}, {"decoded", mortise::replace_invalid(decode_text(**tokenizer, ids))}};
}

}  // namespace

int main() {
  Loaded tokenizer;
  for (std::string line; std::getline(std::cin, line);)
    std::cout << answer(json::parse(line), &tokenizer).dump(-1, ' ', true) << "\n";
}

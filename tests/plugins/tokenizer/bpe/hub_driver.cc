// A pipe around the tokenizer for vs_hub.py. Thread rule: single-threaded.
// Flow: hub_driver TOKENIZER_JSON PRE; lines {"text", "parse_special"} in, lines {"ids", "decoded"} out. A
// program that can't load or read its input ends with status 1.
#define CATCH_CONFIG_RUNNER  // the support library reports through Catch2
#include <mortise/cpp/utf8.h>

#include <catch2/catch.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "test_metadata.h"

using namespace mortise::bpe;
using nlohmann::json;

int main(int count, char** arguments) {
  if (count != 3) return 1;
  const auto tokenizer = from_tokenizer_json(arguments[1], arguments[2]).load();
  if (!tokenizer) return 1;
  for (std::string line; std::getline(std::cin, line);) {
    const json in = json::parse(line);
    const std::string text = in.at("text");
    const Span span{text, in.at("parse_special")};
    std::vector<int32_t> ids;
    if (!(*tokenizer)->encode(std::span(&span, 1), false, &ids)) return 1;
    const std::string decoded = mortise::replace_invalid(decode(**tokenizer, ids));
    std::cout << json{{"ids", ids}, {"decoded", decoded}}.dump(-1, ' ', true) << "\n";
  }
}

// A pipe around the tokenizer for vs_package.py. Thread rule: single-threaded.
// Flow: driver TOKENIZER_MODEL; lines {"hex"} in (the text's bytes), lines {"ids", "hex"} out (what they
// decode to). A program that can't load or read its input says why and ends with status 1.
#define CATCH_CONFIG_RUNNER  // the support library reports through Catch2
#include <catch2/catch.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "test_model.h"

using namespace mortise::sentencepiece;
using nlohmann::json;

namespace {

std::string from_hex(const std::string& text) {
  std::string out;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    out.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return out;
}

std::string to_hex(const std::string& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char byte : bytes) {
    out.push_back(kDigits[static_cast<uint8_t>(byte) >> 4]);
    out.push_back(kDigits[static_cast<uint8_t>(byte) & 15]);
  }
  return out;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 1;
  const auto tokenizer = hub_model(read_file(arguments[1])).load();
  if (!tokenizer) {
    std::cerr << tokenizer.error().text() << "\n";
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);) {
    const std::string text = from_hex(json::parse(line).at("hex"));
    const Span span{text, true};
    std::vector<int32_t> ids;
    if (!(*tokenizer)->encode(std::span(&span, 1), false, &ids)) return 1;
    std::cout << json{{"ids", ids}, {"hex", to_hex(decode(**tokenizer, ids))}}.dump() << "\n";
  }
}

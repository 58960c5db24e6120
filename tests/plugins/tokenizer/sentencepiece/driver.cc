// A pipe around the tokenizer for vs_package.py and vs_tokenizers.py. Thread rule: single-threaded.
// Flow: driver FILE (tokenizer.model or tokenizer.json); lines {"hex"} in (the text's bytes), lines {"ids",
// "hex"} out (what they decode to). A program that can't load or read its input says why and ends with
// status 1.
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

template <class Span, class Decode, class Encoder>
int serve(const Encoder& encoder, Decode&& decode) {
  for (std::string line; std::getline(std::cin, line);) {
    const std::string text = from_hex(json::parse(line).at("hex"));
    const Span span{text, true};
    std::vector<int32_t> ids;
    if (!encoder.encode(std::span(&span, 1), false, &ids)) return 1;
    std::cout << json{{"ids", ids}, {"hex", to_hex(decode(ids))}}.dump() << "\n";
  }
  return 0;
}

int refuse(const mortise::Error& error) {
  std::cerr << error.text() << "\n";
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 1;
  const std::string path = arguments[1], file = read_file(path);
  if (!path.ends_with(".json")) {
    const auto tokenizer = hub_model(file).load();
    if (!tokenizer) return refuse(tokenizer.error());
    return serve<Span>(**tokenizer,
                       [&](const std::vector<int32_t>& ids) { return decode(**tokenizer, ids); });
  }
  const TestModel model("hf");
  const auto pipeline = load_json(file, model.c());
  if (!pipeline) return refuse(pipeline.error());
  return serve<mortise::hub::Span>(**pipeline, [&](const std::vector<int32_t>& ids) {
    std::string out;
    for (size_t i = 0; i < ids.size(); ++i) out += (*pipeline)->bytes(ids[i], i == 0);
    return out;
  });
}

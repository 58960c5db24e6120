// Times one tokenizer file on one text for tokenizers_bench.py. Thread rule: single-threaded.
// Flow: bpe_tokenizers_bench hub|tekken|tiktoken FILE TEXT ROUNDS -> {"load_s", "encode_s", "tokens"}.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "load.h"

using namespace mortise;
using Clock = std::chrono::steady_clock;

namespace {

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Result<bpe::Loaded> load(std::string_view kind, const std::string& text) {
  if (kind == "hub") return bpe::load_hub(text);
  return kind == "tekken" ? bpe::load_tekken(text, false) : bpe::load_tiktoken(text, "", "qwen");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) return 2;
  const std::string file = read_file(arguments[2]), text = read_file(arguments[3]);
  auto start = Clock::now();
  const auto loaded = load(arguments[1], file);
  const double load_s = seconds_since(start);
  if (!loaded) {
    std::fprintf(stderr, "%s\n", loaded.error().text().c_str());
    return 1;
  }
  double encode_s = 1e9;
  size_t tokens = 0;
  for (int round = 0; round < std::atoi(arguments[4]); ++round) {
    std::vector<int32_t> ids;
    const hub::Span span{text, false};
    start = Clock::now();
    if (!(*loaded)->encode(std::span(&span, 1), false, &ids)) return 1;
    encode_s = std::min(encode_s, seconds_since(start));
    tokens = ids.size();
  }
  std::printf("{\"load_s\": %.6f, \"encode_s\": %.6f, \"tokens\": %zu}\n", load_s, encode_s, tokens);
}

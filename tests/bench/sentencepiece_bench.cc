// How fast a tokenizer.model encodes here. Not a test. Thread rule: single-threaded.
// Flow: sentencepiece_bench MODEL TEXT; prints seconds of load, and of the text as a whole and line by line.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "tokenizer.h"

using namespace mortise::sentencepiece;

namespace {

std::string read_file(const char* path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

template <class Work>
double best_of(int rounds, Work&& work) {
  double best = 1e9;
  for (int i = 0; i < rounds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 1;
  const std::string file = read_file(arguments[1]), text = read_file(arguments[2]);
  std::unique_ptr<Tokenizer> tokenizer;
  const double load = best_of(1, [&] {
    auto model = read_model_file(file, arguments[1]);
    auto loaded = Tokenizer::load(model ? std::move(*model) : Model(), true);
    if (loaded) tokenizer = std::move(*loaded);
  });
  if (!tokenizer) return 1;
  const auto encode = [&](std::string_view part) {
    std::vector<int32_t> ids;
    const Span span{part, false};
    if (!tokenizer->encode(std::span(&span, 1), false, &ids)) std::puts("failed");
  };
  const double whole = best_of(3, [&] { encode(text); });
  const double lines = best_of(3, [&] {
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      encode(std::string_view(text).substr(at, end - at));
      at = end + 1;
    }
  });
  std::printf("%.6f %.6f %.6f\n", load, whole, lines);
}

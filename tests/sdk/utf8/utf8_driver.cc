// A pipe around Utf8Stream for utf8_vs_python.py. Thread rule: single-threaded.
// Flow: a line of blank-separated hex pieces in ("-" is the empty piece), a line of hex answers out: one
// answer for each piece and one for finish().
#include <mortise/cpp/utf8.h>

#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

namespace {

std::string from_hex(const std::string& hex) {
  std::string out;
  if (hex == "-") return out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return out;
}

std::string to_hex(const std::string& bytes) {
  std::string out;
  char two[3];
  for (unsigned char byte : bytes) {
    std::snprintf(two, sizeof(two), "%02x", byte);
    out += two;
  }
  return out.empty() ? "-" : out;
}

}  // namespace

int main() {
  std::string line, piece;
  while (std::getline(std::cin, line)) {
    mortise::Utf8Stream stream;
    std::istringstream pieces(line);
    std::string out;
    while (pieces >> piece) out += to_hex(stream.feed(from_hex(piece))) + " ";
    std::cout << out << to_hex(stream.finish()) << "\n";
  }
}

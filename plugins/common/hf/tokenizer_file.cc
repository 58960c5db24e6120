// Recognises tokenizer files. Thread rule and flow: see tokenizer_file.h.
#include "hf/tokenizer_file.h"

#include <algorithm>
#include <cstdint>

namespace mortise::hf {
namespace {

constexpr size_t kHeadBytes = 4096;

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool is_base64(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/' || c == '=';
  });
}

/// The first line is base64, a blank and a number.
bool is_tiktoken(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n'));
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos || line.size() == head.size()) return false;
  std::string_view rank = line.substr(blank + 1);
  if (!rank.empty() && rank.back() == '\r') rank.remove_suffix(1);
  return is_base64(line.substr(0, blank)) && !rank.empty() &&
         std::all_of(rank.begin(), rank.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// A SentencePiece model begins with its first piece: field 1, a message of field 1 (a text) and 2 (a float).
bool is_sentencepiece(std::string_view head) {
  if (head.size() < 4 || head[0] != 0x0a || head[2] != 0x0a) return false;
  const auto piece_bytes = static_cast<uint8_t>(head[1]), text_bytes = static_cast<uint8_t>(head[3]);
  return piece_bytes < 0x80 && text_bytes + 2 <= piece_bytes && head.size() >= size_t{2} + piece_bytes;
}

}  // namespace

std::string_view tokenizer_file_kind(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, kHeadBytes);
  if (is_sentencepiece(head)) return "tokenizer.model";
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && head[first] == '{') {
    if (has(head, "\"token_bytes\"") || (has(head, "\"config\"") && has(head, "\"default_vocab_size\"")))
      return "tekken.json";
    if (has(head, "\"added_tokens\"") || has(head, "\"pre_tokenizer\"") ||
        (has(head, "\"version\"") && has(head, "\"truncation\"")))
      return "tokenizer.json";
    return {};
  }
  return is_tiktoken(head) ? "tokenizer.tiktoken" : std::string_view();
}

}  // namespace mortise::hf

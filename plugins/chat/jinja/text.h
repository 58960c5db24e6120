// Text with provenance: UTF-8 bytes and which of them came from outside (messages, tools), so that user text
// never becomes a special token.
// Thread rule: a value. Flow: every string of the engine is a Text; the rendered prompt is one too.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::jinja {

/// Bytes [begin, end) came from the user.
struct Run {
  uint32_t begin = 0;
  uint32_t end = 0;
};

class Text {
 public:
  Text() = default;
  explicit Text(std::string bytes, bool user = false) { append(bytes, user); }

  const std::string& bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  /// Sorted, disjoint, not adjacent, not empty.
  const std::vector<Run>& user_runs() const { return user_; }
  bool any_user() const { return !user_.empty(); }
  bool user_at(size_t byte) const;

  void append(std::string_view bytes, bool user);
  void append(const Text& other) { append(other, 0, other.size()); }
  /// Appends bytes [begin, end) of `other` with their provenance.
  void append(const Text& other, size_t begin, size_t end);
  Text slice(size_t begin, size_t end) const;
  void reserve(size_t bytes) { bytes_.reserve(bytes); }
  /// Memory that the text holds, for the budget.
  size_t cost() const { return bytes_.size() + user_.size() * sizeof(Run); }

 private:
  void add_run(uint32_t begin, uint32_t end);
  std::string bytes_;
  std::vector<Run> user_;
};

/// The first `needle` in `hay` from byte `from` on, or npos; linear in both.
size_t find_bytes(std::string_view hay, std::string_view needle, size_t from = 0);

}  // namespace mortise::jinja

// Metadata for a model that is about to be written: keys, values and the memory behind them.
// Thread rule: one thread; constant once handed out. Flow: filled by the metadata and vocabulary steps, read
// by the writer.
#pragma once
#include <mortise/weights.h>

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::convert {

class MetaList {
 public:
  MetaList() = default;
  MetaList(const MetaList&) = delete;
  MetaList& operator=(const MetaList&) = delete;

  void integer(std::string_view key, int64_t value) { add_integers(key, {value}, MORTISE_INT, false); }
  void boolean(std::string_view key, bool value) { add_integers(key, {value ? 1 : 0}, MORTISE_BOOL, false); }
  void number(std::string_view key, double value);
  void text(std::string_view key, std::string_view value);
  void integers(std::string_view key, std::vector<int64_t> values) {
    add_integers(key, std::move(values), MORTISE_INT, true);
  }
  void numbers(std::string_view key, std::vector<double> values);
  void texts(std::string_view key, std::vector<std::string> values);
  /// A value of the source, whose memory outlives the list.
  void copy(mortise_str key, const mortise_meta& value);

  bool has(std::string_view key) const;
  /// As mortise_write_plan wants them; valid until the list changes.
  std::vector<const mortise_write_meta*> list() const;

 private:
  void add_integers(std::string_view key, std::vector<int64_t> values, uint32_t type, bool is_array);
  void add(std::string_view key, uint32_t type, bool is_array, size_t count, const void* data);

  std::deque<std::string> texts_;
  std::deque<std::vector<int64_t>> integers_;
  std::deque<std::vector<double>> numbers_;
  std::deque<std::vector<mortise_str>> views_;
  std::deque<mortise_write_meta> metas_;
};

}  // namespace mortise::convert

// Many strings in one allocation. Thread rule: immutable once filled, any thread. Flow: token texts.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::hub {

class StringTable {
 public:
  void reserve(size_t count, size_t bytes) {
    ends_.reserve(count);
    data_.reserve(bytes);
  }
  std::string* open() { return &data_; }  // append one string, then close it
  void close() { ends_.push_back(data_.size()); }
  void push(std::string_view text) {
    data_.append(text);
    close();
  }
  size_t size() const { return ends_.size(); }
  std::string_view operator[](size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(data_).substr(begin, ends_[i] - begin);
  }

 private:
  std::string data_;
  std::vector<size_t> ends_;
};

}  // namespace mortise::hub

// Metadata of the dialect "hf": JSON configs flattened to keys with dots.
// Thread rule: built on one thread, then constant. Flow: the folder's reader adds its configs, the host asks
// by key or index.
#pragma once
#include <mortise/base.h>
#include <mortise/cpp/result.h>

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mortise::hf {

class Metadata {
 public:
  struct Entry {
    std::string key;
    uint32_t type = MORTISE_INT;
    bool is_array = false;
    std::vector<int64_t> ints;  // of MORTISE_BOOL and MORTISE_INT
    std::vector<double> floats;
    std::vector<std::string> texts;
    std::vector<mortise_str> strings;  // views of texts

    mortise_meta value() const;
  };

  /// Adds the object `json` under `prefix` ("" or one that ends in a dot). {"a": {"b": 1}} becomes a.b; null
  /// is absent; a list of scalars of one type is an array (whole and other numbers together are floats); the
  /// items of any other list become a.0, a.1 and so on; the object `skip` of the first level is left out. A
  /// whole number beyond int64 is a float. Errors carry `where` and the byte: no JSON object, a key twice,
  /// over a limit.
  Result<void> add_json(std::string_view json, const std::string& where, const std::string& prefix,
                        std::string_view skip = {});
  /// False where the key is there already.
  bool add(Entry entry);
  void add_text(std::string key, std::string text);

  /// Null where absent.
  const Entry* find(std::string_view key) const;
  /// The text of a key that holds one; empty where it is absent or something else.
  std::string_view text(std::string_view key) const;
  /// Does a key begin with `prefix`?
  bool has_prefix(std::string_view prefix) const;
  uint64_t size() const { return entries_.size(); }
  const Entry& at(uint64_t index) const { return entries_[index]; }

 private:
  std::deque<Entry> entries_;  // in the order in which they were added; addresses stay
  std::unordered_map<std::string_view, const Entry*> by_key_;
};

}  // namespace mortise::hf

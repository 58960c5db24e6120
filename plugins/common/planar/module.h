// Quantized linears of a hub folder: raw tensors that share a prefix become one tensor of several planes.
// Thread rule: pure functions over an opened folder. Flow: a plugin's compose finds the modules and says
// which raw tensor is which plane; what it composes is checked by its format before it is handed out.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "hf/json_events.h"  // in_quotes
#include "hf/model.h"

namespace mortise::planar {

using hf::Folder;
using hf::RawTensor;

/// `name` without `suffix` where it ends so and something is left; else empty.
std::string_view prefix_of(std::string_view name, std::string_view suffix);

/// ASCII letters in lower case, as readers of configs compare them.
std::string lower(std::string_view text);

/// The raw tensors `prefix` + ".qweight" and so on of one linear.
class Module {
 public:
  /// `codes` is the raw tensor that the module was found by; errors of the whole module stand at its place.
  Module(const Folder& folder, std::string_view prefix, const RawTensor& codes)
      : folder_(folder), prefix_(prefix), codes_(codes) {}

  const std::string& prefix() const { return prefix_; }
  const RawTensor& codes() const { return codes_; }
  /// Null where absent.
  const RawTensor* find(std::string_view suffix) const;
  /// An error that names what is missing.
  Result<const RawTensor*> need(std::string_view suffix) const;
  /// The same, and as check_matrix.
  Result<const RawTensor*> need_matrix(std::string_view suffix) const;
  /// Is the raw tensor a matrix with both sizes in [1, 2^31)?
  Result<void> check_matrix(const RawTensor& raw) const;
  /// bad_data at the codes' place, beginning with the module's name.
  tl::unexpected<Error> bad(const std::string& what) const;

  /// The index of groups, or null where it is absent or says no more than k / group_size does. Its numbers
  /// are read: one out of range is an error with its place. `unset_allowed`: a -1 among them means that all
  /// of them say nothing. Where the file ends before the index, `needed` decides.
  Result<const RawTensor*> group_index(std::string_view suffix, uint64_t in, uint64_t group_size,
                                       bool unset_allowed, bool needed) const;

 private:
  const Folder& folder_;
  std::string prefix_;
  const RawTensor& codes_;
};

/// A plane of the raw tensor's own shape; [n, 1] of a vector, [1, 1] of one number.
hf::PlaneSpec plane(const char* role, const RawTensor& raw);

/// A whole number of config.json in [low, high]; nothing where it is absent.
Result<std::optional<int64_t>> config_integer(const Folder& folder, const std::string& key, int64_t low,
                                              int64_t high);

}  // namespace mortise::planar

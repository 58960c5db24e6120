// Choosing kernels: which plugin serves a weight, an operation, a layer's attention, and why each other does
// not. Thread rule: pure functions of pipeline, plugins, processor and the model's header; the loading
// thread. Flow: the graph's needs -> here -> Choice, which packing and Program carry out and explain prints.
//
// Order: hard filter (device, instruction set, features, accepts, batch invariance if asked) -> pin -> deny
// -> exact format before any format -> shipped before foreign -> tier (tuned, portable, reference) -> name.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/linear.h>
#include <mortise/ops.h>

#include <set>
#include <string>
#include <vector>

#include "config/pipeline.h"
#include "model/provider.h"

namespace mortise {

struct Candidate {
  std::string plugin;  // its name in TOML
  std::string reason;  // why it won or lost
};

struct Choice {
  uint32_t provider = 0;  // index into the providers
  uint32_t claim = 0;
  std::string pinned_at;  // where the pin stands that decided; empty: none did
  std::string why;
  std::vector<Candidate> candidates;
};

/// What a weight needs of its kernel.
struct LinearNeed {
  const mortise_linear_desc* desc;
  uint64_t features;
};

/// A claim that the probe at load has found wrong, by provider, claim and format id.
struct Dropped {
  uint32_t provider, claim;
  std::string format, reason;
};

class Chooser {
 public:
  Chooser(const Pipeline& pipeline, std::vector<Provider> linear, std::vector<Provider> ops,
          std::vector<std::string> isa);

  /// Pins and denials must name known plugins, formats and operations.
  Result<void> check_filters(const std::vector<std::string>& formats) const;
  /// Errors: a pin that cannot hold, or no kernel left; `where` is the filter's.
  Result<Choice> linear(const LinearNeed& need) const;
  Result<Choice> op(std::string_view id) const;

  void drop(Dropped dropped) { dropped_.push_back(std::move(dropped)); }
  const std::vector<Provider>& linear_providers() const { return linear_; }
  const std::vector<Provider>& ops_providers() const { return ops_; }

 private:
  struct Row;
  Result<Choice> pick(std::vector<Row> rows, const Pin* pin, const std::string& what) const;
  const Pin* pin_for(std::string_view id, std::string_view tensor) const;
  bool denied(const std::string& plugin) const;
  std::string unmet_isa(const char* isa) const;
  std::string linear_filter(const Provider& provider, uint32_t claim, const LinearNeed& need) const;

  const Pipeline& pipeline_;
  std::vector<Provider> linear_, ops_;
  std::set<std::string, std::less<>> isa_;
  std::vector<Dropped> dropped_;
};

/// Whether a pin speaks of a weight of that format (without revision) and tensor name, or of that operation.
bool pin_matches(const Pin& pin, std::string_view id, std::string_view tensor);

/// "family.name/1" -> "family.name".
std::string_view without_revision(std::string_view id);

}  // namespace mortise

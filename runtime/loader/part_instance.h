// An instance of a part: what create made, destroyed with the object.
// Thread rule: [load] for create and the destructor; `self` is used as the kind's header says. Flow: loaded
// part + checked values -> instance, held by whoever calls it.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/plugin.h>

#include <string>

#include "config/values.h"
#include "loader/library.h"

namespace mortise {

class PartInstance {
 public:
  /// Calls create with `values`, which the instance keeps; `host` must outlive it. Errors: the plugin's own,
  /// naming plugin and part; internal where an exception came out of it.
  static Result<PartInstance> create(const LoadedPlugin& plugin, const LoadedPart& part,
                                     const mortise_host* host, Values values);

  PartInstance(PartInstance&& other) noexcept;
  PartInstance& operator=(PartInstance&& other) noexcept;
  ~PartInstance();

  void* self() const { return self_; }
  const mortise_part& part() const { return *part_; }
  const Values& values() const { return values_; }
  /// "kind:name"
  const std::string& name() const { return name_; }
  /// The kind's functions; T is the struct of the part's interface id, which the loader has matched.
  template <class T>
  const T& table() const {
    return *static_cast<const T*>(part_->table);
  }

 private:
  PartInstance(const mortise_part* part, std::string name, Values values)
      : part_(part), name_(std::move(name)), values_(std::move(values)) {}

  const mortise_part* part_;
  std::string name_;
  Values values_;
  void* self_ = nullptr;
  bool created_ = false;
};

}  // namespace mortise

// Writes a planned model: rows out of the source, through the recipes, into the writer, on the pool.
// Thread rule: the front end's thread, its tasks on workers. Flow: the plan's last step.
#pragma once
#include <mortise/cpp/part.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "meta_list.h"
#include "recipe.h"

namespace mortise::convert {

constexpr uint64_t kPieceBytes = uint64_t{4} << 20;  // of float32 rows that a worker holds at once
constexpr const char* kInterrupted = "the conversion was interrupted and nothing is written; run it again";

/// A model as it is to be written.
struct Plan {
  std::string writer;  ///< weights plugin
  std::string path;
  MetaList meta;
  std::map<std::string, std::string> blobs;  ///< files of a hub folder
  std::vector<Recipe> tensors;
  bool gain_less_one = false;  ///< the target's norms hold their gain less 1
};

/// Elements of all tensors.
uint64_t elements(const Plan& plan);

/// `progress` gets the elements done and returns false to give up: then nothing is left behind.
Result<void> write(Host host, const mortise_model_service& model, const Plan& plan,
                   const std::function<bool(uint64_t done)>& progress);

}  // namespace mortise::convert

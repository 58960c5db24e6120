// Writing of hub folders in AutoAWQ's gemm layout: linears are rounded to nearest, all else is stored as the
// plan says. Thread rule: as mortise_weights says of its write calls. Flow: plugin.cc puts its calls into the
// table; tools hand rows of float32.
#pragma once
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "encode.h"
#include "hf/stored.h"

namespace awq {

class Writer {
 public:
  /// Tensors of format awq.gemm/1 are named `….weight`; others as hf::Stored.
  static mortise::Result<std::unique_ptr<Writer>> begin(std::string_view path,
                                                        const mortise_write_plan& plan);
  mortise::Result<void> rows(uint64_t index, uint64_t row0, uint64_t rows, const float* x,
                             const float* importance);
  mortise::Result<void> end() { return folder_->end(); }

 private:
  /// A linear of the plan. Its words run across its rows, so they are kept until the last row is there.
  struct Linear {
    Shape shape;
    std::mutex mutex;  // guards the making of `planes`
    std::unique_ptr<Planes> planes;
    std::atomic<uint64_t> missing_rows;
  };
  struct Target {
    std::string name;
    uint64_t first;                  // of its raw tensors
    std::unique_ptr<Linear> linear;  // null: stored
    mortise::hf::Stored stored;
  };

  mortise::Result<void> add(const mortise_tensor& tensor, std::vector<mortise::hf::OutTensor>* raw);
  mortise::Result<void> flush(const Target& target) const;

  std::unique_ptr<mortise::hf::FolderWriter> folder_;
  std::vector<Target> targets_;
};

}  // namespace awq

// Writes a hub folder: blobs as files and raw tensors as model.safetensors, or as shards with an index.
// Thread rule: begin, end and abort on one thread; write from any thread at once, in any order. Flow: the
// write calls of the weights plugins encode rows and hand their bytes here.
//
// Everything is written to a folder of another name beside the final one, flushed, and moved there at the
// end, so that a killed program leaves no half model under the final name.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/weights.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hf/dtypes.h"

namespace mortise::hf {

/// A tensor to be written; `shape` outermost first.
struct OutTensor {
  std::string name;
  const Dtype* dtype = nullptr;
  std::vector<uint64_t> shape;
};

class FolderWriter {
 public:
  /// Makes the folder's stand-in: blobs, headers and room for the data of `tensors`, in their order. `path`
  /// must not be there yet (an empty folder may). `shard_bytes`: where the data is larger it is cut into
  /// files of at most that size, but no tensor is. Errors: a name that is no plain file name, metadata
  /// outside of blobs, what the system says.
  static Result<std::unique_ptr<FolderWriter>> begin(std::string_view path, const mortise_write_plan& plan,
                                                     std::vector<OutTensor> tensors,
                                                     uint64_t shard_bytes = kShardBytes);
  /// Removes what was written unless end has moved it to its place.
  ~FolderWriter();
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;

  /// Writes `bytes` at `offset` of the data of tensor `index`.
  Result<void> write(uint64_t index, uint64_t offset, std::string_view bytes) const;
  /// Flushes all and moves the folder to its final name.
  Result<void> end();

  static constexpr uint64_t kShardBytes = 5'000'000'000;

 private:
  struct Shard {
    std::string path;
    int descriptor = -1;
  };
  struct Place {
    size_t shard = 0;
    uint64_t offset = 0, length = 0;
  };

  FolderWriter() = default;
  Result<void> prepare(const mortise_write_plan& plan, const std::vector<OutTensor>& tensors,
                       uint64_t shard_bytes);
  Result<void> make_folder();
  Result<void> write_blobs(const mortise_write_plan& plan) const;
  Result<void> add_shard(const std::vector<OutTensor>& tensors, size_t first, size_t last,
                         const std::string& name);
  Result<void> write_file(const std::string& name, std::string_view bytes) const;

  std::string path_;    // as it will be called
  std::string folder_;  // the stand-in; empty once it has been moved
  std::vector<Shard> shards_;
  std::vector<Place> places_;
};

}  // namespace mortise::hf

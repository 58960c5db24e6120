// The writer: a model as a GGUF v3 file, under a temporary name until it is whole.
// Thread rule: begun and ended by one thread; rows are encoded and written by any number at once. Flow: the C
// boundary stands in model.cc; write_header.cc makes the header, write.cc the rest.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/weights.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "types.h"

namespace gguf {

using mortise::Result;

/// A tensor that is being written.
struct Target {
  std::string name;
  const Type* type;
  uint64_t rows, row_weights;
  uint64_t offset;  // from the start of the file
  std::atomic<uint64_t> rows_written{0};

  uint64_t row_bytes() const { return row_weights / type->block_weights * type->block_bytes; }
};

/// A file's bytes up to its data, and its whole size.
struct Layout {
  std::string header;
  uint64_t file_bytes;
};

/// Lays the file out and fills `targets`, one a tensor, in the plan's order. Errors name the key or tensor
/// that the file cannot hold. `where`: the file's name for errors.
Result<Layout> lay_out(const mortise_write_plan& plan, const std::string& where,
                       std::vector<std::unique_ptr<Target>>& targets);

class FileWriter {
 public:
  /// Checks the plan and writes the header. Errors: the plan's, and those of the system.
  static Result<std::unique_ptr<FileWriter>> begin(std::string path, const mortise_write_plan& plan);
  /// Removes what was written unless end() succeeded.
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  /// Any thread. As write_rows of mortise_weights; takes memory for about kEncodedBytesMax. Errors: a number
  /// that the type cannot hold, by row and column; the disk's.
  Result<void> rows(uint64_t index, uint64_t row0, uint64_t rows, const float* x, const float* importance);
  /// Moves the file to its name once it is on disk. Errors: a tensor that lacks rows; the disk's.
  Result<void> end();

 private:
  explicit FileWriter(std::string path) : path_(std::move(path)) {}
  Result<void> open();
  Result<void> write(const void* data, uint64_t size, uint64_t offset) const;

  const std::string path_;
  std::string temporary_;  // "" where there is none
  int descriptor_ = -1;
  std::vector<std::unique_ptr<Target>> targets_;
};

}  // namespace gguf

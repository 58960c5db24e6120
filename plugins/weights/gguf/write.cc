// Writes a file's header and rows. Thread rule and flow: see write.h.
#include "write.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <system_error>

#include "file.h"

namespace gguf {
namespace {

using mortise::Code;
using mortise::fail;

constexpr uint64_t kEncodedBytesMax = uint64_t{1} << 20;  // of encoded rows held at once by a thread
constexpr int kNamesTried = 100;

std::string system_text() { return std::generic_category().message(errno); }

/// What a type can hold. F32, F16 and BF16 hold infinity and NaN as they are; a block's codes do not.
struct Range {
  float end;  // the smallest magnitude that would become infinity; a scale is a half
  bool specials;

  explicit Range(const Type& type)
      : end(type.name == "F32"    ? std::numeric_limits<float>::infinity()
            : type.name == "BF16" ? 0x1.ffp127f
                                  : 65520.0f),
        specials(type.block_weights == 1) {}
  bool holds(float x) const { return std::isfinite(x) ? std::fabs(x) < end : specials; }
};

/// Why `x` or `importance` cannot be encoded; empty where they can.
std::string refusal(const Target& target, uint64_t row0, uint64_t rows, const float* x,
                    const float* importance) {
  const uint64_t k = target.row_weights;
  for (uint64_t i = 0; importance != nullptr && i < k; ++i)
    if (!std::isfinite(importance[i]) || importance[i] < 0)
      return "the importance of column " + std::to_string(i) + " is not a finite number of 0 or more";
  const Range range(*target.type);
  for (uint64_t i = 0; i < rows * k; ++i) {
    if (range.holds(x[i])) continue;
    const std::string type(target.type->name);
    return "row " + std::to_string(row0 + i / k) + ", column " + std::to_string(i % k) + " is " +
           std::to_string(x[i]) + ", which " + type + " cannot hold; store this tensor as " +
           (!std::isfinite(x[i]) ? "F16, BF16 or F32"
            : type == "BF16"     ? "F32"
                                 : "BF16 or F32");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<FileWriter>> FileWriter::begin(std::string path, const mortise_write_plan& plan) {
  std::unique_ptr<FileWriter> out(new FileWriter(std::move(path)));
  MORTISE_TRY(layout, lay_out(plan, out->path_, out->targets_));
  MORTISE_CHECK(out->open());
  MORTISE_CHECK(out->write(layout.header.data(), layout.header.size(), 0));
  // The last tensor's padding is there from now on.
  if (ftruncate(out->descriptor_, static_cast<off_t>(layout.file_bytes)) != 0)
    return fail(Code::io, out->path_,
                "cannot take " + std::to_string(layout.file_bytes) + " bytes: " + system_text() +
                    "; check the disk and its limits");
  return out;
}

Result<void> FileWriter::open() {
  struct stat found;
  if (stat(path_.c_str(), &found) == 0 && !S_ISREG(found.st_mode))
    return fail(Code::io, path_, "is not a regular file; choose another name to write to");
  for (int i = 0; i < kNamesTried; ++i) {
    const std::string name = path_ + ".part" + std::to_string(getpid()) + "." + std::to_string(i);
    descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) {
      temporary_ = name;
      return {};
    }
    if (errno != EEXIST) break;
  }
  return fail(Code::io, path_, "cannot be written: " + system_text() + "; check its folder");
}

FileWriter::~FileWriter() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Result<void> FileWriter::write(const void* data, uint64_t size, uint64_t offset) const {
  const auto* at = static_cast<const uint8_t*>(data);
  while (size != 0) {
    const ssize_t done = pwrite(descriptor_, at, size, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return fail(Code::io, path_, "cannot be written: " + system_text() + "; check the disk");
    at += done;
    offset += static_cast<uint64_t>(done);
    size -= static_cast<uint64_t>(done);
  }
  return {};
}

Result<void> FileWriter::rows(uint64_t index, uint64_t row0, uint64_t rows, const float* x,
                              const float* importance) {
  if (index >= targets_.size())
    return fail(Code::bad_argument, path_, "the plan has no tensor " + std::to_string(index));
  Target& target = *targets_[index];
  if (row0 > target.rows || rows > target.rows - row0)
    return fail(Code::bad_argument, path_,
                "tensor " + quoted(target.name) + ": rows " + std::to_string(row0) +
                    " and on lie behind its " + std::to_string(target.rows));
  const std::string refused = refusal(target, row0, rows, x, importance);
  if (!refused.empty()) return fail(Code::bad_data, path_, "tensor " + quoted(target.name) + ": " + refused);
  const uint64_t row_bytes = target.row_bytes(), blocks = target.row_weights / target.type->block_weights;
  const uint64_t at_once = std::clamp<uint64_t>(kEncodedBytesMax / row_bytes, 1, std::max<uint64_t>(rows, 1));
  std::vector<uint8_t> encoded(at_once * row_bytes);
  for (uint64_t done = 0; done < rows;) {
    const uint64_t count = std::min(at_once, rows - done);
    for (uint64_t r = 0; r < count; ++r)
      target.type->encode(x + (done + r) * target.row_weights, importance, blocks,
                          encoded.data() + r * row_bytes);
    MORTISE_CHECK(write(encoded.data(), count * row_bytes, target.offset + (row0 + done) * row_bytes));
    done += count;
  }
  target.rows_written += rows;
  return {};
}

Result<void> FileWriter::end() {
  for (const auto& target : targets_)
    if (target->rows_written != target->rows)
      return fail(Code::bad_argument, path_,
                  "tensor " + quoted(target->name) + ": " + std::to_string(target->rows_written) + " of " +
                      std::to_string(target->rows) + " rows were written");
  if (fsync(descriptor_) != 0)
    return fail(Code::io, path_, "cannot be written: " + system_text() + "; check the disk");
  if (rename(temporary_.c_str(), path_.c_str()) != 0)
    return fail(Code::io, path_, "cannot be given its name: " + system_text() + "; check its folder");
  temporary_.clear();
  // The name is on disk with its folder; where that cannot be synced the file is whole all the same.
  const size_t slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    fsync(descriptor);
    close(descriptor);
  }
  return {};
}

}  // namespace gguf

// Writes hub folders. Thread rule and flow: see writer.h.
#include "hf/writer.h"

#include <fcntl.h>
#include <mortise/cpp/reader.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "hf/hf_limits.h"
#include "hf/json_events.h"
#include "hf/shards.h"
#include "json/json.h"

namespace mortise::hf {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHeaderAlignment = 8;

tl::unexpected<Error> system_error(const std::string& path, const char* what) {
  const int number = errno;
  return fail(Code::io, path,
              std::string(what) + ": " + std::generic_category().message(number) +
                  "; check the disk and the folder's permissions");
}

Result<void> write_all(int descriptor, const std::string& path, std::string_view bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t done = pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return system_error(path, "cannot be written");
    bytes.remove_prefix(static_cast<size_t>(done));
    offset += static_cast<uint64_t>(done);
  }
  return {};
}

/// Flushes and closes; the error of either counts.
Result<void> close_file(int descriptor, const std::string& path) {
  const bool flushed = fsync(descriptor) == 0;
  const auto failed = flushed ? Result<void>() : Result<void>(system_error(path, "cannot be written"));
  if (close(descriptor) != 0 && flushed) return system_error(path, "cannot be written");
  return failed;
}

Result<void> flush_folder(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return system_error(path, "cannot be opened");
  return close_file(descriptor, path);
}

std::string parent_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

/// Bytes of the tensor's data.
Result<uint64_t> bytes_of(const OutTensor& tensor) {
  uint64_t bits = tensor.dtype->bits;
  bool fits = true;
  for (const uint64_t size : tensor.shape) fits = fits && multiply(bits, size, &bits);
  if (!fits || bits % 8 != 0)
    return fail(Code::bad_argument, in_quotes(tensor.name), "its shape gives no whole number of bytes");
  return bits / 8;
}

std::string shard_name(size_t index, size_t count) {
  if (count == 1) return "model.safetensors";
  char name[64];
  std::snprintf(name, sizeof(name), "model-%05zu-of-%05zu.safetensors", index + 1, count);
  return name;
}

}  // namespace

Result<std::unique_ptr<FolderWriter>> FolderWriter::begin(std::string_view path,
                                                          const mortise_write_plan& plan,
                                                          std::vector<OutTensor> tensors,
                                                          uint64_t shard_bytes) {
  std::unique_ptr<FolderWriter> out(new FolderWriter());
  out->path_ = std::string(path);
  while (out->path_.size() > 1 && out->path_.back() == '/') out->path_.pop_back();
  std::error_code ignored;
  if (out->path_.empty() || (fs::exists(out->path_, ignored) && !fs::is_empty(out->path_, ignored)))
    return fail(Code::bad_argument, out->path_, "is there already; name a folder that is not, or remove it");
  if (plan.meta_count != 0)
    return fail(Code::bad_argument, out->path_,
                "a hub folder has its metadata in config.json, not as single keys; give it as a file");
  MORTISE_CHECK(out->prepare(plan, tensors, shard_bytes));
  return out;
}

Result<void> FolderWriter::prepare(const mortise_write_plan& plan, const std::vector<OutTensor>& tensors,
                                   uint64_t shard_bytes) {
  std::vector<size_t> first{0};  // tensor with which each shard begins
  uint64_t in_shard = 0, total = 0;
  std::set<std::string_view> names{"__metadata__"};
  for (const OutTensor& tensor : tensors) {
    if (!names.insert(tensor.name).second)
      return fail(Code::bad_argument, in_quotes(tensor.name), "cannot be the name of two entries of a file");
    MORTISE_TRY(bytes, bytes_of(tensor));
    if (in_shard != 0 && bytes > shard_bytes - std::min(in_shard, shard_bytes)) {
      first.push_back(places_.size());
      in_shard = 0;
    }
    places_.push_back({first.size() - 1, 0, bytes});
    in_shard += bytes;
    total += bytes;
  }
  MORTISE_CHECK(make_folder());
  MORTISE_CHECK(write_blobs(plan));
  const size_t count = first.size();
  first.push_back(tensors.size());
  std::map<std::string, std::string> weight_map;
  for (size_t i = 0; i < count; ++i) {
    const std::string name = shard_name(i, count);
    MORTISE_CHECK(add_shard(tensors, first[i], first[i + 1], name));
    for (size_t t = first[i]; t < first[i + 1]; ++t) weight_map[tensors[t].name] = name;
  }
  if (count == 1) return {};
  std::string index;
  json::Writer json(&index);
  json.open('{').key("metadata").open('{').key("total_size").number(total).close('}');
  json.key("weight_map").open('{');
  for (const auto& [tensor, file] : weight_map) json.key(tensor).string(file);
  json.close('}').close('}');
  return write_file(kIndexName, index);
}

Result<void> FolderWriter::make_folder() {
  const fs::path final_path(path_);
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string name = "." + final_path.filename().string() + "." + std::to_string(getpid()) + "-" +
                             std::to_string(attempt) + ".partial";
    const std::string folder = (fs::path(parent_of(path_)) / name).string();
    if (mkdir(folder.c_str(), 0777) == 0) {
      folder_ = folder;
      return {};
    }
    if (errno != EEXIST) return system_error(parent_of(path_), "no folder can be made in it");
  }
  return fail(Code::io, path_, "is full of *.partial folders beside it; remove them");
}

Result<void> FolderWriter::write_blobs(const mortise_write_plan& plan) const {
  for (uint64_t i = 0; i < plan.blob_count; ++i) {
    const mortise_write_blob& blob = *plan.blobs[i];
    const std::string name(view(blob.name));
    if (name.empty() || name[0] == '.' || name.find_first_of(std::string_view("/\0", 2)) != std::string::npos)
      return fail(Code::bad_argument, path_, in_quotes(name) + " is no plain file name");
    MORTISE_CHECK(write_file(name, {reinterpret_cast<const char*>(blob.bytes.data), blob.bytes.size}));
  }
  return {};
}

Result<void> FolderWriter::write_file(const std::string& name, std::string_view bytes) const {
  const std::string path = folder_ + "/" + name;
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return system_error(path, "cannot be made");
  const auto written = write_all(descriptor, path, bytes, 0);
  const auto closed = close_file(descriptor, path);
  return written ? closed : written;
}

Result<void> FolderWriter::add_shard(const std::vector<OutTensor>& tensors, size_t first, size_t last,
                                     const std::string& name) {
  std::string header;
  json::Writer json(&header);
  json.open('{').key("__metadata__").open('{').key("format").string("pt").close('}');
  uint64_t end = 0;
  for (size_t t = first; t < last; ++t) {
    json.key(tensors[t].name).open('{').key("dtype").string(tensors[t].dtype->name).key("shape").open('[');
    for (const uint64_t size : tensors[t].shape) json.number(size);
    json.close(']').key("data_offsets").open('[').number(end);
    places_[t].offset = end;
    end += places_[t].length;
    json.number(end).close(']').close('}');
  }
  json.close('}');
  header.append((kHeaderAlignment - header.size() % kHeaderAlignment) % kHeaderAlignment, ' ');
  if (header.size() > kHeaderBytesMax)
    return fail(Code::limit, path_,
                "the header would be larger than " + std::to_string(kHeaderBytesMax) + " bytes");
  const uint64_t length = header.size();
  header.insert(0, reinterpret_cast<const char*>(&length), sizeof(length));
  for (size_t t = first; t < last; ++t) places_[t].offset += header.size();

  Shard shard{folder_ + "/" + name, -1};
  shard.descriptor = open(shard.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (shard.descriptor < 0) return system_error(shard.path, "cannot be made");
  shards_.push_back(shard);
  if (ftruncate(shard.descriptor, static_cast<off_t>(header.size() + end)) != 0)
    return system_error(shard.path, "cannot be made as large as the model");
  return write_all(shard.descriptor, shard.path, header, 0);
}

Result<void> FolderWriter::write(uint64_t index, uint64_t offset, std::string_view bytes) const {
  const Place& place = places_[index];
  if (offset > place.length || bytes.size() > place.length - offset)
    return fail(Code::internal, path_, "rows lie behind the end of tensor " + std::to_string(index));
  const Shard& shard = shards_[place.shard];
  return write_all(shard.descriptor, shard.path, bytes, place.offset + offset);
}

Result<void> FolderWriter::end() {
  for (Shard& shard : shards_) MORTISE_CHECK(close_file(std::exchange(shard.descriptor, -1), shard.path));
  MORTISE_CHECK(flush_folder(folder_));
  if (std::rename(folder_.c_str(), path_.c_str()) != 0)
    return system_error(path_, "the finished model cannot be moved there");
  folder_.clear();
  return flush_folder(parent_of(path_));
}

FolderWriter::~FolderWriter() {
  for (const Shard& shard : shards_)
    if (shard.descriptor >= 0) close(shard.descriptor);
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

}  // namespace mortise::hf

// Lists shards. Thread rule and flow: see shards.h.
#include "hf/shards.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "hf/hf_limits.h"
#include "hf/json_events.h"

namespace mortise::hf {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".safetensors";
constexpr const char* kSingle = "model.safetensors";

bool has_suffix(std::string_view name) {
  return name.size() > kSuffix.size() && name.substr(name.size() - kSuffix.size()) == kSuffix;
}
bool begins(std::string_view name, std::string_view with) { return name.substr(0, with.size()) == with; }

/// {"metadata": …, "weight_map": {tensor: file}}.
class IndexHandler final : public JsonHandler {
 public:
  IndexHandler(const std::string& where, Shards* out) : where_(where), out_(*out) {}

  Result<void> begin(bool is_object, uint64_t at) override {
    ++depth_;
    if (depth_ == 1 && !is_object) return bad(at, "the index is not a JSON object");
    if (in_map() && (!is_object || depth_ > 2)) return bad(at, "weight_map must name a file for each tensor");
    return {};
  }
  Result<void> end() override {
    --depth_;
    return {};
  }
  Result<void> key(std::string_view name, uint64_t at) override {
    if (depth_ == 1) {
      section_ = std::string(name);
      if (!in_map()) return {};
      if (has_map_) return bad(at, "weight_map occurs twice");
      has_map_ = true;
    } else if (in_map()) {
      if (out_.weight_map.size() >= kTensorsMax)
        return fail(Code::limit, where_, "more than " + std::to_string(kTensorsMax) + " tensors", at);
      if (!names_.emplace(name).second) return bad(at, "weight_map names " + in_quotes(name) + " twice");
      out_.weight_map.emplace_back(std::string(name), "");
    }
    return {};
  }
  Result<void> scalar(Scalar value, uint64_t at) override {
    if (depth_ == 0) return bad(at, "the index is not a JSON object");
    if (!in_map()) return {};
    if (depth_ != 2 || value.kind != Scalar::text)
      return bad(at, "weight_map must name a file for each tensor");
    const std::string& file = value.text_value;
    // A plain name cannot leave the folder.
    if (!has_suffix(file) || file[0] == '.' || file.find('/') != std::string::npos ||
        file.find('\0') != std::string::npos)
      return bad(at,
                 "weight_map names the file " + in_quotes(file) + ", which is no plain *.safetensors name");
    if (files_.insert(file).second && files_.size() > kShardsMax)
      return fail(Code::limit, where_, "more than " + std::to_string(kShardsMax) + " files", at);
    out_.weight_map.back().second = file;
    return {};
  }

  Result<void> finish() {
    if (!has_map_) return bad(0, "the index has no weight_map");
    out_.files.assign(files_.begin(), files_.end());
    return {};
  }

 private:
  bool in_map() const { return section_ == "weight_map"; }
  tl::unexpected<Error> bad(uint64_t at, std::string message) const {
    return fail(Code::bad_data, where_, std::move(message) + "; fetch the file again", at);
  }

  const std::string& where_;
  Shards& out_;
  size_t depth_ = 0;
  std::string section_;
  bool has_map_ = false;
  std::set<std::string> names_, files_;
};

Result<void> map_index(Host host, const std::string& path, Shards* out) {
  uint32_t file = 0;
  mortise_bytes bytes = {nullptr, 0};
  mortise_error error = c_error();
  const mortise_status status = host.c()->map_file(host.c()->ctx, str(path), &file, &bytes, &error);
  if (status != MORTISE_OK) return pass(from_c(status, error));
  if (bytes.size > kConfigBytesMax)
    return fail(
        Code::limit, path,
        "has " + std::to_string(bytes.size) + " bytes; the limit is " + std::to_string(kConfigBytesMax));
  out->index_path = path;
  return read_index({reinterpret_cast<const char*>(bytes.data), bytes.size}, path, out);
}

}  // namespace

Result<void> read_index(std::string_view json, const std::string& where, Shards* out) {
  IndexHandler handler(where, out);
  MORTISE_CHECK(walk_json(json, where, 0, handler));
  return handler.finish();
}

Result<Shards> list_shards(Host host, const std::string& folder) {
  Shards out;
  std::error_code error;
  const fs::path base(folder);
  if (fs::is_regular_file(base / kSingle, error)) {
    out.files.push_back(kSingle);
    return out;
  }
  if (fs::is_regular_file(base / kIndexName, error)) {
    MORTISE_CHECK(map_index(host, (base / kIndexName).string(), &out));
    return out;
  }
  for (fs::directory_iterator at(base, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!has_suffix(name) || begins(name, "adapter_")) continue;
    if (out.files.size() >= kShardsMax)
      return fail(Code::limit, folder, "more than " + std::to_string(kShardsMax) + " *.safetensors files");
    out.files.push_back(name);
  }
  if (error)
    return fail(Code::io, folder, "cannot be listed: " + error.message() + "; check its permissions");
  std::sort(out.files.begin(), out.files.end());
  const auto is_consolidated = [](const std::string& name) { return begins(name, "consolidated"); };
  if (!std::all_of(out.files.begin(), out.files.end(), is_consolidated))
    out.files.erase(std::remove_if(out.files.begin(), out.files.end(), is_consolidated), out.files.end());
  return out;
}

}  // namespace mortise::hf

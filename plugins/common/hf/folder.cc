// Opens hub folders. Thread rule and flow: see folder.h.
#include "hf/folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "hf/json_events.h"
#include "hf/shards.h"
#include "hf/tokenizer_file.h"

namespace mortise::hf {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.json";

struct MappedFile {
  uint32_t handle = 0;
  mortise_bytes bytes = {nullptr, 0};
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data), bytes.size}; }
};

Result<MappedFile> map_file(Host host, const std::string& path) {
  MappedFile out;
  mortise_error error = c_error();
  const mortise_status status = host.c()->map_file(host.c()->ctx, str(path), &out.handle, &out.bytes, &error);
  if (status != MORTISE_OK) return pass(from_c(status, error));
  return out;
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

Result<void> check_size(uint64_t bytes, const std::string& path) {
  if (bytes <= kConfigBytesMax) return {};
  return fail(Code::limit, path,
              "has " + std::to_string(bytes) + " bytes; the limit is " + std::to_string(kConfigBytesMax));
}

Result<MappedFile> map_config(Host host, const std::string& path) {
  MORTISE_TRY(file, map_file(host, path));
  MORTISE_CHECK(check_size(file.bytes.size, path));
  return file;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string quant_method_of(const Metadata& metadata) {
  const std::string_view method = metadata.text("quantization_config.quant_method");
  if (method.empty() && metadata.has_prefix("quantization_config.")) return "unnamed";
  return lower(method);
}

/// Older checkpoints keep the quantization beside config.json; the names in it become those of config.json.
struct LegacyConfig {
  const char* file;
  const char* method;
};
constexpr LegacyConfig kLegacyConfigs[] = {{"quantize_config.json", "gptq"}, {"quant_config.json", "awq"}};

Result<void> add_configs(Host host, const fs::path& folder, Metadata* out) {
  const std::string config = (folder / kConfig).string();
  if (!is_file(config)) return {};
  MORTISE_TRY(file, map_config(host, config));
  MORTISE_CHECK(out->add_json(file.text(), config, ""));
  if (out->has_prefix("quantization_config.")) return {};
  for (const LegacyConfig& legacy : kLegacyConfigs) {
    const std::string path = (folder / legacy.file).string();
    if (!is_file(path)) continue;
    MORTISE_TRY(old, map_config(host, path));
    MORTISE_CHECK(out->add_json(old.text(), path, "quantization_config."));
    out->add_text("quantization_config.quant_method", legacy.method);
    return {};
  }
  return {};
}

}  // namespace

class FolderReader {
 public:
  FolderReader(Host host, bool accept_header_only) : host_(host), header_only_(accept_header_only) {}

  Result<Folder> run(std::string_view path) {
    out_.host_ = host_;
    out_.path_ = std::string(path);
    std::error_code ignored;
    if (fs::is_directory(out_.path_, ignored)) {
      MORTISE_CHECK(read_folder(out_.path_));
    } else {
      MORTISE_CHECK(read_file(out_.path_));
    }
    return std::move(out_);
  }

 private:
  Result<void> read_folder(const fs::path& folder) {
    MORTISE_CHECK(read_companions(folder));
    MORTISE_TRY(shards, list_shards(host_, folder.string()));
    for (const std::string& name : shards.files) MORTISE_CHECK(read_shard((folder / name).string()));
    for (const auto& [tensor, file] : shards.weight_map) {
      const RawTensor* found = out_.find(tensor);
      if (found != nullptr && fs::path(out_.file_paths_[found->file]).filename() == file) continue;
      return fail(Code::bad_data, shards.index_path,
                  "the index names the tensor " + in_quotes(tensor) + ", which is not in " + in_quotes(file) +
                      "; fetch the model again");
    }
    if (out_.tensors_.empty() && out_.blobs_.empty())
      return fail(Code::bad_data, out_.path_, "holds neither *.safetensors nor a tokenizer; is it a model?");
    return {};
  }

  Result<void> read_file(const std::string& path) {
    MORTISE_TRY(file, map_file(host_, path));
    const std::string_view kind = tokenizer_file_kind(file.text());
    if (!kind.empty()) {
      out_.blobs_.emplace(kind, file.bytes);
      return {};
    }
    const fs::path above = fs::path(path).parent_path();
    const fs::path parent = above.empty() ? fs::path(".") : above;
    MORTISE_TRY(is_part, is_shard(parent, fs::path(path).filename().string()));
    if (is_part) return read_folder(parent);
    MORTISE_CHECK(read_companions(parent));
    return read_shard(path);
  }

  /// One of several files that an index beside it names: then all of them are the model.
  Result<bool> is_shard(const fs::path& folder, const std::string& name) const {
    if (!is_file(folder / kIndexName)) return false;
    MORTISE_TRY(shards, list_shards(host_, folder.string()));
    return shards.files.size() > 1 &&
           std::find(shards.files.begin(), shards.files.end(), name) != shards.files.end();
  }

  Result<void> read_companions(const fs::path& folder) {
    out_.config_path_ = (folder / kConfig).string();
    MORTISE_CHECK(add_configs(host_, folder, &out_.metadata_));
    for (const char* name :
         {kConfig, "generation_config.json", "tokenizer_config.json", "chat_template.jinja", "tokenizer.json",
          "tekken.json", "special_tokens_map.json", "added_tokens.json"})
      MORTISE_CHECK(add_blob(folder / name, name));
    for (const auto& [name, prefix] : {std::pair("generation_config.json", "generation_config."),
                                       std::pair("tokenizer_config.json", "tokenizer_config.")}) {
      const mortise_bytes json = out_.blob(name);
      if (json.data == nullptr) continue;
      MORTISE_CHECK(check_size(json.size, (folder / name).string()));
      MORTISE_CHECK(out_.metadata_.add_json({reinterpret_cast<const char*>(json.data), json.size},
                                            (folder / name).string(), prefix, "added_tokens_decoder"));
    }
    return add_vocabularies(folder);
  }

  /// Files whose name does not say what is in them: tokenizer.model is SentencePiece's or tiktoken's.
  Result<void> add_vocabularies(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      const fs::path& path = at->path();
      const std::string name = path.filename().string();
      if (path.extension() == ".model" || path.extension() == ".tiktoken" ||
          (name.rfind("tekken", 0) == 0 && path.extension() == ".json"))
        if (is_file(path)) found.push_back(path);
    }
    std::sort(found.begin(), found.end());
    for (const fs::path& path : found) {
      MORTISE_TRY(file, map_file(host_, path.string()));
      const std::string_view kind = tokenizer_file_kind(file.text());
      if (!kind.empty()) out_.blobs_.emplace(kind, file.bytes);
    }
    return {};
  }

  Result<void> add_blob(const fs::path& path, const char* name) {
    if (!is_file(path)) return {};
    MORTISE_TRY(file, map_file(host_, path.string()));
    out_.blobs_.emplace(name, file.bytes);
    return {};
  }

  Result<void> read_shard(const std::string& path) {
    MORTISE_TRY(file, map_file(host_, path));
    MORTISE_TRY(header, read_header(file.bytes.data, file.bytes.size, path, file.handle, header_only_));
    if (out_.tensors_.size() + header.tensors.size() > kTensorsMax)
      return fail(Code::limit, path, "more than " + std::to_string(kTensorsMax) + " tensors in the model");
    out_.file_paths_[file.handle] = path;
    out_.files_[file.handle] = file.bytes;
    out_.headers_.push_back(std::move(header));
    for (const RawTensor& tensor : out_.headers_.back().tensors) {
      if (!out_.by_name_.emplace(tensor.name, &tensor).second)
        return out_.bad(tensor,
                        "tensor " + in_quotes(tensor.name) + " stands in two files; keep one of them");
      out_.tensors_.push_back(&tensor);
    }
    for (auto& [key, value] : out_.headers_.back().metadata)
      out_.metadata_.add_text("__metadata__." + key, std::move(value));
    return {};
  }

  Host host_;
  bool header_only_;
  Folder out_;
};

Result<Folder> Folder::open(Host host, std::string_view path, bool accept_header_only) {
  return FolderReader(host, accept_header_only).run(path);
}

const RawTensor* Folder::find(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? nullptr : at->second;
}

mortise_bytes Folder::blob(std::string_view name) const {
  const auto at = blobs_.find(name);
  return at == blobs_.end() ? mortise_bytes{nullptr, 0} : at->second;
}

mortise_bytes Folder::data(const RawTensor& tensor) const {
  const auto at = files_.find(tensor.file);
  if (at == files_.end() || tensor.offset > at->second.size ||
      tensor.length > at->second.size - tensor.offset)
    return {nullptr, 0};
  return {at->second.data + tensor.offset, tensor.length};
}

std::string Folder::quant_method() const { return quant_method_of(metadata_); }

tl::unexpected<Error> Folder::bad(const RawTensor& tensor, std::string message) const {
  const auto at = file_paths_.find(tensor.file);
  return fail(Code::bad_data, at == file_paths_.end() ? path_ : at->second, std::move(message),
              tensor.described_at);
}

tl::unexpected<Error> Folder::bad(std::string message) const {
  return fail(Code::bad_data, config_path_.empty() ? path_ : config_path_, std::move(message));
}

Glance glance(Host host, std::string_view path, std::string_view head) {
  Glance out;
  const fs::path file(path);
  std::error_code error;
  const bool is_folder = fs::is_directory(file, error);
  if (is_folder) {
    bool has_tokenizer = false;
    for (fs::directory_iterator at(file, error), end; !error && at != end; at.increment(error)) {
      const fs::path& entry = at->path();
      if (entry.extension() == ".safetensors") out.kind = Glance::safetensors;
      has_tokenizer = has_tokenizer || entry.extension() == ".model" || entry.extension() == ".tiktoken" ||
                      entry.filename() == "tokenizer.json" || entry.filename() == "tekken.json";
    }
    if (out.kind == Glance::other && has_tokenizer) out.kind = Glance::tokenizer_only;
  } else if (!tokenizer_file_kind(head).empty()) {
    out.kind = Glance::tokenizer_only;
  } else if (file.extension() == ".safetensors" ||
             (head.size() > 8 && head.substr(6, 3) == std::string_view("\0\0{", 3))) {
    out.kind = Glance::safetensors;
  }
  if (out.kind != Glance::safetensors) return out;
  Metadata metadata;
  const fs::path folder = is_folder ? file : file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (add_configs(host, folder, &metadata)) out.quant_method = quant_method_of(metadata);
  return out;
}

}  // namespace mortise::hf

// A hub folder (config.json, *.safetensors, tokenizer files), one .safetensors file or one tokenizer file,
// opened: raw tensors, metadata and blobs.
// Thread rule: opened on a [load] thread, then constant. Flow: a weights plugin opens it and composes its
// tensors from the raw ones (model.h).
#pragma once
#include <mortise/cpp/part.h>
#include <mortise/weights.h>

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hf/header.h"
#include "hf/metadata.h"

namespace mortise::hf {

class Folder {
 public:
  /// Maps and checks what `path` names. Errors: file and offset. `accept_header_only` as read_header.
  static Result<Folder> open(Host host, std::string_view path, bool accept_header_only);

  /// Ordered by file, then by place in it. Addresses stay as long as the Folder, also when it is moved.
  const std::vector<const RawTensor*>& tensors() const { return tensors_; }
  /// Null where absent.
  const RawTensor* find(std::string_view name) const;

  const Metadata& metadata() const { return metadata_; }
  /// A companion file by its canonical name; null data where absent.
  mortise_bytes blob(std::string_view name) const;

  /// `quantization_config.quant_method` in lower case; empty where the model is not quantized.
  std::string quant_method() const;

  /// The bytes of a tensor, for what must be looked at before the host maps planes; null data where the file
  /// ends before them.
  mortise_bytes data(const RawTensor& tensor) const;

  /// bad_data at the place where the header describes `tensor`.
  tl::unexpected<Error> bad(const RawTensor& tensor, std::string message) const;
  /// bad_data of the config or the model as a whole.
  tl::unexpected<Error> bad(std::string message) const;
  const std::string& path() const { return path_; }
  /// For a line in the log about what is left out of account.
  Host host() const { return host_; }

 private:
  friend class FolderReader;

  Host host_{nullptr};
  std::string path_;
  std::string config_path_;
  Metadata metadata_;
  std::deque<Header> headers_;
  std::map<uint32_t, std::string> file_paths_;  // by handle
  std::map<uint32_t, mortise_bytes> files_;     // the same
  std::vector<const RawTensor*> tensors_;
  std::unordered_map<std::string_view, const RawTensor*> by_name_;
  std::map<std::string, mortise_bytes, std::less<>> blobs_;
};

/// What a probe can know at once: is `path` (`head` as in mortise_weights.probe) a hub folder, a .safetensors
/// file or a tokenizer file, and how is it quantized? Never fails.
struct Glance {
  enum Kind { other, safetensors, tokenizer_only };
  Kind kind = other;
  std::string quant_method;  ///< as Folder::quant_method
};
Glance glance(Host host, std::string_view path, std::string_view head);

}  // namespace mortise::hf

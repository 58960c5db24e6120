// A model in one file or in the parts of a split: NAME-00001-of-00003.gguf and its fellows.
// Thread rule: [load]. Flow: model.cc opens a path through it; the header of each part is read by parse.cc.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "file.h"

namespace gguf {

/// An opened file: its checked header, and the host's handle of its mapping.
struct Part {
  File file;
  uint32_t handle;
};

/// Maps the file at a path and reads its header.
using OpenPart = std::function<Result<Part>(const std::string& path)>;

/// The file at `path`, or, where it is any part of a split, all parts in their order. The first part holds
/// the model's metadata. Errors: those of `open`, a missing part by name and number, parts that contradict
/// each other, a tensor that two parts hold, more tensors or parts than the limits.
Result<std::vector<Part>> open_parts(const std::string& path, const OpenPart& open);

}  // namespace gguf

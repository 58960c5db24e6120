// Finds and checks the parts of a split model. Thread rule: [load]. Flow: see split.h; the rules are those of
// docs/formats/gguf.md.
#include "split.h"

#include <cstdio>
#include <unordered_map>

namespace gguf {
namespace {

using mortise::Code;
using mortise::fail;

/// What the keys split.* of one part say; -1 where a key is absent.
struct Split {
  int64_t number = -1, count = -1, tensors = -1;
};

Result<int64_t> integer(const File& file, std::string_view key) {
  const Entry* entry = file.find_entry(key);
  if (entry == nullptr) return -1;
  MORTISE_TRY(value, Value::of(file, *entry));
  const mortise_meta meta = value.meta();
  if (meta.type != MORTISE_INT || meta.is_array != 0)
    return fail(Code::bad_data, file.where, std::string(key) + " must be an integer", entry->at);
  const int64_t number = *static_cast<const int64_t*>(meta.data);
  if (number < 0)
    return fail(Code::bad_data, file.where,
                std::string(key) + " is " + std::to_string(number) + "; the file is damaged", entry->at);
  return number;
}

Result<Split> split_of(const File& file) {
  MORTISE_TRY(number, integer(file, "split.no"));
  MORTISE_TRY(count, integer(file, "split.count"));
  MORTISE_TRY(tensors, integer(file, "split.tensors.count"));
  return Split{number, count, tensors};
}

/// "-00002-of-00003.gguf", counted from 1.
std::string suffix(int64_t number, int64_t count) {
  char out[64];
  std::snprintf(out, sizeof(out), "-%05lld-of-%05lld.gguf", static_cast<long long>(number + 1),
                static_cast<long long>(count));
  return out;
}

std::string part_text(int64_t number, int64_t count) {
  return "part " + std::to_string(number + 1) + " of " + std::to_string(count);
}

/// The path without its suffix, which must be the one that the file's own keys call for.
Result<std::string> stem(const File& file, const Split& split) {
  const auto bad = [&](Code code, const std::string& message) { return fail(code, file.where, message); };
  if (split.count > static_cast<int64_t>(kPartsMax))
    return bad(Code::limit, "split.count is " + std::to_string(split.count) + ", above the limit of " +
                                std::to_string(kPartsMax));
  if (split.number < 0 || split.number >= split.count)
    return bad(Code::bad_data,
               "split.no is " + (split.number < 0 ? "missing" : std::to_string(split.number)) +
                   " in a split of " + std::to_string(split.count) + " parts; the file is damaged");
  const std::string want = suffix(split.number, split.count);
  if (file.where.size() <= want.size() ||
      file.where.compare(file.where.size() - want.size(), want.size(), want) != 0)
    return bad(Code::bad_data, "says it is " + part_text(split.number, split.count) +
                                   ", so its name must end in " + want + "; give all parts their own names");
  return file.where.substr(0, file.where.size() - want.size());
}

/// Does another part belong to the split that `first` (the part opened first) is of?
Result<void> same_split(const Split& first, const File& file, int64_t number) {
  MORTISE_TRY(split, split_of(file));
  const std::string what = part_text(number, first.count);
  const auto bad = [&](const std::string& key, int64_t has, int64_t want) {
    return fail(
        Code::bad_data, file.where,
        "is " + what + " by its name, but its " + key +
            (has < 0 ? " is missing" : " is " + std::to_string(has) + ", not " + std::to_string(want)) +
            "; the parts are of different splits: download them again");
  };
  if (split.number != number) return bad("split.no", split.number, number);
  if (split.count != first.count) return bad("split.count", split.count, first.count);
  if (split.tensors >= 0 && first.tensors >= 0 && split.tensors != first.tensors)
    return bad("split.tensors.count", split.tensors, first.tensors);
  return {};
}

Result<void> check_tensors(const std::vector<Part>& parts, const Split& split) {
  uint64_t count = 0;
  for (const Part& part : parts) count += part.file.tensors.size();
  const std::string& where = parts[0].file.where;
  if (split.tensors >= 0 && count != static_cast<uint64_t>(split.tensors))
    return fail(Code::bad_data, where,
                "split.tensors.count is " + std::to_string(split.tensors) + ", but the parts hold " +
                    std::to_string(count) +
                    " tensors; the parts are of different splits: download them again");
  if (count > kTensorsMax)
    return fail(Code::limit, where,
                "the parts hold " + std::to_string(count) + " tensors, above the limit of " +
                    std::to_string(kTensorsMax));
  std::unordered_map<std::string_view, const File*> owner;
  owner.reserve(count);
  for (const Part& part : parts)
    for (const Tensor& tensor : part.file.tensors) {
      const auto [at, fresh] = owner.emplace(tensor.name, &part.file);
      if (!fresh)
        return fail(Code::bad_data, part.file.where,
                    "tensor " + quoted(tensor.name) + " is also in " + at->second->where +
                        "; the parts are of different splits: download them again");
    }
  return {};
}

}  // namespace

Result<std::vector<Part>> open_parts(const std::string& path, const OpenPart& open) {
  MORTISE_TRY(given, open(path));
  MORTISE_TRY(split, split_of(given.file));
  std::vector<Part> parts;
  if (split.count <= 1) {
    parts.push_back(std::move(given));
    return parts;
  }
  MORTISE_TRY(name, stem(given.file, split));
  for (int64_t number = 0; number < split.count; ++number) {
    if (number == split.number) {
      parts.push_back(std::move(given));
      continue;
    }
    auto part = open(name + suffix(number, split.count));
    if (!part) {
      mortise::Error error = part.error();
      error.message = part_text(number, split.count) + " of the model: " + error.message;
      return mortise::pass(std::move(error));
    }
    MORTISE_CHECK(same_split(split, part->file, number));
    parts.push_back(std::move(*part));
  }
  MORTISE_CHECK(check_tensors(parts, split));
  return parts;
}

}  // namespace gguf

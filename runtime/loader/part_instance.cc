// An instance of a part; see part_instance.h. Thread rule: [load]. Flow: create ... destroy.
#include "loader/part_instance.h"

#include <fmt/format.h>

#include <cassert>
#include <exception>
#include <utility>

namespace mortise {
namespace {

// Exceptions must not leave a plugin; where one does, it costs the call and not the process.
Result<void> call_create(const mortise_part& part, const mortise_host* host, const Values& values,
                         void** self) {
  mortise_error error = c_error();
  try {
    const mortise_status status = part.create(host, values.data(), self, &error);
    return status == MORTISE_OK ? Result<void>{} : pass(from_c(status, error));
  } catch (const std::exception& e) {
    return fail(Code::internal, "", fmt::format("create let an exception out: {}", e.what()));
  } catch (...) {
    return fail(Code::internal, "", "create let an exception out that is no std::exception");
  }
}

}  // namespace

Result<PartInstance> PartInstance::create(const LoadedPlugin& plugin, const LoadedPart& part,
                                          const mortise_host* host, Values values) {
  assert(values.count() == part.params.list.size());
  PartInstance out(part.part, fmt::format("{}:{}", part.part->kind, part.part->name), std::move(values));
  if (part.part->create == nullptr) return out;
  if (auto done = call_create(*part.part, host, out.values_, &out.self_); !done) {
    Error error = std::move(done.error());
    if (error.where.empty()) error.where = out.name_;
    error.message += fmt::format(" (plugin {} {})", plugin.manifest.id, plugin.manifest.version);
    return pass(std::move(error));
  }
  out.created_ = true;
  return out;
}

PartInstance::PartInstance(PartInstance&& other) noexcept
    : part_(other.part_),
      name_(std::move(other.name_)),
      values_(std::move(other.values_)),
      self_(other.self_),
      created_(std::exchange(other.created_, false)) {}

PartInstance& PartInstance::operator=(PartInstance&& other) noexcept {
  std::swap(part_, other.part_);
  std::swap(name_, other.name_);
  std::swap(values_, other.values_);
  std::swap(self_, other.self_);
  std::swap(created_, other.created_);
  return *this;
}

PartInstance::~PartInstance() {
  if (created_) part_->destroy(self_);
}

}  // namespace mortise

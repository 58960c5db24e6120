// ops/reference: reading the attributes of one use of an operation.
// Thread rule: one thread, [load]. Flow: parse.cc asks for each attribute by name.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/ops.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace ops_reference {

using mortise::Code;
using mortise::Result;

/// Reads the attributes of one use; finish() refuses those that nobody asked for.
class Attributes {
 public:
  explicit Attributes(const mortise_op_desc& desc) : desc_(desc), used_(desc.attr_count, false) {}

  Result<const mortise_attr*> find(std::string_view name, uint32_t type, bool required) {
    for (uint32_t i = 0; i < desc_.attr_count; ++i) {
      const mortise_attr& attr = *desc_.attrs[i];
      if (attr.name != name) continue;
      used_[i] = true;
      if (attr.type != type) return bad("attribute '" + std::string(name) + "' has the wrong type");
      return &attr;
    }
    if (required) return bad("attribute '" + std::string(name) + "' is missing");
    return nullptr;
  }
  Result<float> number(std::string_view name, bool required, double fallback = 1.0) {
    MORTISE_TRY(attr, find(name, MORTISE_FLOAT, required));
    const double value = attr == nullptr ? fallback : attr->f;
    if (!std::isfinite(value)) return bad("attribute '" + std::string(name) + "' is not a finite number");
    return static_cast<float>(value);
  }
  Result<int64_t> integer(std::string_view name, bool required, int64_t fallback, int64_t low, int64_t high) {
    MORTISE_TRY(attr, find(name, MORTISE_INT, required));
    const int64_t value = attr == nullptr ? fallback : attr->i;
    if (value < low || value > high)
      return bad("attribute '" + std::string(name) + "' is " + std::to_string(value) + ", not in [" +
                 std::to_string(low) + ", " + std::to_string(high) + "]");
    return value;
  }
  /// Which of `names` a text attribute is.
  template <size_t N>
  Result<size_t> choice(std::string_view name, const std::string_view (&names)[N]) {
    MORTISE_TRY(attr, find(name, MORTISE_STRING, true));
    const std::string_view value = attr->s == nullptr ? "" : attr->s;
    std::string known;
    for (size_t i = 0; i < N; ++i) {
      if (names[i] == value) return i;
      known += (i == 0 ? "" : ", ") + std::string(names[i]);
    }
    return bad("attribute '" + std::string(name) + "': '" + std::string(value) + "' is unknown; known are " +
               known);
  }
  /// A list of finite numbers; empty where it is absent.
  Result<std::vector<double>> list(std::string_view name, bool required) {
    MORTISE_TRY(attr, find(name, MORTISE_LIST, required));
    if (attr == nullptr) return std::vector<double>();
    if (attr->count == 0) return bad("attribute '" + std::string(name) + "' is empty");
    std::vector<double> out(attr->values, attr->values + attr->count);
    for (const double f : out)
      if (!std::isfinite(f))
        return bad("attribute '" + std::string(name) + "' holds a number that isn't finite");
    return out;
  }
  Result<void> finish() const {
    for (uint32_t i = 0; i < desc_.attr_count; ++i)
      if (!used_[i]) return bad("unknown attribute '" + std::string(desc_.attrs[i]->name) + "'");
    return {};
  }
  tl::unexpected<mortise::Error> bad(std::string message) const {
    return mortise::fail(Code::bad_argument, desc_.op, std::move(message));
  }

 private:
  const mortise_op_desc& desc_;
  std::vector<bool> used_;
};

}  // namespace ops_reference

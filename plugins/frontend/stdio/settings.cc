// Setting and listing request parameters.
// Thread rule: one thread. Flow: see settings.h.
#include "settings.h"

namespace mortise::stdio {
namespace {

template <class Visit>
void for_each_parameter(const mortise_engine* engine, Visit visit) {
  uint32_t count = 0;
  const mortise_param* const* all = engine->parameters(engine->ctx, &count);
  for (uint32_t i = 0; i < count; ++i)
    if ((all[i]->flags & MORTISE_PARAM_REQUEST) != 0) visit(*all[i]);
}

}  // namespace

Result<void> Settings::set(const std::string& name, std::string_view value) {
  bool known = false;
  for_each_parameter(engine_, [&](const mortise_param& param) { known = known || name == param.name; });
  if (!known) return fail(Code::bad_argument, name, "is no parameter of this pipeline; /show lists them");
  if (value.empty()) {
    values_.erase(name);
    return {};
  }
  auto parsed = json::parse(value);
  values_[name] = parsed ? std::move(*parsed) : json::Value(std::string(value));
  return {};
}

std::string Settings::table() const {
  std::string out;
  for_each_parameter(engine_, [&](const mortise_param& param) {
    std::string line = "  ";
    line += param.name;
    if (const auto found = values_.find(param.name); found != values_.end())
      line += " = " + json::dump(*found);
    if (param.range != nullptr) line.append("  ").append(param.range);
    if (param.help != nullptr) line.append("  ").append(param.help);
    out += line + "\n";
  });
  return out;
}

}  // namespace mortise::stdio

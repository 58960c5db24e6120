// Chooser: the order of choice, the same for weights and operations. Thread rule and flow: see chooser.h.
#include "model/chooser.h"

#include <fnmatch.h>

#include <algorithm>
#include <tuple>

#include "config/nearest.h"

namespace mortise {

/// One candidate on its way through the filters.
struct Chooser::Row {
  uint32_t provider = 0, claim = 0;
  const Provider* plugin = nullptr;
  std::string lost;  // the hard filter that it fails; empty: none
  bool exact = true;
  int tier = 0;

  auto rank() const {
    return std::make_tuple(!exact, !plugin->shipped, tier, std::string_view(plugin->name));
  }
};

namespace {

int tier_rank(const char* tier) {
  const std::string_view t = tier == nullptr ? "" : tier;
  return t == "tuned" ? 0 : t == "portable" ? 1 : 2;
}

/// Why `winner` stands before `loser`: the first step of the order in which they differ.
template <class Row>
std::string lost_to(const Row& winner, const Row& loser) {
  const std::string by = "'" + winner.plugin->name + "' ";
  if (winner.exact != loser.exact) return by + "claims the format itself";
  if (winner.plugin->shipped != loser.plugin->shipped)
    return by + "is shipped with the host; a pin would choose this one";
  if (winner.tier != loser.tier) return by + "has a better tier";
  return by + "comes first by name";
}

}  // namespace

std::string_view without_revision(std::string_view id) { return id.substr(0, id.rfind('/')); }

Chooser::Chooser(const Pipeline& pipeline, std::vector<Provider> linear, std::vector<Provider> ops,
                 std::vector<std::string> isa)
    : pipeline_(pipeline), linear_(std::move(linear)), ops_(std::move(ops)), isa_(isa.begin(), isa.end()) {}

Result<void> Chooser::check_filters(const std::vector<std::string>& formats) const {
  std::vector<std::string> plugins, ids = formats;
  for (const Provider& p : linear_) plugins.push_back(p.name);
  for (const Provider& p : ops_) {
    plugins.push_back(p.name);
    uint32_t count = 0;
    const mortise_op_claim* const* claims = p.table<mortise_ops>().claims(p.self, &count);
    for (uint32_t i = 0; i < count; ++i) ids.emplace_back(without_revision(claims[i]->op));
  }
  std::sort(plugins.begin(), plugins.end());
  plugins.erase(std::unique(plugins.begin(), plugins.end()), plugins.end());
  const auto known = [](const std::vector<std::string>& all, std::string_view name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  for (const Pin& pin : pipeline_.kernels.pin) {
    if (pin.id != "*" && !known(ids, pin.id))
      return fail(
          Code::bad_argument, pin.where,
          "kernels.pin: '" + pin.id + "' is no known format or operation; " + suggest_name(pin.id, ids));
    if (!known(plugins, pin.plugin))
      return fail(Code::bad_argument, pin.where,
                  "kernels.pin: no linear or ops plugin '" + pin.plugin + "' is installed; " +
                      suggest_name(pin.plugin, plugins));
  }
  for (const auto& name : pipeline_.kernels.deny)
    if (name.value != "*" && !known(plugins, name.value))
      return fail(Code::bad_argument, name.where,
                  "kernels.deny: no linear or ops plugin '" + name.value + "' is installed; " +
                      suggest_name(name.value, plugins));
  return {};
}

bool pin_matches(const Pin& pin, std::string_view id, std::string_view tensor) {
  return (pin.id == "*" || pin.id == id) &&
         (pin.tensor.empty() || fnmatch(pin.tensor.c_str(), std::string(tensor).c_str(), 0) == 0);
}

const Pin* Chooser::pin_for(std::string_view id, std::string_view tensor) const {
  const Pin* best = nullptr;
  int best_rank = -1;
  for (const Pin& pin : pipeline_.kernels.pin) {
    if (!pin_matches(pin, id, tensor)) continue;
    const int rank = (pin.id == "*" ? 0 : 2) + (pin.tensor.empty() ? 0 : 1);
    if (rank >= best_rank) best = &pin, best_rank = rank;  // of equals the later one
  }
  return best;
}

bool Chooser::denied(const std::string& plugin) const {
  const auto& deny = pipeline_.kernels.deny;
  return std::any_of(deny.begin(), deny.end(),
                     [&](const auto& name) { return name.value == "*" || name.value == plugin; });
}

std::string Chooser::unmet_isa(const char* isa) const {
  std::string_view rest = isa == nullptr ? "" : isa;
  while (!rest.empty()) {
    const size_t blank = rest.find(' ');
    const std::string_view feature = rest.substr(0, blank);
    if (!feature.empty() && isa_.find(feature) == isa_.end())
      return "isa: the processor lacks " + std::string(feature);
    rest = blank == std::string_view::npos ? "" : rest.substr(blank + 1);
  }
  return "";
}

std::string Chooser::linear_filter(const Provider& provider, uint32_t claim_index,
                                   const LinearNeed& need) const {
  uint32_t count = 0;
  const auto& table = provider.table<mortise_linear>();
  const mortise_linear_claim& claim = *table.claims(provider.self, &count)[claim_index];
  const std::string_view format = claim.format;
  if (format != "*" && format != need.desc->tensor->format) return "format: claims " + std::string(format);
  if (pipeline_.placement.device.value != claim.device) return "device: runs on " + std::string(claim.device);
  if (std::string missing = unmet_isa(claim.isa); !missing.empty()) return missing;
  if ((need.features & ~claim.features) != 0) return "features: lacks what this weight needs";
  if (pipeline_.engine.deterministic && claim.batch_invariant == 0)
    return "deterministic: not batch-invariant";
  for (const Dropped& d : dropped_)
    if (&linear_[d.provider] == &provider && d.claim == claim_index && d.format == need.desc->tensor->format)
      return "probe: " + d.reason;
  mortise_error error = c_error();
  const mortise_status status = table.accepts(provider.self, claim_index, need.desc, &error);
  return status == MORTISE_OK ? "" : "accepts: " + from_c(status, error).text();
}

Result<Choice> Chooser::linear(const LinearNeed& need) const {
  std::vector<Row> rows;
  for (uint32_t p = 0; p < linear_.size(); ++p) {
    uint32_t count = 0;
    const mortise_linear_claim* const* claims =
        linear_[p].table<mortise_linear>().claims(linear_[p].self, &count);
    Row best;
    for (uint32_t c = 0; c < count; ++c) {
      Row row{p,
              c,
              &linear_[p],
              linear_filter(linear_[p], c, need),
              std::string_view(claims[c]->format) != "*",
              tier_rank(claims[c]->tier)};
      // A plugin is one candidate: its best claim, or else what is wrong with the one for this format.
      const bool better = best.plugin == nullptr ||
                          (row.lost.empty() && (!best.lost.empty() || row.rank() < best.rank())) ||
                          (!best.lost.empty() && best.lost.starts_with("format:"));
      if (better) best = std::move(row);
    }
    if (best.plugin != nullptr) rows.push_back(std::move(best));
  }
  const std::string_view name = view(need.desc->tensor->name);
  const std::string_view id = without_revision(need.desc->tensor->format);
  return pick(std::move(rows), pin_for(id, name), std::string(name) + " (" + std::string(id) + ")");
}

Result<Choice> Chooser::op(std::string_view id) const {
  std::vector<Row> rows;
  for (uint32_t p = 0; p < ops_.size(); ++p) {
    uint32_t count = 0;
    const mortise_op_claim* const* claims = ops_[p].table<mortise_ops>().claims(ops_[p].self, &count);
    for (uint32_t c = 0; c < count; ++c) {
      const mortise_op_claim& claim = *claims[c];
      if (id != claim.op) continue;
      Row row{p, c, &ops_[p], unmet_isa(claim.isa), true, tier_rank(claim.tier)};
      if (pipeline_.placement.device.value != claim.device)
        row.lost = "device: runs on " + std::string(claim.device);
      if (pipeline_.engine.deterministic && claim.batch_invariant == 0)
        row.lost = "deterministic: not batch-invariant";
      rows.push_back(std::move(row));
    }
  }
  // A pin of every format ("*") is about weights; operations are pinned by their id.
  const Pin* pin = pin_for(without_revision(id), "");
  if (pin != nullptr && pin->id == "*") pin = nullptr;
  return pick(std::move(rows), pin, std::string(id));
}

Result<Choice> Chooser::pick(std::vector<Row> rows, const Pin* pin, const std::string& what) const {
  Choice out;
  const Row* winner = nullptr;
  if (pin != nullptr) {
    std::string why_not = "it does not offer this";
    for (const Row& row : rows)
      if (row.plugin->name == pin->plugin) {
        if (row.lost.empty() && !denied(row.plugin->name)) winner = &row;
        why_not = row.lost.empty() ? "kernels.deny names it" : row.lost;
      }
    if (winner == nullptr)
      return fail(Code::bad_argument, pin->where,
                  "the pin of '" + pin->text() + "' to '" + pin->plugin + "' cannot hold for " + what + ": " +
                      why_not + "; remove the pin or name another plugin");
    out.pinned_at = pin->where;
    out.why = "pinned by '" + pin->text() + "'";
  } else {
    for (const Row& row : rows)
      if (row.lost.empty() && !denied(row.plugin->name) && (winner == nullptr || row.rank() < winner->rank()))
        winner = &row;
    if (winner != nullptr)
      out.why =
          winner->exact ? "claims it; first in the order of choice" : "runs any format through its decoder";
  }
  std::string filters;
  for (const Row& row : rows) {
    std::string reason = row.lost;
    if (&row == winner)
      reason = out.why;
    else if (reason.empty() && denied(row.plugin->name))
      reason = "deny: kernels.deny names it";
    else if (reason.empty() && pin != nullptr)
      reason = "pin: '" + pin->text() + "' names '" + pin->plugin + "'";
    else if (reason.empty())
      reason = lost_to(*winner, row);
    filters += (filters.empty() ? "" : ", ") + row.plugin->name + " (" + reason + ")";
    out.candidates.push_back({row.plugin->name, std::move(reason)});
  }
  if (winner == nullptr) {
    const auto& deny = pipeline_.kernels.deny;
    const bool by_deny = std::any_of(rows.begin(), rows.end(), [&](const Row& r) { return r.lost.empty(); });
    return fail(Code::bad_argument, by_deny ? deny.front().where : pipeline_.source,
                "nothing is left to run " + what +
                    (filters.empty() ? ": no plugin offers it" : ": " + filters) +
                    (by_deny ? "; loosen kernels.deny" : "; install a plugin that does"));
  }
  out.provider = winner->provider;
  out.claim = winner->claim;
  return out;
}

}  // namespace mortise

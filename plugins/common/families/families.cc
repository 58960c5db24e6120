// Look-ups in the tables of families. Thread rule and flow: see families.h.
#include "families/families.h"

#include <mortise/cpp/result.h>

#include <algorithm>
#include <iterator>

namespace mortise::families {
namespace {

constexpr Family kFamilies[] = {
#include "families/families.inc"
};

struct Pair {
  std::string_view gguf, hf;
  std::string_view in(Dialect dialect) const { return dialect == Dialect::gguf ? gguf : hf; }
};
constexpr Pair kRoleNames[] = {
#define MORTISE_ROLE(role, gguf, hf) {gguf, hf},
#include "families/roles.inc"
#undef MORTISE_ROLE
};
constexpr Pair kKeyNames[] = {
#define MORTISE_KEY(key, gguf, hf) {gguf, hf},
#include "families/keys.inc"
#undef MORTISE_KEY
};

template <class What>
struct Own {
  std::string_view family;
  What what;
  std::string_view gguf, hf;
};
constexpr Own<Role> kOwnRoles[] = {
#include "families/names.inc"
};
constexpr Own<Key> kOwnKeys[] = {
#include "families/key_names.inc"
};

/// What the family names otherwise, else what all do.
template <class What, class Table>
std::string_view look_up(const Family& family, Dialect dialect, What what, const Table& own,
                         const Pair* common) {
  for (const auto& row : own)
    if (row.family == family.name && row.what == what) return Pair{row.gguf, row.hf}.in(dialect);
  return common[static_cast<size_t>(what)].in(dialect);
}

bool is_one_of(std::string_view list, std::string_view name) {
  const std::vector<std::string_view> all = choices(list);
  return std::find(all.begin(), all.end(), name) != all.end();
}

}  // namespace

std::vector<std::string_view> choices(std::string_view list) {
  std::vector<std::string_view> out;
  while (!list.empty()) {
    const size_t end = std::min(list.find('|'), list.size());
    out.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

const Family* find_family(Dialect dialect, std::string_view name, bool has_experts) {
  const Family* found = nullptr;
  for (const Family& family : kFamilies) {
    if (!is_one_of(Pair{family.gguf, family.hf}.in(dialect), name)) continue;
    if (family.has(kExperts) == has_experts) return &family;
    if (found == nullptr) found = &family;
  }
  return found;
}

uint64_t family_count() { return std::size(kFamilies); }
const Family& family_at(uint64_t index) { return kFamilies[index]; }

std::string family_names(Dialect dialect) {
  std::string out;
  std::string_view last;
  for (const Family& family : kFamilies) {
    const std::string_view name = choices(Pair{family.gguf, family.hf}.in(dialect)).front();
    if (name != last) out += (out.empty() ? "" : ", ") + std::string(name);
    last = name;
  }
  return out;
}

std::string_view name_template(const Family& family, Dialect dialect, Role role) {
  return look_up(family, dialect, role, kOwnRoles, kRoleNames);
}

std::string_view key_name(const Family& family, Dialect dialect, Key key) {
  return look_up(family, dialect, key, kOwnKeys, kKeyNames);
}

std::string fill(std::string_view name, uint32_t layer, uint32_t expert) {
  std::string out(name);
  const auto replace = [&](std::string_view what, uint32_t number) {
    const size_t at = out.find(what);
    if (at != std::string::npos) out.replace(at, what.size(), std::to_string(number));
  };
  replace("{layer}", layer);
  replace("{expert}", expert);
  return out;
}

std::string bias_name(std::string_view weight) {
  constexpr std::string_view kEnd = ".weight";
  if (weight.size() > kEnd.size() && weight.substr(weight.size() - kEnd.size()) == kEnd)
    return std::string(weight.substr(0, weight.size() - kEnd.size())) + ".bias";
  return std::string(weight) + "_bias";
}

bool is_norm(Role role) {
  switch (role) {
    case Role::output_norm:
    case Role::attn_norm:
    case Role::attn_q_norm:
    case Role::attn_k_norm:
    case Role::attn_post_norm:
    case Role::ffn_norm:
    case Role::ffn_post_norm:
      return true;
    default:
      return false;
  }
}

bool is_permuted(Role role) { return role == Role::attn_q || role == Role::attn_k; }

bool is_transposed(Role role) {
  return role == Role::attn_qkv || role == Role::attn_output || role == Role::ffn_up ||
         role == Role::ffn_down;
}

Names::Names(const mortise_model& model, const Family& family, Dialect dialect)
    : model_(model), family_(family), dialect_(dialect) {
  if (dialect == Dialect::gguf) return;
  const std::string_view table = name_template(family, dialect, Role::token_embd);
  const size_t end = table.find('.') + 1;
  base_ = table.substr(0, end);
  // Saved without the head's class around it, or as the text part of a larger model.
  for (const char* base : {base_.c_str(), "", "language_model.model.", "model.language_model."})
    if (tensor(base + std::string(table.substr(end))) != nullptr) {
      base_ = base;
      return;
    }
}

std::string Names::find(Role role, uint32_t layer, uint32_t expert) const {
  std::string first;
  const std::string_view usual = name_template(family_, dialect_, Role::token_embd);
  const std::string_view prefix = usual.substr(0, usual.find('.') + 1);
  for (const std::string_view choice : choices(name_template(family_, dialect_, role))) {
    std::string name = fill(choice, layer, expert);
    if (dialect_ == Dialect::hf && name.compare(0, prefix.size(), prefix) == 0)
      name.replace(0, prefix.size(), base_);
    if (tensor(name) != nullptr) return name;
    if (first.empty()) first = std::move(name);
  }
  return first;
}

bool Names::has(Role role, uint32_t layer, uint32_t expert) const {
  const std::string name = find(role, layer, expert);
  return !name.empty() && tensor(name) != nullptr;
}

const mortise_tensor* Names::tensor(std::string_view name) const {
  return model_.tensor(model_.ctx, str(name));
}

}  // namespace mortise::families

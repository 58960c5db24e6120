// The names of one frame; see symbols.h.
// Thread rule: one template, one thread. Flow: used by scope.cc.
#include "symbols.h"

namespace mortise::jinja {

int Symbols::slot(const std::string& name) {
  return shared_->slots.emplace(name, static_cast<int>(shared_->slots.size())).first->second;
}

Ref Symbols::find(const std::string& name) const {
  int hops = 0;
  for (const Symbols* s = this; s != nullptr; s = s->parent_, ++hops) {
    if (s->refs_.count(name) != 0) return {hops, s->shared_->slots.at(name)};
  }
  return {};
}

void Symbols::load(const std::string& name) {
  if (find(name).hops >= 0) return;
  refs_.insert(name);
  loads_[name] = {Load::resolve, slot(name), name, {}};
}

void Symbols::store(const std::string& name) {
  stores_.insert(name);
  if (refs_.count(name) != 0) return;
  refs_.insert(name);
  const Ref outer = parent_ != nullptr ? parent_->find(name) : Ref{};
  loads_[name] = {outer.hops >= 0 ? Load::alias : Load::undefined, slot(name), name, outer};
}

int Symbols::declare(const std::string& name) {
  stores_.insert(name);
  refs_.insert(name);
  loads_[name] = {Load::parameter, slot(name), name, {}};
  return slot(name);
}

Symbols Symbols::branch() const {
  shared_->work += refs_.size() + 1;
  if (shared_->work > kMaxScopeWork) {
    raise("too many names and ifs in one place; simplify the template", Code::limit);
  }
  return *this;
}

void Symbols::merge(const std::vector<Symbols>& branches) {
  std::set<std::string> fresh;
  for (const Symbols& branch : branches) {
    for (const std::string& name : branch.stores_) {
      if (stores_.count(name) == 0) fresh.insert(name);
    }
  }
  for (const Symbols& branch : branches) {
    refs_.insert(branch.refs_.begin(), branch.refs_.end());
    stores_.insert(branch.stores_.begin(), branch.stores_.end());
    for (const auto& [name, load] : branch.loads_) loads_[name] = load;
  }
  for (const std::string& name : fresh) {
    const Ref outer = parent_ != nullptr ? parent_->find(name) : Ref{};
    loads_[name] = {outer.hops >= 0 ? Load::alias : Load::resolve, slot(name), name, outer};
  }
}

Frame Symbols::frame() const {
  Frame frame;
  frame.slots = static_cast<int>(shared_->slots.size());
  for (const auto& [name, load] : loads_) frame.loads.push_back(load);
  return frame;
}

}  // namespace mortise::jinja

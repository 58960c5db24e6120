// The names of one frame while a template is resolved: which are parameters, which are read from outside,
// which are set inside. The rules are the reference's, down to its quirks, because templates rely on them.
// Thread rule: one template, one thread. Flow: used by scope.cc between parser and evaluator.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ast.h"

namespace mortise::jinja {

class Symbols {
 public:
  explicit Symbols(const Symbols* parent) : parent_(parent), shared_(std::make_shared<Shared>()) {}

  /// A name is read: where nothing binds it, it comes from the context when the frame is entered.
  void load(const std::string& name);
  /// A name is set: it starts as the outer variable of that name, or undefined.
  void store(const std::string& name);
  /// A name that the frame's owner fills (loop target, macro argument).
  int declare(const std::string& name);
  /// Takes the next slot without binding the name.
  void reserve(const std::string& name) { slot(name); }
  /// The names for one branch of an if.
  Symbols branch() const;
  /// Merges the branches of an if: what only some branches set starts as the outer variable or the context's.
  void merge(const std::vector<Symbols>& branches);
  /// Where the name lives, seen from this frame; hops is -1 where nothing binds it.
  Ref find(const std::string& name) const;
  Frame frame() const;

 private:
  int slot(const std::string& name);
  const Symbols* parent_;
  // Shared by the copies that the branches of an if work on: a name has one slot in its frame.
  struct Shared {
    std::map<std::string, int> slots;
    size_t work = 0;
  };
  std::shared_ptr<Shared> shared_;
  std::set<std::string> refs_;
  std::set<std::string> stores_;
  std::map<std::string, Load> loads_;
};

}  // namespace mortise::jinja

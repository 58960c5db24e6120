// The interfaces that this host serves: what a plugin's `needs` and its parts' interface ids are matched
// against. Thread rule: plain data. Flow: main hands it to the catalog; tests hand in their own.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mortise {

struct Interface {
  std::string id;    // "mortise.draft.sampler/1"
  std::string kind;  // the kind of plugin whose parts implement it; empty: a service that the host offers
};

/// What a host has to offer to a plugin.
struct HostOffer {
  std::vector<Interface> interfaces;
  std::vector<std::string> isa;      // features of the processor, host/isa.h
  std::vector<std::string> devices;  // "cpu"

  /// The interface of that id, or null.
  const Interface* find(std::string_view id) const;
  bool has_kind(std::string_view kind) const;
  std::vector<std::string> kinds() const;
};

/// What this build of the host offers on this machine.
HostOffer host_offer();

}  // namespace mortise

// The interfaces that this host serves; see interfaces.h. Thread rule: plain data. Flow: SDK headers -> one
// table.
#include "loader/interfaces.h"

#include <mortise/arch.h>
#include <mortise/attention.h>
#include <mortise/chat.h>
#include <mortise/engine.h>
#include <mortise/format.h>
#include <mortise/frontend.h>
#include <mortise/linear.h>
#include <mortise/ops.h>
#include <mortise/sampler.h>
#include <mortise/tokenizer.h>
#include <mortise/weights.h>

#include <algorithm>

#include "host/isa.h"

namespace mortise {

const Interface* HostOffer::find(std::string_view id) const {
  const auto found =
      std::find_if(interfaces.begin(), interfaces.end(), [id](const Interface& i) { return i.id == id; });
  return found == interfaces.end() ? nullptr : &*found;
}

bool HostOffer::has_kind(std::string_view kind) const {
  return std::any_of(interfaces.begin(), interfaces.end(),
                     [kind](const Interface& i) { return i.kind == kind; });
}

std::vector<std::string> HostOffer::kinds() const {
  std::vector<std::string> out;
  for (const Interface& interface : interfaces) {
    if (!interface.kind.empty()) out.push_back(interface.kind);
  }
  return out;
}

HostOffer host_offer() {
  // In the order in which data meets the kinds.
  return HostOffer{{{MORTISE_WEIGHTS_ID, "weights"},
                    {MORTISE_FORMAT_ID, "format"},
                    {MORTISE_ARCH_ID, "arch"},
                    {MORTISE_LINEAR_ID, "linear"},
                    {MORTISE_OPS_ID, "ops"},
                    {MORTISE_ATTENTION_ID, "attention"},
                    {MORTISE_TOKENIZER_ID, "tokenizer"},
                    {MORTISE_CHAT_ID, "chat"},
                    {MORTISE_SAMPLER_ID, "sampler"},
                    {MORTISE_FRONTEND_ID, "frontend"},
                    {MORTISE_ENGINE_ID, ""},
                    {MORTISE_TEXT_ID, ""}},
                   isa_features(),
                   {"cpu"}};
}

}  // namespace mortise

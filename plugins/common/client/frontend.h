// The table of a front end that is a C++ class.
// Thread rule: as frontend.h says of each function. Flow: used in a front end's plugin.cc, beside make_part.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/frontend.h>

#include "client/streams.h"

namespace mortise::client {

/// The functions of Self: `Result<void> run(const mortise_services&)`, `Control& control()`,
/// `uint32_t needs() const`, and where it has them `Result<void> check()` and `bool interrupt()`.
template <class Self>
constexpr mortise_frontend make_frontend(uint64_t suits = 0) {
  mortise_frontend table{};
  table.size = sizeof(table);
  table.needs = [](void* self) -> uint32_t { return static_cast<const Self*>(self)->needs(); };
  if constexpr (requires(Self & self) { self.check(); })
    table.check = [](void* self, mortise_error* error) {
      return guard(error, [&] { return static_cast<Self*>(self)->check(); });
    };
  table.run = [](void* self, const mortise_services* services, mortise_error* error) {
    return guard(error, [&] { return static_cast<Self*>(self)->run(*services); });
  };
  table.drain = [](void* self, uint32_t deadline_ms) {
    static_cast<Self*>(self)->control().drain(deadline_ms);
  };
  table.stop = [](void* self) { static_cast<Self*>(self)->control().stop(); };
  if constexpr (requires(Self & self) { self.interrupt(); })
    table.interrupt = [](void* self) -> int32_t { return static_cast<Self*>(self)->interrupt() ? 1 : 0; };
  table.suits = suits;
  return table;
}

}  // namespace mortise::client

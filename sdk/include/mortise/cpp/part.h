// Registration of a part in C++: an instance class becomes create and destroy, and errors become C errors.
// Thread rule: as the part's own. Flow: used in a plugin's plugin.cc, beside MORTISE_PLUGIN.
#pragma once
#include <mortise/cpp/params.h>
#include <mortise/cpp/result.h>
#include <mortise/plugin.h>

#include <string_view>

namespace mortise {
inline namespace v1 __attribute__((visibility("hidden"))) {

  /// The host's table with C++ types. Copyable; the table outlives the instance.
  class Host {
   public:
    explicit Host(const mortise_host* host) : host_(host) {}
    const mortise_host* c() const { return host_; }
    void log(int level, std::string_view line) const { host_->log(host_->ctx, level, str(line)); }
    bool has_isa(const char* feature) const { return host_->has_isa(host_->ctx, str(feature)) != 0; }
    uint64_t now_ns() const { return host_->now_ns(host_->ctx); }
    uint32_t workers() const { return host_->workers; }

   private:
    const mortise_host* host_;
  };

  /// create and destroy for `Self(Host, const Params&)`; an exception of the constructor becomes an error.
  /// Where Self has `static Result<std::unique_ptr<Self>> make(Host, const Params&)`, that is called instead.
  template <class Self, class Params>
  struct Instance {
    static mortise_status create(const mortise_host* host, const mortise_value* values, void** self,
                                 mortise_error* error) noexcept {
      return guard(error, [&]() -> Result<void> {
        if constexpr (requires { Self::make(Host(host), Params::from(values)); }) {
          MORTISE_TRY(made, Self::make(Host(host), Params::from(values)));
          *self = made.release();
        } else {
          *self = new Self(Host(host), Params::from(values));
        }
        return {};
      });
    }
    static void destroy(void* self) noexcept { delete static_cast<Self*>(self); }
  };

  /// The descriptor of a part; `table` is the kind's struct of functions and outlives everything.
  template <class Self, class Params = NoParams>
  constexpr mortise_part make_part(const char* kind, const char* name, const char* interface_id,
                                   const char* help, const void* table) {
    return mortise_part{sizeof(mortise_part),
                        Params::count(),
                        kind,
                        name,
                        interface_id,
                        help,
                        Params::declared(),
                        table,
                        &Instance<Self, Params>::create,
                        &Instance<Self, Params>::destroy};
  }

}  // namespace )
}  // namespace mortise

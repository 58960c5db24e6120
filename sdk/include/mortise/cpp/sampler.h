// What makes a sampler short: its registration, and the C table around a class.
// Thread rule: [worker]; a sampler has no state. Flow: the host's chain calls
// mortise_sampler.apply, which wraps each row in Candidates and calls the sampler's own `apply`.
//
//   struct MinP {
//     using Params = MinPParams;  // from MORTISE_PARAMS; the defaults are the sampler's identity
//     static bool is_identity(const Params& p);
//     static void apply(Candidates& c, const Params& p);
//     static Result<void> check(const Params& p, uint32_t vocab);  // may be left out
//   };
//   MORTISE_SAMPLER("vendor.min_p", "1.0", "Apache-2.0", "min_p", MinP, "one line of help");
#pragma once
#include <mortise/cpp/candidates.h>
#include <mortise/cpp/params.h>
#include <mortise/cpp/result.h>
#include <mortise/sampler.h>

namespace mortise {
inline namespace v1 __attribute__((visibility("hidden"))) {

  /// The C table of a sampler, and its part: no instance, for all it needs comes with each row.
  template <class Sampler>
  struct SamplerTable {
    using Params = typename Sampler::Params;
    static int32_t is_identity(void*, const mortise_value* values) noexcept {
      return Sampler::is_identity(Params::from(values)) ? 1 : 0;
    }
    static uint64_t state_bytes(void*, const mortise_value*) noexcept { return 0; }
    static mortise_status apply(void*, mortise_sample_row* const* rows, uint32_t count,
                                mortise_error* error) noexcept {
      return guard(error, [&]() -> Result<void> {
        for (uint32_t r = 0; r < count; ++r) {
          Candidates candidates(*rows[r]);
          Sampler::apply(candidates, Params::from(rows[r]->values));
        }
        return {};
      });
    }
    static mortise_status check(void*, const mortise_value* values, uint32_t vocab,
                                mortise_error* error) noexcept {
      return guard(error, [&]() -> Result<void> {
        if constexpr (requires { Sampler::check(Params::from(values), vocab); })
          return Sampler::check(Params::from(values), vocab);
        return {};
      });
    }
    static constexpr mortise_sampler table{
        sizeof(mortise_sampler), 0, &is_identity, &state_bytes, &apply, nullptr, &check};
    static constexpr mortise_part part(const char* name, const char* help) {
      return {sizeof(mortise_part), Params::count(), "sampler", name,   MORTISE_SAMPLER_ID, help,
              Params::declared(),   &table,          nullptr,   nullptr};
    }
  };

}  // namespace )
}  // namespace mortise

/// The whole registration of a plugin that offers one sampler: manifest, entry point, part.
#define MORTISE_SAMPLER(id, version, license, name, Sampler, help)                               \
  static constexpr mortise_part sampler_part = mortise::SamplerTable<Sampler>::part(name, help); \
  MORTISE_PLUGIN(id, version, license, MORTISE_SAMPLER_ID, "sampler:" name, "", &sampler_part)

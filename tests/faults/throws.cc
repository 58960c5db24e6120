// A plugin whose create throws, which no plugin may.
// Thread rule: as plugin.h. Flow: loaded by the loader's tests.
#include <mortise/plugin.h>
#include <mortise/sampler.h>

#include <stdexcept>

namespace {

mortise_status create(const mortise_host*, const mortise_value*, void**, mortise_error*) {
  throw std::runtime_error("thrown on purpose");
}
void destroy(void*) {}

const mortise_sampler table = {sizeof(mortise_sampler)};
const mortise_part part = {sizeof(mortise_part),
                           0,
                           "sampler",
                           "throws",
                           MORTISE_SAMPLER_ID,
                           "throws",
                           nullptr,
                           &table,
                           create,
                           destroy};

}  // namespace

MORTISE_PLUGIN("fault.throws", "1.0", "Apache-2.0", MORTISE_SAMPLER_ID, "sampler:throws", "", &part);

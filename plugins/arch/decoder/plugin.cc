// Registration of arch `decoder`. Thread rule: [load]. Flow: host -> here -> decoder.cc.
#include <mortise/arch.h>
#include <mortise/cpp/part.h>

#include "decoder.h"
#include "families/hyperparams.h"

namespace {

struct Arch {
  Arch(mortise::Host, const mortise::NoParams&) {}
};

int32_t accepts(void*, const mortise_model* model, mortise_error* error) {
  // The host shows an arch plugin's reason without its place.
  const mortise_status status = mortise::guard(error, [&]() -> mortise::Result<void> {
    const mortise::Result<void> known = mortise::families::check_known(*model);
    if (!known) return mortise::fail(known.error().code, "", known.error().text());
    return {};
  });
  return status == MORTISE_OK ? 100 : 0;
}

mortise_status build(void*, const mortise_model* model, const mortise_builder* builder,
                     mortise_error* error) {
  return mortise::guard(error, [&] { return decoder::build(*model, *builder); });
}

constexpr mortise_arch kTable = {sizeof(mortise_arch), 0, &accepts, &build};
constexpr mortise_part kPart = mortise::make_part<Arch>(
    "arch", "decoder", MORTISE_ARCH_ID, "decoder-only transformers, families as data", &kTable);

}  // namespace

MORTISE_PLUGIN("mortise.arch.decoder", "0.1.0", "Apache-2.0", MORTISE_ARCH_ID, "arch:decoder", "", &kPart);

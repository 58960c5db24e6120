// Registration of arch `decoder`. Thread rule: [load]. Flow: host -> here -> decoder.cc.
#include <mortise/arch.h>
#include <mortise/cpp/part.h>

#include "decoder.h"
#include "hyperparams.h"

namespace {

struct Arch {
  Arch(mortise::Host, const mortise::NoParams&) {}
};

int32_t accepts(void*, const mortise_model* model, mortise_error* error) {
  int32_t score = 0;
  mortise::guard(error, [&]() -> mortise::Result<void> {
    if (std::string_view(model->dialect) != "gguf")
      return mortise::fail(mortise::Code::unsupported, "",
                           "reads the dialect gguf, not " + std::string(model->dialect));
    MORTISE_TRY(name, mortise::Metadata(model).text("general.architecture"));
    if (decoder::find_family(name) == nullptr)
      return mortise::fail(mortise::Code::unsupported, "",
                           "the family '" + std::string(name) + "' is none of " + decoder::family_names());
    score = 100;
    return {};
  });
  return score;
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

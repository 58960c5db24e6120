// For tests: a model that says what it is told. Its arch emits one operation, which makes the logits of the
// next token of [plugin.scripted] tokens from a row's position, so that streaming and stop strings can be
// tested to the letter. Thread rule: [load] for the arch, [worker] for the operation. Flow: --plugins with
// this folder, use.arch = "scripted", a prompt of one token; the token at position p is followed by
// tokens[p], and behind the list by `end`.
#include <mortise/arch.h>
#include <mortise/cpp/part.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace {

#define SCRIPT_PARAMS(MORTISE_PARAM)                                                        \
  MORTISE_PARAM(list, tokens, "[]", nullptr, config, "token ids to be generated, in order") \
  MORTISE_PARAM(int, end, "2", "[0,)", config, "token id behind the last one")
MORTISE_PARAMS(ScriptParams, SCRIPT_PARAMS);

constexpr float kChosen = 20;  // logit of the scripted token; all others have 0

struct Arch {
  Arch(mortise::Host, const ScriptParams& params) : end(params.end) {
    for (size_t i = 0; i < params.tokens.value.count; ++i)
      tokens.push_back(static_cast<double>(params.tokens.value.items[i].i));
  }
  std::vector<double> tokens;
  int64_t end;
};

int32_t accepts(void*, const mortise_model*, mortise_error* error) {
  return mortise::to_c({mortise::Code::unsupported, "", "only where it is named"}, error) * 0;
}

mortise_status build(void* self, const mortise_model* model, const mortise_builder* b, mortise_error*) {
  const auto& arch = *static_cast<Arch*>(self);
  const mortise_str name = mortise::str("token_embd.weight");
  const mortise_tensor* table = model->tensor(model->ctx, name);
  const uint32_t vocab = table == nullptr ? 0 : static_cast<uint32_t>(table->shape[0]);
  const mortise_arch_info info{sizeof(info), 1, 1, 1, 1, 1, vocab, 4096, 0, 0, "scripted"};
  b->info(b->ctx, &info);
  const mortise_matrix_source source{sizeof(source), 0, name, 0, 0, 0};
  const mortise_node x = b->take_rows(b->ctx, b->embed(b->ctx, b->matrix(b->ctx, &source)));
  const mortise_attr attrs[] = {
      {"tokens", MORTISE_LIST, static_cast<uint32_t>(arch.tokens.size()), 0, 0, nullptr, arch.tokens.data()},
      {"end", MORTISE_INT, 0, arch.end, 0, nullptr, nullptr},
      {"vocab", MORTISE_INT, 0, vocab, 0, nullptr, nullptr}};
  const mortise_op_use use{sizeof(use), 1, 0, 3, "test.script/1", &x, nullptr, attrs};
  b->logits(b->ctx, b->op(b->ctx, &use));
  return MORTISE_OK;
}

struct Script {
  std::vector<uint32_t> tokens;
  uint32_t end, vocab;
};

constexpr mortise_op_claim kClaim = {sizeof(kClaim), 1, "test.script/1", "cpu", "", "reference", 0, 0};
constexpr const mortise_op_claim* kClaims[] = {&kClaim};

const mortise_op_claim* const* claims(void*, uint32_t* count) {
  *count = 1;
  return kClaims;
}
mortise_status infer(void*, uint32_t, const mortise_op_desc* desc, uint64_t* cols, mortise_error*) {
  *cols = static_cast<uint64_t>(desc->attrs[2]->i);
  return MORTISE_OK;
}
mortise_status bind(void*, uint32_t, const mortise_op_desc* desc, void** op, mortise_error*) {
  auto* script =
      new Script{{}, static_cast<uint32_t>(desc->attrs[1]->i), static_cast<uint32_t>(desc->attrs[2]->i)};
  for (uint32_t i = 0; i < desc->attrs[0]->count; ++i)
    script->tokens.push_back(static_cast<uint32_t>(desc->attrs[0]->values[i]));
  *op = script;
  return MORTISE_OK;
}
void unbind(void*, void* op) { delete static_cast<Script*>(op); }
void plan(void*, void*, uint64_t, uint32_t, mortise_plan* out) { *out = {sizeof(mortise_plan), 1, 0}; }
void run(void*, void* op, const mortise_op_args* args, uint32_t, void*) {
  const auto& script = *static_cast<Script*>(op);
  for (uint64_t row = 0; row < args->rows; ++row) {
    float* out = args->out + row * args->out_stride;
    std::fill_n(out, script.vocab, 0.0f);
    const auto at = static_cast<size_t>(args->positions[row]);
    out[at < script.tokens.size() ? script.tokens[at] : script.end] = kChosen;
  }
}

struct Ops {
  Ops(mortise::Host, const mortise::NoParams&) {}
};
constexpr mortise_arch kArch = {sizeof(mortise_arch), 0, &accepts, &build};
constexpr mortise_ops kOps = {sizeof(mortise_ops), 0, &claims, &infer, &bind, &unbind, &plan, &run};
constexpr mortise_part kArchPart = mortise::make_part<Arch, ScriptParams>("arch", "scripted", MORTISE_ARCH_ID,
                                                                          "replays a list of tokens", &kArch);
constexpr mortise_part kOpsPart =
    mortise::make_part<Ops>("ops", "scripted", MORTISE_OPS_ID, "the operation of arch scripted", &kOps);

}  // namespace

MORTISE_PLUGIN("test.scripted", "0.1.0", "Apache-2.0", MORTISE_ARCH_ID " " MORTISE_OPS_ID,
               "arch:scripted ops:scripted", "", &kArchPart, &kOpsPart);

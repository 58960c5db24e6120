// The rig of program_rig.h. Thread rule and flow: see there.
#include "program_rig.h"

namespace mortise_test {

const mortise_weights& ModelRig::weights_table() {
  static const mortise_weights made = [] {
    mortise_weights t{};
    t.size = sizeof(t);
    t.open = [](void* self, mortise_str, uint32_t, void** model, mortise_error*) {
      *model = self;
      return mortise_status{MORTISE_OK};
    };
    t.close = [](void*, void*) {};
    t.dialect = [](void*, void*) { return "test"; };
    t.tensor_count = [](void* self, void*) -> uint64_t {
      return static_cast<ModelRig*>(self)->tensors_.size();
    };
    t.tensor = [](void* self, void*, uint64_t index) -> const mortise_tensor* {
      auto at = static_cast<ModelRig*>(self)->tensors_.begin();
      std::advance(at, index);
      return &at->second.tensor;
    };
    return t;
  }();
  return made;
}

void ModelRig::emit(const std::function<void(const mortise_builder&)>& build, const ProgramLimits& limits,
                    bool tiles) {
  file.set(file_data_);
  weights_part_.table = &weights_table();
  weights_provider_ = {"memory", "test.memory", true, this, &weights_part_};
  open_ = std::move(*OpenModel::open(weights_provider_, file, "model", false));
  formats_ = std::make_unique<Formats>(
      std::vector<Provider>{{"test.f32", "test.f32", true, nullptr, &format_part_}});
  std::vector<Provider> linear = {{"reference", "test.reference", true, &linear_, &linear_part_}};
  if (tiles) linear.push_back({"tiles", "test.tiles", true, &linear_, &tiles_part_});
  chooser_ = std::make_unique<Chooser>(
      pipeline_, linear, std::vector<Provider>{{"reference", "test.ops", true, &ops_, &ops_part_}},
      std::vector<std::string>{});
  BuilderHooks hooks;
  hooks.tensor = [this](std::string_view name) { return open_->tensor(name); };
  hooks.format = [](const mortise_tensor&) { return Result<const mortise_format*>(&kFloats); };
  hooks.values = [this](const mortise_tensor& t) { return formats_->values(*open_, t); };
  hooks.op = [this](const mortise_op_desc& desc) -> Result<BuilderHooks::Op> {
    MORTISE_TRY(choice, chooser_->op(desc.op));
    BuilderHooks::Op out{choice.provider, choice.claim, 0};
    mortise_error error = c_error();
    const mortise_status status = ops_reference::kTable.infer(&ops_, choice.claim, &desc, &out.cols, &error);
    return status == MORTISE_OK ? Result<BuilderHooks::Op>(out) : pass(from_c(status, error));
  };
  GraphBuilder builder(std::move(hooks));
  build(builder.c());
  auto made = builder.finish();
  INFO((made ? "" : made.error().text()));
  REQUIRE(made);
  graph = std::move(*made);
  pool_ = std::move(*Pool::make(2));
  weights = std::move(*Weights::choose(graph, *open_, *formats_, *chooser_));
  program = std::move(*Program::make(graph, *weights, *chooser_, attention_, limits, pool_->workers()));
  REQUIRE(weights->pack(*open_, *pool_, [](uint64_t) {}));
  REQUIRE(program->allocate());
}

std::vector<float> ModelRig::run(const std::vector<uint32_t>& tokens, const std::vector<int32_t>& positions,
                                 const std::vector<uint32_t>& lengths) {
  std::vector<uint32_t> wanted(tokens.size());
  for (uint32_t i = 0; i < wanted.size(); ++i) wanted[i] = i;
  Batch batch;
  batch.tokens = tokens.data();
  batch.lengths = lengths.data();
  batch.attention.rows = static_cast<uint32_t>(tokens.size());
  batch.attention.positions = positions.data();
  batch.wanted = wanted.data();
  batch.wanted_count = static_cast<uint32_t>(wanted.size());
  const uint64_t vocab = graph.info.vocab;
  std::vector<float> out(tokens.size() * vocab);
  REQUIRE(
      program->run(batch, kv_, *pool_, [&](uint32_t first, uint32_t count, float* logits, uint64_t stride) {
        for (uint32_t i = 0; i < count; ++i)
          std::copy_n(logits + i * stride, vocab, &out[(first + i) * vocab]);
      }));
  return out;
}

}  // namespace mortise_test

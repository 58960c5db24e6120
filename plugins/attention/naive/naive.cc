// attention/naive: the functions of the kind; see naive.h.
#include "naive.h"

#include <cmath>

#include "softmax.h"

namespace attention_naive {
namespace {

using mortise::Result;

constexpr uint64_t kFeatures = MORTISE_ATTENTION_WINDOW | MORTISE_ATTENTION_SOFTCAP | MORTISE_ATTENTION_SINKS;
constexpr uint64_t kTaskWork = 200'000;  // multiply-adds of a task
constexpr uint32_t kTokens = MORTISE_KV_BLOCK_TOKENS;

const mortise_kv_layout* const* layouts(void*, uint32_t* count) {
  return mortise::float_layouts<kFeatures, mortise::KvTier::reference>(count);
}

mortise_status accepts(void*, uint32_t, const mortise_attention_layer* layer, mortise_error* error) {
  return mortise::guard(error, [&]() -> Result<void> { return mortise::check_layer(*layer, kFeatures); });
}

uint64_t block_bytes(void*, uint32_t layout, const mortise_attention_layer* layer) {
  return Layer{static_cast<mortise::KvType>(layout), *layer}.block_bytes();
}

mortise_status bind(void*, uint32_t layout, const mortise_attention_layer* layer, void** handle,
                    mortise_error* error) {
  return mortise::guard(error, [&]() -> Result<void> {
    MORTISE_CHECK(mortise::check_layer(*layer, kFeatures));
    *handle = new Layer{static_cast<mortise::KvType>(layout), *layer};
    return {};
  });
}

void unbind(void*, void* handle) { delete static_cast<Layer*>(handle); }

uint64_t plan_bytes(void*, void*, uint32_t, uint32_t, uint32_t, uint32_t) { return 0; }

// A task is a range of units; unit u is row u / kv_heads with KV head u % kv_heads.
mortise_status plan(void*, void* handle, const mortise_attention_step* step, uint32_t, void*,
                    mortise_plan* out, mortise_error*) {
  const Layer& layer = *static_cast<Layer*>(handle);
  uint64_t longest = 0, work = 0;
  for (uint32_t s = 0; s < step->sequences; ++s) {
    const uint64_t rows = step->sequence_rows[s + 1] - step->sequence_rows[s];
    longest = std::max<uint64_t>(longest, step->kv_lengths[s]);
    work += rows * step->kv_lengths[s] * layer.shape.heads * (layer.shape.k_dim + layer.shape.v_dim);
  }
  const uint64_t units = uint64_t{step->rows} * layer.shape.kv_heads;
  out->tasks = static_cast<uint32_t>(std::min(units, work / kTaskWork + 1));
  out->scratch_bytes = scratch_floats(layer, longest) * sizeof(float);
  return MORTISE_OK;
}

void append(void*, void* handle, const mortise_attention_args* args, uint32_t row0, uint32_t rows) {
  const Layer& layer = *static_cast<Layer*>(handle);
  const uint64_t width = mortise::kv_bytes(layer.type);
  const auto write = [&](uint8_t* to, const float* from, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) mortise::write_kv(layer.type, to + i * width, from[i]);
  };
  for (uint32_t row = row0; row < row0 + rows; ++row) {
    const int64_t slot = args->step->slots[row];
    if (slot < 0) continue;
    uint8_t* block =
        static_cast<uint8_t*>(args->base) + static_cast<uint64_t>(slot) / kTokens * layer.block_bytes();
    const uint64_t token = static_cast<uint64_t>(slot) % kTokens;
    write(block + token * layer.k_bytes(), args->k + row * args->k_stride, layer.k_bytes() / width);
    write(block + kTokens * layer.k_bytes() + token * layer.v_bytes(), args->v + row * args->v_stride,
          layer.v_bytes() / width);
  }
}

void run(void*, void* handle, const mortise_attention_args* args, uint32_t task, void* scratch) {
  const Layer& layer = *static_cast<Layer*>(handle);
  const mortise_attention_step& step = *args->step;
  const uint64_t units = uint64_t{step.rows} * layer.shape.kv_heads;
  const uint64_t end = units * (task + 1) / args->tasks;
  for (uint64_t unit = units * task / args->tasks; unit < end; ++unit) {
    const auto row = static_cast<uint32_t>(unit / layer.shape.kv_heads);
    const auto kv_head = static_cast<uint32_t>(unit % layer.shape.kv_heads);
    const uint64_t head = uint64_t{kv_head} * layer.group();
    float* out = args->out + row * args->out_stride + head * layer.shape.v_dim;
    if (mortise::is_padding(step, row)) {
      std::fill_n(out, layer.group() * layer.shape.v_dim, 0.0f);
      continue;
    }
    const uint32_t* blocks = step.blocks + uint64_t{mortise::sequence_of(step, row)} * step.blocks_stride;
    const Cache cache{layer, static_cast<const uint8_t*>(args->base), blocks, kv_head};
    attend(cache, args->q + row * args->q_stride + head * layer.shape.k_dim, step.positions[row], out,
           static_cast<float*>(scratch));
  }
}

void read_token(void*, void* handle, const void* block, uint32_t offset, float* k, float* v) {
  const Layer& layer = *static_cast<Layer*>(handle);
  const uint32_t only = 0;
  const uint64_t kd = layer.shape.k_dim, vd = layer.shape.v_dim;
  for (uint32_t h = 0; h < layer.shape.kv_heads; ++h) {
    const Cache cache{layer, static_cast<const uint8_t*>(block), &only, h};
    cache.read_k(offset, k + h * kd);
    cache.read_v(offset, v + h * vd);
  }
}

}  // namespace

uint64_t Layer::block_bytes() const { return (kTokens * (k_bytes() + v_bytes()) + 63) / 64 * 64; }

const mortise_attention kTable = {
    sizeof(mortise_attention),
    0,
    &layouts,
    &accepts,
    &block_bytes,
    &bind,
    &unbind,
    &plan_bytes,
    &plan,
    &append,
    &run,
    &read_token,
};

}  // namespace attention_naive

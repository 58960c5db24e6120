// attention/paged: the functions of the kind; see paged.h.
#include "paged.h"

#include <vector>

#include "plan.h"

namespace attention_paged {
namespace {

using mortise::Result;

constexpr uint64_t kFeatures = MORTISE_ATTENTION_WINDOW | MORTISE_ATTENTION_SOFTCAP | MORTISE_ATTENTION_SINKS;

const mortise_kv_layout* const* layouts(void*, uint32_t* count) {
  return mortise::float_layouts<kFeatures, mortise::KvTier::portable>(count);
}

mortise_status accepts(void*, uint32_t, const mortise_attention_layer* layer, mortise_error* error) {
  return mortise::guard(error, [&]() -> Result<void> { return mortise::check_layer(*layer, kFeatures); });
}

uint64_t block_bytes(void* self, uint32_t layout, const mortise_attention_layer* layer) {
  const Kernels* kernels = &static_cast<Paged*>(self)->kernels();
  return Layer(static_cast<mortise::KvType>(layout), *layer, kernels).block_bytes();
}

mortise_status bind(void* self, uint32_t layout, const mortise_attention_layer* layer, void** handle,
                    mortise_error* error) {
  return mortise::guard(error, [&]() -> Result<void> {
    MORTISE_CHECK(mortise::check_layer(*layer, kFeatures));
    *handle = new Layer(static_cast<mortise::KvType>(layout), *layer, &static_cast<Paged*>(self)->kernels());
    return {};
  });
}

void unbind(void*, void* handle) { delete static_cast<Layer*>(handle); }

uint64_t plan_bytes(void*, void* handle, uint32_t rows, uint32_t sequences, uint32_t context,
                    uint32_t workers) {
  const Layer& layer = *static_cast<Layer*>(handle);
  return view(nullptr, layer, bounds(layer, rows, sequences, context, workers)).bytes;
}

mortise_status plan(void*, void* handle, const mortise_attention_step* step, uint32_t workers,
                    void* workspace, mortise_plan* out, mortise_error* error) {
  return mortise::guard(error, [&]() -> Result<void> {
    const Layer& layer = *static_cast<Layer*>(handle);
    cut(layer, *step, workers, workspace);
    out->tasks = static_cast<uint32_t>(static_cast<Header*>(workspace)->tasks);
    out->scratch_bytes = scratch_bytes(layer);
    return {};
  });
}

/// Writes `count` columns of one token to `to`, element i at i * step.
template <class T>
void scatter(const T* from, uint32_t count, uint32_t step, T* to) {
  for (uint32_t i = 0; i < count; ++i) to[uint64_t{i} * step] = from[i];
}

/// K and V of one token and KV head into its page.
template <class T>
void write_token(const Shape& shape, const T* k, const T* v, uint32_t token, T* page) {
  scatter(k, shape.k_dim, kBlock, page + token);
  scatter(v, shape.v_dim, 1, page + uint64_t{shape.k_dim} * kBlock + uint64_t{token} * shape.v_dim);
}

void append_row(const Layer& layer, const float* k, const float* v, uint8_t* block, uint32_t token) {
  const Shape& shape = layer.shape;
  uint16_t narrow_k[mortise::kHeadDimMax], narrow_v[mortise::kHeadDimMax];
  for (uint32_t h = 0; h < layer.layer.kv_heads; ++h) {
    uint8_t* page = block + h * layer.page_bytes();
    const float* head_k = k + uint64_t{h} * shape.k_dim;
    const float* head_v = v + uint64_t{h} * shape.v_dim;
    if (layer.type == mortise::KvType::f32) {
      write_token(shape, head_k, head_v, token, reinterpret_cast<float*>(page));
    } else {
      layer.kernels->narrow(shape.element, head_k, shape.k_dim, narrow_k);
      layer.kernels->narrow(shape.element, head_v, shape.v_dim, narrow_v);
      write_token(shape, narrow_k, narrow_v, token, reinterpret_cast<uint16_t*>(page));
    }
  }
}

void append(void*, void* handle, const mortise_attention_args* args, uint32_t row0, uint32_t rows) {
  const Layer& layer = *static_cast<Layer*>(handle);
  for (uint32_t row = row0; row < row0 + rows; ++row) {
    const int64_t slot = args->step->slots[row];
    if (slot < 0) continue;
    uint8_t* block =
        static_cast<uint8_t*>(args->base) + static_cast<uint64_t>(slot) / kBlock * layer.block_bytes();
    append_row(layer, args->k + row * args->k_stride, args->v + row * args->v_stride, block,
               static_cast<uint32_t>(slot % kBlock));
  }
}

void run(void*, void* handle, const mortise_attention_args* args, uint32_t task, void* scratch) {
  run_task(*static_cast<Layer*>(handle), *args, task, scratch);
}

void read_token(void*, void* handle, const void* block, uint32_t offset, float* k, float* v) {
  const Layer& layer = *static_cast<Layer*>(handle);
  const uint64_t width = mortise::kv_bytes(layer.type), kd = layer.shape.k_dim, vd = layer.shape.v_dim;
  for (uint32_t h = 0; h < layer.layer.kv_heads; ++h) {
    const uint8_t* page = static_cast<const uint8_t*>(block) + h * layer.page_bytes();
    for (uint64_t d = 0; d < kd; ++d)
      k[h * kd + d] = mortise::read_kv(layer.type, page + (d * kBlock + offset) * width);
    for (uint64_t d = 0; d < vd; ++d)
      v[h * vd + d] = mortise::read_kv(layer.type, page + (kd * kBlock + offset * vd + d) * width);
  }
}

}  // namespace

const Kernels& Paged::kernels() const {
  return isa_ == mortise::Isa::avx512 ? kernels_avx512
         : isa_ == mortise::Isa::avx2 ? kernels_avx2
                                      : kernels_base;
}

Layer::Layer(mortise::KvType type_, const mortise_attention_layer& layer_, const Kernels* kernels_)
    : type(type_), layer(layer_), kernels(kernels_) {
  shape = {static_cast<Element>(type),
           layer.k_dim,
           layer.v_dim,
           (layer.v_dim + kBlock - 1) / kBlock * kBlock,
           layer.scale,
           layer.softcap};
}

uint64_t Layer::page_bytes() const {
  return uint64_t{kBlock} * (layer.k_dim + layer.v_dim) * mortise::kv_bytes(type);
}

uint64_t Layer::block_bytes() const { return (page_bytes() * layer.kv_heads + 63) / 64 * 64; }

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

}  // namespace attention_paged

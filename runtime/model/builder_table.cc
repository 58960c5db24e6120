// The C face of GraphBuilder: one forwarding function for each entry of mortise_builder.
// Thread rule: the loading thread. Flow: arch.build -> here -> GraphBuilder.
#include "model/builder.h"

namespace mortise {
namespace {

GraphBuilder& self(void* ctx) { return *static_cast<GraphBuilder*>(ctx); }

/// No exception crosses: running out of memory becomes the build's error.
template <class Body>
auto forward(void* ctx, Body&& body) noexcept -> decltype(body(self(ctx))) {
  using Out = decltype(body(self(ctx)));
  try {
    return body(self(ctx));
  } catch (const std::exception& e) {
    self(ctx).fail_with(Code::no_memory, "graph", e.what());
    return Out();
  }
}

void info(void* ctx, const mortise_arch_info* value) {
  forward(ctx, [&](GraphBuilder& b) { b.set_info(*value); });
}
void fail_build(void* ctx, int32_t code, mortise_str where, mortise_str message) {
  forward(ctx, [&](GraphBuilder& b) {
    Code known = code > MORTISE_OK && code <= MORTISE_INTERNAL ? static_cast<Code>(code) : Code::internal;
    b.fail_with(known, std::string(view(where)), std::string(view(message)));
  });
}
mortise_matrix matrix(void* ctx, const mortise_matrix_source* source) {
  return forward(ctx, [&](GraphBuilder& b) { return b.matrix(*source); });
}
mortise_vector vector(void* ctx, mortise_str name, uint64_t count, int32_t needed) {
  return forward(ctx, [&](GraphBuilder& b) { return b.vector(view(name), count, needed != 0); });
}
mortise_vector constant(void* ctx, const float* data, uint64_t count) {
  return forward(ctx, [&](GraphBuilder& b) { return b.constant(data, count); });
}
const float* vector_data(void* ctx, mortise_vector id) { return self(ctx).vector_data(id); }
mortise_node embed(void* ctx, mortise_matrix table) {
  return forward(ctx, [&](GraphBuilder& b) { return b.embed(table); });
}
mortise_node embed_positions(void* ctx, mortise_matrix table) {
  return forward(ctx, [&](GraphBuilder& b) { return b.embed_positions(table); });
}
mortise_node op(void* ctx, const mortise_op_use* use) {
  return forward(ctx, [&](GraphBuilder& b) { return b.op(*use); });
}
mortise_node linear(void* ctx, mortise_node x, mortise_matrix w, mortise_vector bias) {
  return forward(ctx, [&](GraphBuilder& b) { return b.linear(x, w, bias, 0); });
}
void linear_group(void* ctx, mortise_node x, uint32_t count, const mortise_matrix* w,
                  const mortise_vector* bias, mortise_node* out) {
  forward(ctx, [&](GraphBuilder& b) { b.linear_group(x, count, w, bias, out); });
}
mortise_node moe_linear(void* ctx, mortise_node x, mortise_node routing, uint32_t count,
                        const mortise_matrix* experts, mortise_vector bias) {
  return forward(ctx, [&](GraphBuilder& b) { return b.moe_linear(x, routing, count, experts, bias); });
}
mortise_node view_columns(void* ctx, mortise_node x, uint64_t column0, uint64_t columns) {
  return forward(ctx, [&](GraphBuilder& b) { return b.view_columns(x, column0, columns); });
}
uint32_t kv_group(void* ctx, const mortise_kv_group* group) {
  return forward(ctx, [&](GraphBuilder& b) { return b.kv_group(*group); });
}
mortise_slot kv_slot(void* ctx, uint32_t group) {
  return forward(ctx, [&](GraphBuilder& b) { return b.kv_slot(group); });
}
mortise_node attention(void* ctx, mortise_slot slot, const mortise_attention_layer* layer, mortise_node q,
                       mortise_node k, mortise_node v) {
  return forward(ctx, [&](GraphBuilder& b) { return b.attention(slot, *layer, q, k, v); });
}
mortise_node take_rows(void* ctx, mortise_node x) {
  return forward(ctx, [&](GraphBuilder& b) { return b.take_rows(x); });
}
void logits(void* ctx, mortise_node x) {
  forward(ctx, [&](GraphBuilder& b) { b.logits(x); });
}

}  // namespace

GraphBuilder::GraphBuilder(BuilderHooks hooks) : hooks_(std::move(hooks)) {
  table_.size = sizeof(mortise_builder);
  table_.ctx = this;
  table_.info = &mortise::info;
  table_.fail = &mortise::fail_build;
  table_.matrix = &mortise::matrix;
  table_.vector = &mortise::vector;
  table_.constant = &mortise::constant;
  table_.vector_data = &mortise::vector_data;
  table_.embed = &mortise::embed;
  table_.embed_positions = &mortise::embed_positions;
  table_.op = &mortise::op;
  table_.linear = &mortise::linear;
  table_.linear_group = &mortise::linear_group;
  table_.moe_linear = &mortise::moe_linear;
  table_.view = &mortise::view_columns;
  table_.kv_group = &mortise::kv_group;
  table_.kv_slot = &mortise::kv_slot;
  table_.attention = &mortise::attention;
  table_.take_rows = &mortise::take_rows;
  table_.logits = &mortise::logits;
}

}  // namespace mortise

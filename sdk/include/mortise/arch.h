/* Kind `arch`: reads a model's metadata and emits its graph once. Draft.
 * Thread rule: [load] throughout. Flow: after weights; what it emits the host turns into a flat list of
 * steps; the plugin is never called again. */
#ifndef MORTISE_ARCH_H
#define MORTISE_ARCH_H
#include <mortise/attention.h>
#include <mortise/ops.h>
#include <mortise/weights.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MORTISE_ARCH_ID "mortise.draft.arch/2"

/* Ids that the builder hands out; 0 means failed or absent. A builder that has failed returns 0 from every
 * call and keeps the first error, which build may just let stand: the host reports it. */
typedef uint32_t mortise_node;   /* an activation [rows][columns], float32 */
typedef uint32_t mortise_matrix; /* a linear weight */
typedef uint32_t mortise_vector; /* float32 constants */
typedef uint32_t mortise_slot;   /* one layer's place in a KV group, id + 1 */

/* What explain and the front ends show. */
typedef struct mortise_arch_info {
  uint32_t size;
  uint32_t layers;
  uint32_t hidden;
  uint32_t heads;
  uint32_t kv_heads;
  uint32_t head_dim;
  uint32_t vocab;
  uint32_t context; /* tokens the model was trained for, with scaling: what scaling covers */
  /* RoPE that depends on the sequence's length (longrope, dynamic NTK): a sequence admitted for more than
   * this many tokens shares no cache with shorter ones; 0: RoPE does not. */
  uint32_t rope_length_from;
  uint32_t rope_each_length; /* 1: nor with one admitted for another length beyond it */
  const char* family;        /* the model's own name for its architecture */
} mortise_arch_info;

enum {
  /* The matrix is the transposed of what is stored: column j of the tensor is row j. Of rank 3, slice by
   * slice. Only for formats whose block is one element. */
  MORTISE_MATRIX_TRANSPOSED = 1
};

/* Where a linear weight comes from. A tensor of rank 1 [k] is one row, one of rank 3 [e][n][k] is e * n rows,
 * slice after slice. */
typedef struct mortise_matrix_source {
  uint32_t size;
  uint32_t flags;
  mortise_str tensor;
  uint64_t row0; /* of the matrix, that is behind the transposition */
  uint64_t rows; /* 0: all from row0 on */
  uint64_t k;    /* the columns it must have; 0: any */
} mortise_matrix_source;

/* KV cache that layers share: kind paged (window 0) or window. */
typedef struct mortise_kv_group {
  uint32_t size;
  uint32_t kv_heads;
  uint32_t k_dim;
  uint32_t v_dim;
  uint32_t window;
  uint32_t reserved;
} mortise_kv_group;

typedef struct mortise_op_use {
  uint32_t size;
  uint32_t input_count;
  uint32_t vector_count;
  uint32_t attr_count;
  const char* op;
  const mortise_node* inputs;
  const mortise_vector* vectors; /* 0 for one that is absent */
  const mortise_attr* attrs;
} mortise_op_use;

typedef struct mortise_builder {
  uint32_t size;
  uint32_t reserved;
  void* ctx;
  void (*info)(void* ctx, const mortise_arch_info* info);
  /* Ends the build with an error. */
  void (*fail)(void* ctx, int32_t code, mortise_str where, mortise_str message);
  /* Rows of a tensor as a linear weight. An absent tensor is an error. The same source asked for twice is one
   * weight, packed once. */
  mortise_matrix (*matrix)(void* ctx, const mortise_matrix_source* source);
  /* A tensor's values as float32, `count` of them; absent: 0, and an error only where `needed`. */
  mortise_vector (*vector)(void* ctx, mortise_str tensor, uint64_t count, int32_t needed);
  mortise_vector (*constant)(void* ctx, const float* data, uint64_t count);
  const float* (*vector_data)(void* ctx, mortise_vector vector);
  /* Rows of `table` by the step's token ids. */
  mortise_node (*embed)(void* ctx, mortise_matrix table);
  /* Rows of `table` by the position of each token; it must have a row for each position of the context. */
  mortise_node (*embed_positions)(void* ctx, mortise_matrix table);
  mortise_node (*op)(void* ctx, const mortise_op_use* use);
  mortise_node (*linear)(void* ctx, mortise_node x, mortise_matrix w, mortise_vector bias);
  /* Several weights over one x, one task space; out[count]. bias may be NULL. */
  void (*linear_group)(void* ctx, mortise_node x, uint32_t count, const mortise_matrix* w,
                       const mortise_vector* bias, mortise_node* out);
  /* The experts that `routing` chose for each row (mortise.router/1), in its order: `count` experts with one
   * matrix [n][k] each, x of k columns, which every chosen expert takes, or of top_k * k columns, a part for
   * each. The result has top_k * n columns. bias: count * n numbers, or 0. */
  mortise_node (*moe_linear)(void* ctx, mortise_node x, mortise_node routing, uint32_t count,
                             const mortise_matrix* experts, mortise_vector bias);
  /* Columns [column0, column0 + columns) of x. */
  mortise_node (*view)(void* ctx, mortise_node x, uint64_t column0, uint64_t columns);
  /* A KV group (returns id + 1), and a slot in it for one layer. */
  uint32_t (*kv_group)(void* ctx, const mortise_kv_group* group);
  mortise_slot (*kv_slot)(void* ctx, uint32_t group);
  /* Writes k and v into the slot, then attends. k = v = 0: only reads (a slot shared with an earlier layer).
   */
  mortise_node (*attention)(void* ctx, mortise_slot slot, const mortise_attention_layer* layer,
                            mortise_node q, mortise_node k, mortise_node v);
  /* Only the rows whose logits are wanted from here on. */
  mortise_node (*take_rows)(void* ctx, mortise_node x);
  /* Ends the graph: logits [wanted rows][vocab]. */
  void (*logits)(void* ctx, mortise_node x);
} mortise_builder;

typedef struct mortise_arch {
  uint32_t size;
  uint32_t reserved;
  /* 0: not mine, with the reason as message (which may list the families it knows); else how sure, to 100. */
  int32_t (*accepts)(void* self, const mortise_model* model, mortise_error* error);
  mortise_status (*build)(void* self, const mortise_model* model, const mortise_builder* builder,
                          mortise_error* error);
} mortise_arch;

#ifdef __cplusplus
}
#endif
#endif

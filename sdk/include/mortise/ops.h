/* Kind `ops`: every operation of the graph that is neither a linear weight nor attention. Draft.
 * Thread rule: stands at each function. Flow: an arch plugin emits operations by id, the host chooses one
 * claim for each id and binds it at load, then plans and runs it in every step. */
#ifndef MORTISE_OPS_H
#define MORTISE_OPS_H
#include <mortise/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MORTISE_OPS_ID "mortise.draft.ops/2"

/* clang-format off */
/* Standard operations; rows are tokens, x has `cols` columns, all float32:
 *  mortise.norm/1 x -> x. vectors: weight[w], bias[w] (layer norm only, may be absent). attrs: rms (INT
 *      1|0: layer), eps (FLOAT), width (INT): normalises each run of `width` columns (the whole row, or one
 *      head); weight is applied per run. y = x * rsqrt(mean(x^2) + eps) * w
 *  mortise.add/1 a, b -> a + scale_b * b. attrs: scale_b (FLOAT, default 1)
 *  mortise.mul/1 a, b -> a * b; b may have one column, which then multiplies the row. attrs: sigmoid_b
 *      (INT, default 0; 1: a * sigmoid(b))
 *  mortise.scale/1 x -> c * x. attrs: c (FLOAT)
 *  mortise.softcap/1 x -> c * tanh(x / c). attrs: c (FLOAT)
 *  mortise.rope_table/1 (no input; positions of the step) -> [dims]: cos in the first half, sin in the
 *      second. attrs: inverse_frequencies (LIST of dims / 2), factor (FLOAT, multiplies both; default 1);
 *      where RoPE depends on the sequence's length: long_from (INT) and either long_inverse_frequencies
 *      (LIST; longrope: of sequences longer than long_from) or dynamic_factor (FLOAT; dynamic NTK, f:
 *      frequency i times s^(-2i / dims) where length > long_from, s = (f * length / long_from - f +
 *      1)^(dims / (dims - 2)))
 *  mortise.rope/1 x, table -> x: rotates the first `dims` columns of each head. attrs: head_dim (INT), dims
 *      (INT), interleaved (INT 0: pairs (i, i + dims / 2), 1: pairs (2i, 2i + 1))
 *  mortise.act/1 x -> f(x). attrs: kind (STRING silu|gelu|gelu_tanh|relu|relu2)
 *  mortise.act_mul/1 gate, up -> f(gate) * up; or one input whose columns are gate, up, gate, up, .. attrs:
 *      kind (as act; or swiglu_clamped with alpha and limit (FLOAT): g = min(gate, limit), u = clamp(up,
 *      -limit, limit), g * sigmoid(alpha * g) * (u + 1))
 *  mortise.router/1 logits of the experts -> routing [2 * top_k]: in the first half the numbers of the
 *      chosen experts, ascending, as floats; in the second their weights. Chosen are the top_k largest
 *      logits, ties to the lower number. attrs: top_k (INT), softmax (STRING before|after: over all experts
 *      before the choice, or over the chosen), renormalize (INT 1: weights divided by their sum), scale
 *      (FLOAT, default 1: multiplies the weights)
 *  mortise.moe_combine/1 y [top_k * n], routing -> [n]: sum of weight i times part i, i ascending */
/* clang-format on */

typedef struct mortise_op_claim {
  uint32_t size;
  uint32_t batch_invariant;
  const char* op;     /* "mortise.norm/1" */
  const char* device; /* "cpu" */
  const char* isa;    /* features the processor must have, separated by blanks; "" none */
  const char* tier;   /* "tuned", "portable" or "reference" */
  uint32_t in_place;  /* 1: out may be inputs[0] */
  uint32_t reserved;
} mortise_op_claim;

typedef struct mortise_op_vector {
  uint32_t size;
  uint32_t reserved;
  uint64_t count;
  const float* data;
} mortise_op_vector;

/* One use of an operation in the graph. */
typedef struct mortise_op_desc {
  uint32_t size;
  uint32_t input_count;
  uint32_t attr_count;
  uint32_t vector_count;
  const char* op;
  const uint64_t* input_cols; /* [input_count] */
  const mortise_attr* const* attrs;
  const mortise_op_vector* const* vectors; /* an absent one is NULL */
} mortise_op_desc;

typedef struct mortise_op_args {
  uint32_t size;
  uint32_t tasks; /* of the plan */
  uint64_t rows;
  const float* const* inputs;
  const uint64_t* input_strides; /* elements between rows */
  float* out;
  uint64_t out_stride;
  const int32_t* positions; /* [rows] of each token in its sequence; of a padding row -1 */
  const uint32_t* lengths;  /* [rows] tokens that the row's sequence was admitted for: prompt and answer */
} mortise_op_args;

typedef struct mortise_ops {
  uint32_t size;
  uint32_t reserved;
  const mortise_op_claim* const* (*claims)(void* self, uint32_t* count); /* [load] */
  /* [load] Columns of the result; checks attributes, vectors and input columns. */
  mortise_status (*infer)(void* self, uint32_t claim, const mortise_op_desc* desc, uint64_t* out_cols,
                          mortise_error* error);
  /* [load] A handle on one use; vectors outlive it, the rest of desc does not. */
  mortise_status (*bind)(void* self, uint32_t claim, const mortise_op_desc* desc, void** op,
                         mortise_error* error);
  void (*unbind)(void* self, void* op);
  void (*plan)(void* self, void* op, uint64_t rows, uint32_t workers, mortise_plan* out); /* [load, engine] */
  void (*run)(void* self, void* op, const mortise_op_args* args, uint32_t task, void* scratch); /* [worker] */
} mortise_ops;

#ifdef __cplusplus
}
#endif
#endif

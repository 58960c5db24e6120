/* Kind `attention`: owns the layout inside a KV block, writes K and V, and attends over a step's whole batch.
 * Draft. Thread rule: stands at each function. Flow: for each layer of a step the host calls append for all
 * rows, then run; plan once per step serves all layers of equal shape.
 *
 * A block holds MORTISE_KV_BLOCK_TOKENS consecutive tokens of one layer's slot. Its bytes move by memcpy;
 * those of one token depend on that token alone. Block b of a slot lies at base + b * block_bytes. */
#ifndef MORTISE_ATTENTION_H
#define MORTISE_ATTENTION_H
#include <mortise/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MORTISE_ATTENTION_ID "mortise.draft.attention/2"
#define MORTISE_KV_BLOCK_TOKENS 16u

/* Feature bits that a layer may need. */
enum {
  MORTISE_ATTENTION_WINDOW = 1, /* window: position i sees j with i - window < j <= i */
  MORTISE_ATTENTION_SOFTCAP = 2,
  MORTISE_ATTENTION_SINKS = 4
};

typedef struct mortise_kv_layout {
  uint32_t size;
  uint32_t batch_invariant;
  const char* name;   /* what [kv] dtype says: "f32", "f16", "bf16", .. */
  const char* device; /* "cpu" */
  uint64_t features;
  const char* tier; /* "tuned", "portable" or "reference": orders plugins that have the layout */
} mortise_kv_layout;

/* Shape of one attention layer. Head h of q reads KV head h / (heads / kv_heads). */
typedef struct mortise_attention_layer {
  uint32_t size;
  uint32_t heads;
  uint32_t kv_heads;
  uint32_t k_dim;     /* of q and k heads */
  uint32_t v_dim;     /* of v heads and of the result's */
  uint32_t window;    /* 0: every earlier position */
  uint64_t features;  /* needed */
  float scale;        /* of q * k */
  float softcap;      /* 0: none */
  const float* sinks; /* [heads] or NULL */
} mortise_attention_layer;

/* The batch of a step; arrays live until the step ends. Rows of a sequence are neighbours with ascending
 * positions. */
typedef struct mortise_attention_step {
  uint32_t size;
  uint32_t rows;
  uint32_t sequences;
  uint32_t blocks_stride;
  const int32_t* positions; /* [rows] */
  const int64_t* slots; /* [rows] block * MORTISE_KV_BLOCK_TOKENS + offset where K and V go; -1: padding */
  const uint32_t* sequence_rows; /* [sequences + 1] sequence s has the rows [s]..[s + 1] - 1 */
  const uint32_t* kv_lengths;    /* [sequences] tokens in the cache with those of this step */
  const uint32_t* blocks;        /* [sequences][blocks_stride] block ids in order of position */
} mortise_attention_step;

typedef struct mortise_attention_args {
  uint32_t size;
  uint32_t tasks;
  const mortise_attention_step* step;
  void* plan;        /* the workspace that plan filled */
  void* base;        /* of this layer's slot */
  const float* q;    /* [rows][q_stride], heads * k_dim columns */
  uint64_t q_stride; /* elements */
  const float* k;    /* kv_heads * k_dim columns */
  uint64_t k_stride;
  const float* v; /* kv_heads * v_dim columns */
  uint64_t v_stride;
  float* out; /* [rows][out_stride], heads * v_dim columns */
  uint64_t out_stride;
} mortise_attention_args;

typedef struct mortise_attention {
  uint32_t size;
  uint32_t reserved;
  const mortise_kv_layout* const* (*layouts)(void* self, uint32_t* count); /* [load] */
  /* [load] MORTISE_OK, or MORTISE_UNSUPPORTED with the reason. */
  mortise_status (*accepts)(void* self, uint32_t layout, const mortise_attention_layer* layer,
                            mortise_error* error);
  /* [load] Bytes of one block of one slot, a multiple of 64. */
  uint64_t (*block_bytes)(void* self, uint32_t layout, const mortise_attention_layer* layer);
  /* [load] A handle on a layer shape; the host makes one for all layers of equal shape. */
  mortise_status (*bind)(void* self, uint32_t layout, const mortise_attention_layer* layer, void** handle,
                         mortise_error* error);
  void (*unbind)(void* self, void* handle);
  /* [load] Bytes of workspace that plan needs at most for these limits. */
  uint64_t (*plan_bytes)(void* self, void* handle, uint32_t rows, uint32_t sequences, uint32_t context,
                         uint32_t workers);
  /* [engine] Splits the step's work; fills `workspace`, which is 64-byte aligned. `out->tasks` are those of
   * run. */
  mortise_status (*plan)(void* self, void* handle, const mortise_attention_step* step, uint32_t workers,
                         void* workspace, mortise_plan* out, mortise_error* error);
  /* [worker] Writes K and V of rows [row0, row0 + rows) into their slots; padding rows are passed over. */
  void (*append)(void* self, void* handle, const mortise_attention_args* args, uint32_t row0, uint32_t rows);
  /* [worker] One task. Reads K and V from the cache only. */
  void (*run)(void* self, void* handle, const mortise_attention_args* args, uint32_t task, void* scratch);
  /* [any] For tests: token `offset` of a block to k[kv_heads][k_dim] and v[kv_heads][v_dim]. */
  void (*read_token)(void* self, void* handle, const void* block, uint32_t offset, float* k, float* v);
} mortise_attention;

#ifdef __cplusplus
}
#endif
#endif

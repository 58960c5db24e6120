/* Kind `linear`: y[m, n] = x[m, k] * W[n, k]^T (+ bias), W in a named format. Draft.
 * Thread rule: stands at each function. Flow: the host chooses one claim per tensor, packs the weight once,
 * then plans and runs it in every step; one claim serves every number of rows m of its tensor. */
#ifndef MORTISE_LINEAR_H
#define MORTISE_LINEAR_H
#include <mortise/format.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MORTISE_LINEAR_ID "mortise.draft.linear/1"

/* Feature bits: what a use needs must be a subset of what the claim has. */
enum {
  MORTISE_LINEAR_BIAS = 1,  /* args.bias */
  MORTISE_LINEAR_ADD = 2,   /* args.add */
  MORTISE_LINEAR_UNPACK = 4 /* unpack_rows */
};

typedef struct mortise_linear_claim {
  uint32_t size;
  uint32_t batch_invariant; /* 1: a row's result is the same bits alone and among any others */
  const char* format;       /* id with revision, or "*": any format, through its decoder */
  const char* activation;   /* scheme of x: "act.f32/1" (float32 as it is), or one that act_prepare makes */
  const char* device;       /* "cpu" */
  const char* isa;          /* features the processor must have, separated by blanks; "" none */
  const char* tier;         /* "tuned", "portable" or "reference" */
  const char* numerics;     /* one line for explain, e.g. "f32 sums in 16 lanes" */
  uint64_t features;
  uint64_t pack_rows; /* the host packs in pieces of a multiple of this many rows (the last may be shorter) */
  /* |y - y_ref| <= max_error * sum_k |x| |w| for every output, y_ref from decode_rows in float64. */
  double max_error;
} mortise_linear_claim;

/* A weight: `rows` rows of `tensor` from `row0` on. */
typedef struct mortise_linear_desc {
  uint32_t size;
  uint32_t reserved;
  uint64_t row0, rows, k;
  const mortise_tensor* tensor;
  const mortise_format* format;
  void* format_self;
} mortise_linear_desc;

typedef struct mortise_linear_args {
  uint32_t size;
  uint32_t tasks;    /* of the plan */
  uint64_t m;        /* rows of x and y */
  const void* x;     /* act.f32/1: float[m][x_stride]; else what act_prepare wrote */
  uint64_t x_stride; /* elements */
  float* y;          /* [m][y_stride] */
  uint64_t y_stride;
  const float* bias; /* [n] or NULL */
  const float* add;  /* NULL, or [m][add_stride] added last (the residual); may be y itself */
  uint64_t add_stride;
} mortise_linear_args;

typedef struct mortise_linear {
  uint32_t size;
  uint32_t reserved;
  const mortise_linear_claim* const* (*claims)(void* self, uint32_t* count); /* [load] */
  /* [load] MORTISE_OK, or MORTISE_UNSUPPORTED with the reason as message. Needs no data. */
  mortise_status (*accepts)(void* self, uint32_t claim, const mortise_linear_desc* desc,
                            mortise_error* error);
  /* [load] Bytes of the packed weight, 64-byte aligned by the host. Needs no data. */
  uint64_t (*packed_bytes)(void* self, uint32_t claim, const mortise_linear_desc* desc);
  /* [worker] Packs rows [row0, row0 + rows) of the desc into their place in `packed`, the start of the whole
   * weight. planes[i] is the memory of tensor->planes[i]. */
  mortise_status (*pack)(void* self, uint32_t claim, const mortise_linear_desc* desc,
                         const void* const* planes, uint64_t row0, uint64_t rows, void* packed,
                         mortise_error* error);
  /* [load] A handle on a packed weight; `desc` and `packed` outlive it. */
  mortise_status (*bind)(void* self, uint32_t claim, const mortise_linear_desc* desc, const void* packed,
                         void** weight, mortise_error* error);
  void (*unbind)(void* self, void* weight);
  /* [worker] Rows by number to out[count][k], bit-equal to the format's decoder. MORTISE_LINEAR_UNPACK. */
  void (*unpack_rows)(void* self, void* weight, const uint32_t* rows, uint64_t count, float* out);
  /* Only for schemes other than act.f32/1: bytes of `m` prepared rows [load, engine]; pieces of that work
   * [engine]; one piece of it [worker]. A row's prepared values depend on that row alone. */
  uint64_t (*act_bytes)(void* self, uint32_t claim, uint64_t m, uint64_t k);
  uint32_t (*act_tasks)(void* self, uint32_t claim, uint64_t m, uint64_t k, uint32_t workers);
  void (*act_prepare)(void* self, uint32_t claim, const float* x, uint64_t x_stride, uint64_t m, uint64_t k,
                      void* out, uint32_t task, uint32_t tasks);
  /* [load, engine] The work of `m` rows of x: a function of its arguments alone, growing with m. Needs no
   * data, so that explain knows the scratch before anything is packed. */
  void (*plan)(void* self, uint32_t claim, const mortise_linear_desc* desc, uint64_t m, uint32_t workers,
               mortise_plan* out);
  /* [worker] One task of the plan. */
  void (*run)(void* self, void* weight, const mortise_linear_args* args, uint32_t task, void* scratch);
} mortise_linear;

#ifdef __cplusplus
}
#endif
#endif

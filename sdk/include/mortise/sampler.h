/* Kind `sampler`: one link of the chain between logits and the drawn token. Draft.
 * Thread rule: stands at each function. Flow: raw logits (their log-probabilities are recorded) -> mask ->
 * the chain in the TOML's order -> the draw, which the host does over softmax of what is left. */
#ifndef MORTISE_SAMPLER_H
#define MORTISE_SAMPLER_H
#include <mortise/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MORTISE_SAMPLER_ID "mortise.draft.sampler/1"

/* What is known of the candidates; a sampler keeps the flags true. */
enum {
  MORTISE_ROW_DENSE = 1, /* ids[i] == i for all i < count */
  MORTISE_ROW_SORTED = 2 /* by logit, falling; ties by rising id */
};

/* The candidates of one sequence. A sampler changes logits, and drops candidates by moving those it keeps to
 * the front (their order kept) and lowering `count`, never below 1. Without SORTED, candidates stand by
 * rising id. */
typedef struct mortise_sample_row {
  uint32_t size;
  uint32_t flags;
  uint32_t count;
  uint32_t vocab;
  uint32_t* ids;
  float* logits;
  const mortise_value* values; /* this sampler's parameters for this request, declared order */
  const uint32_t* history;     /* prompt, then what was generated */
  uint32_t history_count;
  uint32_t prompt_count;
  void* state; /* state_bytes of the request's, zeroed at its begin; the host copies it to clone or rewind */
  /* Random number in [0, 1) by (seed, choice, position, draw): the same for the same draw, on every run. Draw
   * 0 is the host's own. */
  double (*uniform)(const void* random, uint32_t draw);
  const void* random;
} mortise_sample_row;

typedef struct mortise_sampler {
  uint32_t size;
  uint32_t reserved;
  /* [any] 1: these values change nothing, so that the host skips the call. */
  int32_t (*is_identity)(void* self, const mortise_value* values);
  /* [any] Bytes of state of a request; 0: none. */
  uint64_t (*state_bytes)(void* self, const mortise_value* values);
  /* [worker] One call for some of the step's rows. An error ends those requests. */
  mortise_status (*apply)(void* self, mortise_sample_row* const* rows, uint32_t count, mortise_error* error);
  /* [engine] A token was drawn; NULL where the state needs none. */
  void (*accept)(void* self, void* state, const mortise_value* values, uint32_t token);
  /* [any] Checks values beyond their ranges, against the vocabulary; NULL: nothing to check. */
  mortise_status (*check)(void* self, const mortise_value* values, uint32_t vocab, mortise_error* error);
} mortise_sampler;

#ifdef __cplusplus
}
#endif
#endif

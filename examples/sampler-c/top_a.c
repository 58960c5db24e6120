/* top_a: a sampler in C. A token stays where its probability is at least a * (the largest probability)^2, so
 * a confident row is cut harder than a flat one (KoboldAI's "top-a sampling"). Thread rule: apply runs on the
 * host's workers, has no state, and touches only the row that it is given. Flow: a link of the sampler chain;
 * in TOML: sampler = ["top_a"], then top_a = 0.2 in [defaults] or a request. */
#include <math.h>
#include <mortise/plugin.h>
#include <mortise/sampler.h>

static const mortise_param top_a = {
    sizeof(mortise_param),
    MORTISE_FLOAT,
    MORTISE_PARAM_REQUEST,
    0,
    "top_a",
    "0.0",
    "[0,1]",
    NULL,
    "keep tokens at least this times the square of the largest probability; 0: all"};
static const mortise_param* const params[] = {&top_a};

static int32_t is_identity(void* self, const mortise_value* values) {
  (void)self;
  return values[0].f <= 0.0;
}

static uint64_t state_bytes(void* self, const mortise_value* values) {
  (void)self;
  (void)values;
  return 0;
}

/* By logarithms: p_i = exp(x_i - top) / sum >= a / sum^2 where x_i >= top + log(a / sum). */
static void keep(mortise_sample_row* row, double a) {
  double top = -INFINITY, sum = 0, least;
  uint32_t i, kept = 0;
  for (i = 0; i < row->count; ++i)
    if (row->logits[i] > top) top = row->logits[i];
  if (top == -INFINITY) return; /* no token is likelier than another */
  for (i = 0; i < row->count; ++i)
    if (row->logits[i] == row->logits[i]) sum += row->logits[i] == top ? 1.0 : exp(row->logits[i] - top);
  least = top + log(a / sum); /* at most top, since sum >= 1 >= a: the likeliest token always stays */
  for (i = 0; i < row->count; ++i) {
    if (!(row->logits[i] >= least)) continue;
    row->ids[kept] = row->ids[i];
    row->logits[kept++] = row->logits[i];
  }
  if (kept < row->count) row->flags &= ~(uint32_t)MORTISE_ROW_DENSE;
  row->count = kept;
}

static mortise_status apply(void* self, mortise_sample_row* const* rows, uint32_t count,
                            mortise_error* error) {
  (void)self;
  (void)error;
  for (uint32_t r = 0; r < count; ++r)
    if (rows[r]->values[0].f > 0.0) keep(rows[r], rows[r]->values[0].f);
  return MORTISE_OK;
}

static const mortise_sampler table = {
    sizeof(mortise_sampler), 0, is_identity, state_bytes, apply, NULL, NULL};

static const mortise_part part = {sizeof(mortise_part),
                                  1,
                                  "sampler",
                                  "top_a",
                                  MORTISE_SAMPLER_ID,
                                  "cuts by the square of the likeliest token",
                                  params,
                                  &table,
                                  NULL,
                                  NULL};

MORTISE_PLUGIN("example.top_a", "0.1.0", "Apache-2.0", MORTISE_SAMPLER_ID, "sampler:top_a", "", &part);

/* Kind `format`: how the numbers of a tensor are stored, with a reference decoder. Draft.
 * Thread rule: stands at each function. Flow: weights plugins name a format per tensor; any linear plugin can
 * run any format through decode_rows, and every fast kernel is measured against it. The part's name is the id
 * without its revision ("gguf.q4_1"). */
#ifndef MORTISE_FORMAT_H
#define MORTISE_FORMAT_H
#include <mortise/weights.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MORTISE_FORMAT_ID "mortise.draft.format/2"

typedef struct mortise_format {
  uint32_t size;
  uint32_t reserved;
  const char* id; /* "gguf.q4_1/1" */
  /* Elements of one block along a row, and its bytes in the one "block" plane, rows following each other
   * without gaps; a row holds a whole number of blocks. 0, 0: the format has a layout of several planes. */
  uint64_t block_elements;
  uint64_t block_bytes;
  /* [load] Are rank, shape, planes and parameters possible? Called before any byte of the data is read. */
  mortise_status (*validate)(void* self, const mortise_tensor* tensor, mortise_error* error);
  /* [worker] Decodes `rows` rows from `row0` on to out[rows][k] of float32, exactly as the format's source
   * defines. planes[i] is the memory of tensor->planes[i]. Reads no other tensor state, keeps none. */
  void (*decode_rows)(void* self, const mortise_tensor* tensor, const void* const* planes, uint64_t row0,
                      uint64_t rows, float* out);
  /* Of layouts of several planes. Bit i: plane i holds the tensor's rows one after another, in equally many
   * bytes, so that some of them can be kept without the others; planes without their bit then serve all rows
   * alike. 0: rows cannot be kept alone. */
  uint64_t row_planes;
} mortise_format;

#ifdef __cplusplus
}
#endif
#endif

/* Kind `weights`: opens a model file or folder and says what is in it. Draft.
 * Thread rule: [load] unless a function says otherwise. Flow: first in the line; the host maps the files that
 * planes name, arch, tokenizer and chat read the same model through mortise_model. */
#ifndef MORTISE_WEIGHTS_H
#define MORTISE_WEIGHTS_H
#include <mortise/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MORTISE_WEIGHTS_ID "mortise.draft.weights/2"
#define MORTISE_RANK_MAX 4

/* A range of a mapped file. `file` is the handle that host.map_file gave. */
typedef struct mortise_plane {
  uint32_t size;
  uint32_t file;
  uint64_t offset;  /* bytes from the file's start */
  uint64_t length;  /* bytes */
  const char* role; /* "data"; of schemes with several planes: "codes", "scales", "zeros", "group_index" */
  const char*
      dtype; /* element type of a planar layout ("i32", "f16"); "block" where the format's blocks lie in it */
  uint64_t shape[2]; /* of a planar layout; 0, 0 for "block" */
} mortise_plane;

/* A tensor. shape[0] is the outermost dimension, shape[rank - 1] the contiguous one (k of a linear weight).
 * The tensor has shape[0] * .. * shape[rank - 2] rows of shape[rank - 1] elements. */
typedef struct mortise_tensor {
  uint32_t size;
  uint32_t rank; /* 1..MORTISE_RANK_MAX */
  mortise_str name;
  const char* format; /* "gguf.q4_1/1": id and revision */
  uint64_t shape[MORTISE_RANK_MAX];
  uint32_t plane_count;
  uint32_t param_count;
  const mortise_plane* const* planes;
  const mortise_attr* const* params; /* the format's, e.g. bits and group size */
} mortise_tensor;

/* open: accept a file that ends after its header; planes then lie behind its end and must not be read. */
enum { MORTISE_OPEN_HEADER_ONLY = 1 };

typedef struct mortise_write_meta {
  uint32_t size;
  uint32_t reserved;
  mortise_str key;
  mortise_meta value;
} mortise_write_meta;

typedef struct mortise_write_blob {
  uint32_t size;
  uint32_t reserved;
  mortise_str name; /* of the file, without folders */
  mortise_bytes bytes;
} mortise_write_blob;

/* All that a written model will hold. Metadata and blobs are in the plugin's own dialect; a plugin refuses
 * what its container cannot hold. Of a tensor, name, format, shape and params count; it has no planes yet. */
typedef struct mortise_write_plan {
  uint32_t size;
  uint32_t reserved;
  uint64_t meta_count;
  uint64_t blob_count;
  uint64_t tensor_count;
  const mortise_write_meta* const* metas;
  const mortise_write_blob* const* blobs;
  const mortise_tensor* const* tensors;
} mortise_write_plan;

typedef struct mortise_weights {
  uint32_t size;
  uint32_t reserved;
  /* How sure the plugin is that `path` is its own: 0 not at all .. 100. `head` holds the first bytes (up to
   * 4096) of a file and is empty for a folder. Must not fail on any bytes. */
  int32_t (*probe)(void* self, mortise_str path, mortise_bytes head);
  /* Reads and checks the header; nothing of the data. Errors carry file and byte offset. */
  mortise_status (*open)(void* self, mortise_str path, uint32_t flags, void** model, mortise_error* error);
  void (*close)(void* self, void* model);
  /* The naming scheme of metadata and tensors: "gguf", "hf" or the plugin's own. [any] */
  const char* (*dialect)(void* self, void* model);
  /* Metadata by key, MORTISE_NOT_FOUND where absent, and all of it by index. Values live as long as the
   * model. [any] */
  mortise_status (*meta)(void* self, void* model, mortise_str key, mortise_meta* value);
  uint64_t (*meta_count)(void* self, void* model);
  mortise_status (*meta_at)(void* self, void* model, uint64_t index, mortise_str* key, mortise_meta* value);
  /* A companion text of the model by name ("tokenizer.json"); MORTISE_NOT_FOUND where absent. [any] */
  mortise_status (*blob)(void* self, void* model, mortise_str name, mortise_bytes* bytes);
  /* Tensors in file order; the struct lives as long as the model. [any] */
  uint64_t (*tensor_count)(void* self, void* model);
  const mortise_tensor* (*tensor)(void* self, void* model, uint64_t index);
  /* Writing, for tools; all four NULL where the plugin only reads. What is written stands under a temporary
   * name beside `path` until write_end moves it there whole; the plan and what it points to outlive the
   * writer. */
  mortise_status (*write_begin)(void* self, mortise_str path, const mortise_write_plan* plan, void** writer,
                                mortise_error* error);
  /* [worker] Encodes rows [row0, row0 + rows) of tensor `index` of the plan out of x[rows][k]. row0 is a
   * multiple of 64, and rows too but at the tensor's end. Each row is written once, in any order, also at
   * once. importance: [k], how much an error in each column weighs, or NULL. */
  mortise_status (*write_rows)(void* self, void* writer, uint64_t index, uint64_t row0, uint64_t rows,
                               const float* x, const float* importance, mortise_error* error);
  /* Frees the writer, whether it succeeds or not; where it fails nothing is left behind. */
  mortise_status (*write_end)(void* self, void* writer, mortise_error* error);
  void (*write_abort)(void* self, void* writer);
} mortise_weights;

/* An opened model as the host shows it to arch, tokenizer and chat plugins. [any]; lives until their instance
 * or loaded object is destroyed. */
typedef struct mortise_model {
  uint32_t size;
  uint32_t reserved;
  void* ctx;
  mortise_str path;
  const char* dialect;
  mortise_status (*meta)(void* ctx, mortise_str key, mortise_meta* value);
  mortise_status (*blob)(void* ctx, mortise_str name, mortise_bytes* bytes);
  const mortise_tensor* (*tensor)(void* ctx, mortise_str name); /* NULL where absent */
  /* All of it by index, as in mortise_weights. */
  uint64_t (*meta_count)(void* ctx);
  mortise_status (*meta_at)(void* ctx, uint64_t index, mortise_str* key, mortise_meta* value);
  uint64_t (*tensor_count)(void* ctx);
  const mortise_tensor* (*tensor_at)(void* ctx, uint64_t index);
} mortise_model;

#ifdef __cplusplus
}
#endif
#endif

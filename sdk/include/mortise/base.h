/* Values that cross the plugin boundary: strings, errors, parameters. Frozen from 1.0.
 * Thread rule: plain data, no state. Flow: included by every other SDK header.
 *
 * Rules of the whole contract:
 *  - A struct with a leading `size` grows only at its tail and has no tail padding; the writer stores its own
 * sizeof there. Arrays of such structs cross as arrays of pointers.
 *  - The value types without `size` (mortise_str, mortise_bytes, mortise_meta, mortise_value) never change.
 *  - Every function's comment names the threads that may call it: [main] the thread that starts the program,
 * [load] a thread that builds a pipeline, [engine] the engine's own thread, [worker] any thread of the host's
 * pool, [any] every thread. A pointer that a plugin returns lives as long as its instance unless the comment
 * says less.
 *  - No function throws, exits, aborts or prints. */
#ifndef MORTISE_BASE_H
#define MORTISE_BASE_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MORTISE_ABI 1

/* True where struct *p, written by a possibly older or newer side, has the field. */
#define MORTISE_HAS(p, type, field) ((p) != NULL && (p)->size >= offsetof(type, field) + sizeof((p)->field))

/* UTF-8 unless a comment says bytes; not zero-terminated. Frozen. */
typedef struct mortise_str {
  const char* data;
  size_t size;
} mortise_str;

typedef struct mortise_bytes {
  const uint8_t* data;
  size_t size;
} mortise_bytes;

/* Result codes. A code that the reader does not know means MORTISE_INTERNAL. */
typedef int32_t mortise_status;
enum {
  MORTISE_OK = 0,
  MORTISE_UNSUPPORTED = 1,  /* valid, but not offered here */
  MORTISE_BAD_ARGUMENT = 2, /* a setting or request parameter is wrong */
  MORTISE_BAD_DATA = 3,     /* a file or a message is damaged */
  MORTISE_NO_MEMORY = 4,
  MORTISE_IO = 5,
  MORTISE_CANCELLED = 6,
  MORTISE_LIMIT = 7, /* larger than a named limit */
  MORTISE_NOT_FOUND = 8,
  MORTISE_OVERLOADED = 9, /* try again later */
  MORTISE_INTERNAL = 10
};

#define MORTISE_NO_OFFSET UINT64_MAX

/* An error lies on the caller's stack. The caller sets `size`; the callee fills the rest with zero-terminated
 * text (the C++ helper and mortise_fail cut what is too long). `where` is a file, key or parameter; `offset`
 * is a byte offset in it, or MORTISE_NO_OFFSET. */
typedef struct mortise_error {
  uint32_t size;
  int32_t code;
  uint64_t offset;
  char where[256];
  char message[768];
} mortise_error;

/* Types of a declared parameter. */
typedef enum mortise_type {
  MORTISE_BOOL = 0,
  MORTISE_INT = 1,
  MORTISE_FLOAT = 2,
  MORTISE_ENUM = 3, /* a string out of `range`, e.g. "human|json" */
  MORTISE_STRING = 4,
  MORTISE_LIST = 5, /* of strings or numbers */
  MORTISE_MAP = 6,  /* string keys, numbers or strings as values */
  MORTISE_JSON = 7, /* any JSON text */
  MORTISE_BYTES = 8,
  MORTISE_DURATION = 9, /* integer milliseconds */
  MORTISE_PATH = 10,    /* relative to the pipeline file */
  MORTISE_SECRET = 11,  /* a string that is never shown */
  MORTISE_TYPE_MAX_ = 0x7fffffff
} mortise_type;

enum {
  MORTISE_PARAM_CONFIG = 1,  /* may stand in the plugin's own TOML table */
  MORTISE_PARAM_REQUEST = 2, /* may stand in a request and in [defaults] */
  MORTISE_PARAM_RELOADABLE = 4,
  MORTISE_PARAM_REDACTED = 8
};

/* A declared parameter. The host checks TOML and requests against it, fills the default, prints help, and
 * front ends publish it. `fallback` is the default as TOML would write it ("1.0", "\"human\"", "[]"); NULL:
 * no default, the value may be absent. `range`: "[0,1]", "(0,1]", "[0,)" for numbers (and for the length of
 * strings and lists), "a|b|c" for enums, NULL for none. `unit`: "ms", "bytes", "tokens" or NULL. `help`: one
 * line. */
typedef struct mortise_param {
  uint32_t size;
  uint32_t type;
  uint32_t flags;
  uint32_t reserved;
  const char* name;
  const char* fallback;
  const char* range;
  const char* unit;
  const char* help;
} mortise_param;

/* A value of a parameter; arrays of values are in the declared order. Frozen.
 * BOOL, INT, DURATION: i. FLOAT: f. ENUM: i is the index of the choice and s its text. STRING, PATH, SECRET,
 * BYTES, JSON: s. LIST, MAP: items[count], each with its own type; keys[count] for MAP, else NULL. */
typedef struct mortise_value {
  uint32_t type;
  uint32_t is_set; /* 0: absent and without default */
  int64_t i;
  double f;
  mortise_str s;
  const struct mortise_value* items;
  const mortise_str* keys;
  size_t count;
} mortise_value;

/* A value of a weights file's metadata. `data` points to `count` elements of int64_t (BOOL, INT), double
 * (FLOAT) or mortise_str (STRING); a scalar has count 1 and is_array 0. Frozen. */
typedef struct mortise_meta {
  uint32_t type;
  uint32_t is_array;
  size_t count;
  const void* data;
} mortise_meta;

/* A named constant: attribute of an operation, parameter of a format. INT, BOOL: i. FLOAT: f. STRING: s.
 * LIST: values[count]. Frozen. */
typedef struct mortise_attr {
  const char* name;
  uint32_t type;
  uint32_t count;
  int64_t i;
  double f;
  const char* s;
  const double* values;
} mortise_attr;

/* What one piece of work needs: `tasks` calls of run, each with `scratch_bytes` of 64-byte aligned memory
 * that the host gives per worker and that holds nothing when run is called. */
typedef struct mortise_plan {
  uint32_t size;
  uint32_t tasks;
  uint64_t scratch_bytes;
} mortise_plan;

#ifdef __cplusplus
}
#endif
#endif

/* Entry point and manifest of a plugin. Frozen from 1.0.
 * Thread rule: the descriptor is constant. Flow: the host reads the note before it opens the file, then calls
 * mortise_plugin_v1 once, then create() for every instance that a pipeline asks for. */
#ifndef MORTISE_PLUGIN_H
#define MORTISE_PLUGIN_H
#include <mortise/host.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One thing that a plugin offers: a kind's interface under a name. */
typedef struct mortise_part {
  uint32_t size;
  uint32_t param_count;
  const char* kind;         /* "sampler" */
  const char* name;         /* what TOML uses; unique per kind: [a-z0-9._-], at most 63 bytes */
  const char* interface_id; /* "mortise.draft.sampler/1" */
  const char* help;         /* one line */
  const mortise_param* const* params;
  const void* table; /* the kind's struct of functions, e.g. mortise_sampler */
  /* [load] Makes an instance. `values` are param_count values in declared order, alive until destroy; `host`
   * too. May be called any number of times, also at once from several threads. NULL create: the part needs no
   * instance. */
  mortise_status (*create)(const mortise_host* host, const mortise_value* values, void** self,
                           mortise_error* error);
  void (*destroy)(void* self); /* [load] */
} mortise_part;

typedef struct mortise_plugin {
  uint32_t size;
  uint32_t abi; /* MORTISE_ABI as compiled */
  uint32_t part_count;
  uint32_t reserved;
  const char* id; /* "vendor.name" */
  const char* version;
  const char* license;
  const mortise_part* const* parts;
} mortise_plugin;

typedef const mortise_plugin* mortise_plugin_entry(void);
#define MORTISE_ENTRY_NAME "mortise_plugin_v1"

/* The manifest: an ELF note (owner "Mortise", type 1) in section .note.mortise. Its text ends with a zero
 * byte, has at most 4096 bytes and consists of lines `key=value`. Keys, each once, lists separated by blanks:
 *  - abi: 1
 *  - id: vendor.name, [a-z0-9._-], at most 63 bytes
 *  - version, license
 *  - needs: interface ids that the host must have
 *  - provides: kind:name of every part
 *  - isa: features that the processor must have, also for the file's constructors; of: sse4.2 avx avx2 fma
 * f16c bmi2 avx512f avx512bw avx512vl avx512dq avx512vnni avx512bf16 avxvnni
 *  - device: cpu (default), cuda
 *  - libs: private libraries beside the plugin, which the host loads before it
 *  - threads: none (default) or own
 * Needed: abi, id, version, license, needs, provides. The descriptor must say the same; a key that the host
 * does not know is refused. */
#define MORTISE_NOTE_OWNER "Mortise"
#define MORTISE_NOTE_TYPE 1u
#define MORTISE_MANIFEST_BYTES_MAX 4096u

#ifdef __cplusplus
#define MORTISE_EXTERN extern "C"

#else
#define MORTISE_EXTERN extern

#endif
#define MORTISE_EXPORT MORTISE_EXTERN __attribute__((visibility("default")))

/* MORTISE_MANIFEST(text): puts the note into the file. One per plugin. */
#define MORTISE_MANIFEST(text)                                                            \
  __attribute__((section(".note.mortise"), used, aligned(4))) static const struct {       \
    uint32_t owner_bytes, text_bytes, type;                                               \
    char owner[8];                                                                        \
    char body[(sizeof(text) + 3) / 4 * 4];                                                \
  } mortise_manifest_note = {sizeof(MORTISE_NOTE_OWNER), sizeof(text), MORTISE_NOTE_TYPE, \
                             MORTISE_NOTE_OWNER, text}

/* MORTISE_PLUGIN(id, version, license, needs, provides, more, parts...): manifest and entry point in one.
 * `more` holds further manifest lines, each ended by \n, or "". `parts` are addresses of mortise_part. */
#define MORTISE_PLUGIN(id_, version_, license_, needs_, provides_, more_, ...)                    \
  MORTISE_MANIFEST("abi=1\nid=" id_ "\nversion=" version_ "\nlicense=" license_ "\nneeds=" needs_ \
                   "\nprovides=" provides_ "\n" more_);                                           \
  static const mortise_part* const mortise_plugin_parts[] = {__VA_ARGS__};                        \
  static const mortise_plugin mortise_plugin_descriptor = {                                       \
      sizeof(mortise_plugin),                                                                     \
      MORTISE_ABI,                                                                                \
      sizeof(mortise_plugin_parts) / sizeof(mortise_plugin_parts[0]),                             \
      0,                                                                                          \
      id_,                                                                                        \
      version_,                                                                                   \
      license_,                                                                                   \
      mortise_plugin_parts};                                                                      \
  MORTISE_EXPORT const mortise_plugin* mortise_plugin_v1(void);                                   \
  const mortise_plugin* mortise_plugin_v1(void) { return &mortise_plugin_descriptor; }            \
  struct mortise_plugin_end_

#ifdef __cplusplus
}
#endif
#endif

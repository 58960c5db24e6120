/* A plugin that is right unless a macro says otherwise; each target of CMakeLists.txt sets its own.
 * Thread rule: as plugin.h. Flow: built into folders of their own, loaded by the loader's tests.
 *
 * FAULT_ABI, FAULT_NEEDS, FAULT_PROVIDES, FAULT_MORE, FAULT_TEXT: the manifest. FAULT_VERSION, FAULT_RANGE:
 * the descriptor. FAULT_CONSTRUCTOR: a statement that runs inside dlopen. FAULT_HELPER: what the visible
 * function `helper` returns. FAULT_CALL: a function that nobody defines. FAULT_ENTRY: the name of the entry
 * point. */
#include <mortise/plugin.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef FAULT_ID
#define FAULT_ID "fault.good"
#endif
#ifndef FAULT_NAME
#define FAULT_NAME "good"
#endif
#ifndef FAULT_ABI
#define FAULT_ABI "1"
#endif
#ifndef FAULT_NEEDS
#define FAULT_NEEDS FAULT_INTERFACE
#endif
#ifndef FAULT_PROVIDES
#define FAULT_PROVIDES "sampler:" FAULT_NAME
#endif
#ifndef FAULT_MORE
#define FAULT_MORE ""
#endif
#ifndef FAULT_TEXT
#define FAULT_TEXT                                                                          \
  "abi=" FAULT_ABI "\nid=" FAULT_ID "\nversion=1.0\nlicense=Apache-2.0\nneeds=" FAULT_NEEDS \
  "\nprovides=" FAULT_PROVIDES "\n" FAULT_MORE
#endif
#ifndef FAULT_VERSION
#define FAULT_VERSION "1.0"
#endif
#ifndef FAULT_RANGE
#define FAULT_RANGE "[0,10]"
#endif
#ifndef FAULT_HELPER
#define FAULT_HELPER 1
#endif
#ifndef FAULT_ENTRY
#define FAULT_ENTRY mortise_plugin_v1
#endif
#ifndef FAULT_NO_NOTE
MORTISE_MANIFEST(FAULT_TEXT);
#endif

#ifdef FAULT_CONSTRUCTOR
__attribute__((constructor)) static void constructor(void) { FAULT_CONSTRUCTOR; }
#endif

#ifdef FAULT_CALL
int FAULT_CALL(void);
#endif

/* Visible on purpose: two plugins and the test program each have a `helper`. */
__attribute__((visibility("default"))) int helper(void) { return FAULT_HELPER; }

/* What the tests call through the part's table. */
typedef struct fault_table {
  uint32_t size;
  int (*helper)(void);
  int64_t (*level)(void* self);
} fault_table;

static int64_t level(void* self) { return *(int64_t*)self; }
static int call_helper(void) { return helper(); }

static mortise_status create(const mortise_host* host, const mortise_value* values, void** self,
                             mortise_error* error) {
  (void)host;
  if (values[0].i == 7) {
    strcpy(error->message, "level 7 is not to be had; take another");
    return MORTISE_UNSUPPORTED;
  }
#ifdef FAULT_CALL
  if (FAULT_CALL() != 0) return MORTISE_INTERNAL;
#endif
  int64_t* made = malloc(sizeof(int64_t));
  if (made == NULL) return MORTISE_NO_MEMORY;
  *made = values[0].i;
  *self = made;
  return MORTISE_OK;
}

static void destroy(void* self) { free(self); }

static const mortise_param level_param = {
    sizeof(mortise_param), MORTISE_INT, MORTISE_PARAM_CONFIG, 0, "level", "3",
    FAULT_RANGE,           NULL,        "a number to keep"};
static const mortise_param* const params[] = {&level_param};
static const fault_table table = {sizeof(fault_table), call_helper, level};
static const mortise_part part = {sizeof(mortise_part), 1,      "sampler", FAULT_NAME, FAULT_INTERFACE,
                                  "does nothing",       params, &table,    create,     destroy};
static const mortise_part* const parts[] = {&part};
static const mortise_plugin descriptor = {sizeof(mortise_plugin), MORTISE_ABI,  1,    0, FAULT_ID,
                                          FAULT_VERSION,          "Apache-2.0", parts};

MORTISE_EXPORT const mortise_plugin* FAULT_ENTRY(void);
const mortise_plugin* FAULT_ENTRY(void) { return &descriptor; }

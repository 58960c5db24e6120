/* Kind `frontend`: whatever asks the engine for tokens, tools included. Draft.
 * Thread rule: stands at each function. Flow: the host loads what `needs` says, then calls run on a thread of
 * its own; the program ends when every front end has returned. */
#ifndef MORTISE_FRONTEND_H
#define MORTISE_FRONTEND_H
#include <mortise/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MORTISE_FRONTEND_ID "mortise.draft.frontend/1"

/* What must be loaded: nothing, metadata alone, tokenizer and chat, or a running engine (and text where there
 * is any). */
enum { MORTISE_NEEDS_NONE = 0, MORTISE_NEEDS_WEIGHTS = 1, MORTISE_NEEDS_TEXT = 2, MORTISE_NEEDS_ENGINE = 3 };

typedef struct mortise_services {
  uint32_t size;
  uint32_t argument_count;
  const mortise_str* arguments; /* what stood behind the pipeline on the command line */
  const mortise_text* text;     /* NULL below MORTISE_NEEDS_TEXT or where [use] tokenizer = "none" */
  const mortise_engine* engine; /* NULL below MORTISE_NEEDS_ENGINE */
  double load_seconds;          /* from the program's start until the pipeline was ready */
} mortise_services;

typedef struct mortise_frontend {
  uint32_t size;
  uint32_t needs;
  /* [front end's thread] Works until there is no more to do (end of input, a tool's last line) or stop.
   * Standard input and output are the front end's; an error becomes the program's one error line and exit
   * status. */
  mortise_status (*run)(void* self, const mortise_services* services, mortise_error* error);
  /* drain, stop and interrupt may come at any time between create and destroy, also before run and after it.
   * [main] Take no new work; run returns when what was accepted is answered, at most deadline_ms from now. */
  void (*drain)(void* self, uint32_t deadline_ms);
  /* [main] Return from run at once. May follow drain. */
  void (*stop)(void* self);
  /* [main] SIGINT arrived. 1: taken care of (an answer was stopped); 0: the host should drain. NULL: 0. */
  int32_t (*interrupt)(void* self);
  /* How well it serves a pipeline that names no front end; 0: only where it is named. */
  uint64_t suits;
} mortise_frontend;

#ifdef __cplusplus
}
#endif
#endif

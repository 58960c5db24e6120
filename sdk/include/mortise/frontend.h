/* Kind `frontend`: whatever asks the engine for tokens, tools included. Draft.
 * Thread rule: stands at each function. Flow: the host loads what `needs` says, then calls run on a thread of
 * its own; the program ends when every front end has returned. */
#ifndef MORTISE_FRONTEND_H
#define MORTISE_FRONTEND_H
#include <mortise/engine.h>
#include <mortise/format.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MORTISE_FRONTEND_ID "mortise.draft.frontend/2"

/* What must be loaded: nothing, metadata alone, tokenizer and chat, or a running engine (and text where there
 * is any). */
enum { MORTISE_NEEDS_NONE = 0, MORTISE_NEEDS_WEIGHTS = 1, MORTISE_NEEDS_TEXT = 2, MORTISE_NEEDS_ENGINE = 3 };

/* The opened model, for tools that read and write models. [any thread of a front end; worker where it says]
 */
typedef struct mortise_model_service {
  uint32_t size;
  uint32_t reserved;
  void* ctx;
  const mortise_model* model;
  /* [worker too] Rows [row0, row0 + rows) of one of the model's tensors as float32, out[rows][k], by the
   * reference decoder of its format; a row is shape[rank - 1] elements. Errors: BAD_ARGUMENT for rows that
   * are not there, UNSUPPORTED where no plugin decodes the format, BAD_DATA where the file ends too early. */
  mortise_status (*read_rows)(void* ctx, const mortise_tensor* tensor, uint64_t row0, uint64_t rows,
                              float* out, mortise_error* error);
  /* [worker too] The tensor will not be read soon: the pages of its file are let go. */
  void (*release)(void* ctx, const mortise_tensor* tensor);
  /* The installed weights plugin of that name, with its settings, for write_begin and what follows. Errors:
   * BAD_ARGUMENT where none of that name writes; the message lists those that do. */
  mortise_status (*writer)(void* ctx, mortise_str plugin, const mortise_weights** table, void** self,
                           mortise_error* error);
  /* The format of that id ("gguf.q4_k/1"), for its geometry; NULL where no plugin brings it. */
  const mortise_format* (*format)(void* ctx, mortise_str id);
} mortise_model_service;

typedef struct mortise_services mortise_services;
struct mortise_services {
  uint32_t size;
  uint32_t argument_count;
  const mortise_str* arguments;       /* what stood behind the pipeline on the command line */
  const mortise_text* text;           /* NULL below MORTISE_NEEDS_TEXT or where [use] tokenizer = "none" */
  const mortise_engine* engine;       /* NULL below MORTISE_NEEDS_ENGINE */
  double load_seconds;                /* from the program's start until the pipeline was ready */
  const mortise_model_service* model; /* NULL below MORTISE_NEEDS_WEIGHTS */
  void* ctx;
  /* [any thread of a front end] Loads another model beside this one, with the settings of this pipeline and
   * as much of it as this one has loaded; the weights plugin is chosen by asking all. Its engine, pool and
   * memory are its own. Errors: as at the start; NO_MEMORY where it does not fit beside this one. */
  mortise_status (*open)(void* ctx, mortise_str model_path, const mortise_services** opened,
                         mortise_error* error);
  /* [any thread of a front end] Ends what open made. Nothing of it may be in use. What is still open when
   * run has returned is closed then. */
  void (*close)(void* ctx, const mortise_services* opened);
};

typedef struct mortise_frontend {
  uint32_t size;
  uint32_t reserved;
  /* [load] What must be loaded for these settings, MORTISE_NEEDS_*. Called after create. */
  uint32_t (*needs)(void* self);
  /* [load] Whether there is all that run needs of settings and files; called before the model is opened, but
   * not where a pipeline is only explained. `where` of an error is the key. NULL: nothing to check. */
  mortise_status (*check)(void* self, mortise_error* error);
  /* [front end's thread] Works until there is no more to do (end of input, a tool's last line) or stop.
   * Standard input and output are the front end's; an error becomes the program's one error line and exit
   * status 1. */
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

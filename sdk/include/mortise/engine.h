/* The services that the host lends to front ends: requests and events, text, and what is known of the
 * pipeline. Draft. Thread rule: every function is [any thread of a front end] unless it says otherwise; the
 * host never calls back. Flow: a front end submits, then pulls events from its channel until the one terminal
 * event of each request. */
#ifndef MORTISE_ENGINE_H
#define MORTISE_ENGINE_H
#include <mortise/chat.h>
#include <mortise/tokenizer.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  MORTISE_REQUEST_NO_CACHE = 1,       /* neither takes from the prefix cache nor adds to it */
  MORTISE_REQUEST_IGNORE_UNKNOWN = 2, /* unknown keys in `parameters` are passed over */
  MORTISE_REQUEST_WAIT = 4 /* submit waits while the queue is full, instead of MORTISE_OVERLOADED */
};

/* A request. Everything is copied by submit. */
typedef struct mortise_request {
  uint32_t size;
  uint32_t flags;
  const uint32_t* prompt; /* token ids, used as they are; at least one */
  uint64_t prompt_count;
  /* JSON object of request parameters, checked against what engine and samplers declare (`parameters` of the
   * service): max_tokens, stop, seed, top_logprobs, ignore_eos, echo, temperature, .. "" for none. An error's
   * `where` is the parameter's name. */
  mortise_str parameters;
} mortise_request;

typedef enum mortise_event_type {
  MORTISE_EVENT_DELTA = 1, /* more text or tokens; several are merged where the reader is slow */
  MORTISE_EVENT_DONE = 2,  /* terminal */
  MORTISE_EVENT_ERROR = 3, /* terminal */
  MORTISE_EVENT_MAX_ = 0x7fffffff
} mortise_event_type;

enum { MORTISE_FINISH_STOP = 1, MORTISE_FINISH_LENGTH = 2, MORTISE_FINISH_CANCELLED = 3 };

/* Log-probability of a token in the raw distribution, and the `top_count` largest, falling. NAN: the first
 * token of an echoed prompt, which has none. Frozen. */
typedef struct mortise_logprob {
  float logprob;
  uint32_t top_count;
  const uint32_t* top_ids;
  const float* top_logprobs;
} mortise_logprob;

/* Pointers live until the next call of next_event on the channel. A terminal event may carry text and tokens
 * too. */
typedef struct mortise_event {
  uint32_t size;
  uint32_t type;
  uint64_t request;
  mortise_str text;       /* that became certain: whole characters, nothing of a stop string */
  const uint32_t* tokens; /* in order; the end-of-sequence token and those behind a stop string left out */
  uint64_t token_count;
  const mortise_logprob* logprobs; /* [token_count], or NULL where not asked for */
  int32_t finish;                  /* DONE */
  int32_t stop_index;              /* DONE by a stop string: which; else -1 */
  uint64_t prompt_tokens;          /* terminal events: usage and times (nanoseconds of host.now_ns) */
  uint64_t completion_tokens;
  uint64_t cached_tokens;
  uint64_t submitted_ns;
  uint64_t first_token_ns;
  uint64_t finished_ns;
  int32_t error_code; /* ERROR */
  int32_t reserved;
  mortise_str error_where; /* a parameter's name, or empty */
  mortise_str error_message;
  mortise_str error_id; /* "context_length_exceeded", .. */
} mortise_event;

/* The pipeline, as front ends may show it. */
typedef struct mortise_engine_info {
  uint32_t size;
  uint32_t context; /* longest sequence, prompt and answer */
  uint32_t vocab;
  uint32_t max_sequences;
  uint32_t max_batch_tokens;
  uint32_t queue;
  mortise_str model; /* name: the file's or folder's, without its extension */
  mortise_str model_path;
  mortise_str family;
} mortise_engine_info;

typedef struct mortise_engine_stats {
  uint32_t size;
  uint32_t running;
  uint32_t waiting;
  uint32_t reserved;
  uint64_t kv_blocks;      /* in all */
  uint64_t kv_blocks_used; /* by running sequences */
  uint64_t kv_blocks_cached;
  uint64_t steps;
  uint64_t preemptions;
  uint64_t prompt_tokens;
  uint64_t cached_tokens;
  uint64_t completion_tokens;
  uint64_t requests_done;
  uint64_t requests_failed;
  uint64_t step_ns; /* spent in steps */
  uint64_t host_ns; /* of which outside plugins */
  /* Steps that a kernel or want of memory failed, and their requests with them: the pipeline is degraded. */
  uint64_t steps_failed;
} mortise_engine_stats;

/* Rows of a score: logits as the model gives them, before samplers. */
typedef struct mortise_score_rows {
  uint32_t size;
  uint32_t count;
  uint64_t position;   /* of the first; the logits at position p are those of token p + 1 */
  const float* logits; /* [count][vocab], until the next call on the score */
} mortise_score_rows;

#define MORTISE_ENGINE_ID "mortise.draft.engine/3"
typedef struct mortise_engine {
  uint32_t size;
  uint32_t reserved;
  void* ctx;
  /* A queue of events, and an eventfd that is readable while it may hold some. close cancels what still runs.
   * No other call on a channel may be under way then, or come after. One thread at a time calls next_event.
   */
  mortise_status (*open_channel)(void* ctx, void** channel, int32_t* event_fd, mortise_error* error);
  void (*close_channel)(void* ctx, void* channel);
  /* Checks, copies and queues. Errors: BAD_ARGUMENT (where: the parameter), LIMIT (context_length_exceeded;
   * the message has both counts), OVERLOADED, CANCELLED while the program ends. */
  mortise_status (*submit)(void* ctx, void* channel, const mortise_request* request, uint64_t* id,
                           mortise_error* error);
  /* Asynchronous and idempotent; the terminal event says cancelled unless the request was done before. */
  void (*cancel)(void* ctx, uint64_t id);
  /* Waits up to timeout_ms (-1: for ever, 0: not at all). 1: an event; 0: none in time; -1: the channel is
   * closed. */
  int32_t (*next_event)(void* ctx, void* channel, int32_t timeout_ms, mortise_event* event);
  void (*info)(void* ctx, mortise_engine_info* out);
  void (*stats)(void* ctx, mortise_engine_stats* out);
  /* Every request parameter that is declared, the engine's own first. */
  const mortise_param* const* (*parameters)(void* ctx, uint32_t* count);
  /* Scores: the logits of every position of `tokens`, for tools that compare distributions. They come in
   * chunks, in order; the engine computes on only while there is room for a chunk, so nothing is held whole
   * and a slow reader holds up nobody else. begin copies the tokens and waits while the queue is full; errors
   * as of submit, and LIMIT where too many scores are open. */
  mortise_status (*score_begin)(void* ctx, const uint32_t* tokens, uint64_t count, void** score,
                                mortise_error* error);
  /* Waits up to timeout_ms (-1: for ever). One thread at a time per score. `count` 0: none in time, or, at
   * once, all were given. Errors: of the step that failed; CANCELLED while the program ends. */
  mortise_status (*score_next)(void* ctx, void* score, int32_t timeout_ms, mortise_score_rows* rows,
                               mortise_error* error);
  /* Ends a score at any time. No other call on it may be under way, or come after. */
  void (*score_end)(void* ctx, void* score);
  /* Activation statistics, for tools that calibrate. 1: sums start from zero with the next step; 0: they
   * stop, and stay to be read. */
  void (*collect)(void* ctx, int32_t on);
  /* For each column of x that a linear weight was given (of a tensor of rank 3: expert `slice`; else 0), the
   * sums of x^2 and |x| over all `rows` rows that passed, in their order. squares, magnitudes: [columns], or
   * NULL. Errors: NOT_FOUND where no linear weight of the model has that name, BAD_ARGUMENT where it has
   * other columns. */
  mortise_status (*activations)(void* ctx, mortise_str tensor, uint64_t slice, uint64_t columns,
                                double* squares, double* magnitudes, uint64_t* rows, mortise_error* error);
} mortise_engine;

enum { MORTISE_PARSE_SPECIAL_UNSET = 0, MORTISE_PARSE_SPECIAL_ON = 1, MORTISE_PARSE_SPECIAL_OFF = 2 };

#define MORTISE_TEXT_ID "mortise.draft.text/2"
typedef struct mortise_text {
  uint32_t size;
  /* What [defaults] says of the request parameter parse_special; a request's own word goes before it, and
   * where both are silent special tokens are recognised in a prompt but not in what messages bring. */
  uint32_t parse_special;
  void* ctx;
  void (*vocabulary)(void* ctx, mortise_vocabulary* out);
  /* As in tokenizer.h. MORTISE_UNSUPPORTED where the pipeline has no tokenizer. */
  mortise_status (*encode)(void* ctx, const mortise_span* spans, size_t span_count, int32_t add_special,
                           uint32_t* ids, size_t capacity, size_t* count, mortise_error* error);
  mortise_status (*piece)(void* ctx, uint32_t id, int32_t first, mortise_bytes* bytes, uint32_t* flags);
  /* As in chat.h. MORTISE_UNSUPPORTED, with how to name a template, where the model has none. */
  mortise_str (*chat_template)(void* ctx);
  mortise_status (*render)(void* ctx, mortise_str request, mortise_chat_emit* emit, void* arg,
                           mortise_error* error);
  mortise_status (*reader_new)(void* ctx, mortise_str request, void** reader, mortise_error* error);
  void (*reader_feed)(void* ctx, void* reader, mortise_str text, const uint32_t* ids, size_t id_count,
                      mortise_chat_read* read, void* arg);
  void (*reader_finish)(void* ctx, void* reader, mortise_chat_read* read, void* arg);
  void (*reader_free)(void* ctx, void* reader);
} mortise_text;

#ifdef __cplusplus
}
#endif
#endif

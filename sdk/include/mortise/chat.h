/* Kind `chat`: messages and tools to prompt text, generated text to content, reasoning and tool calls. Draft.
 * Thread rule: load and free [load]; render [any], at once on one loaded chat; a reader: one thread at a
 * time. Flow: the host's text service calls render before, and a reader while, a front end answers. */
#ifndef MORTISE_CHAT_H
#define MORTISE_CHAT_H
#include <mortise/weights.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MORTISE_CHAT_ID "mortise.draft.chat/1"

/* Receives a stretch of the prompt. trusted 1: the template's own text, in which special tokens are
 * recognised; 0: text that came in with the request. */
typedef void mortise_chat_emit(void* arg, mortise_str text, int32_t trusted);

/* What a reader makes of generated text. */
enum {
  MORTISE_CHAT_CONTENT = 0,
  MORTISE_CHAT_REASONING = 1,
  MORTISE_CHAT_TOOL_NAME = 2,     /* begins a call */
  MORTISE_CHAT_TOOL_ARGUMENTS = 3 /* fragments of the JSON text of the call that began last */
};
typedef void mortise_chat_read(void* arg, int32_t what, mortise_str text);

typedef struct mortise_chat {
  uint32_t size;
  uint32_t reserved;
  /* 0: not mine, with the reason as message (e.g. the model carries no template); else how sure, to 100. */
  int32_t (*accepts)(void* self, const mortise_model* model, mortise_error* error);
  /* bos, eos: the text of those tokens, for templates that write them. A template that does not parse is an
   * error of render, not of load. */
  mortise_status (*load)(void* self, const mortise_model* model, mortise_str bos, mortise_str eos,
                         void** chat, mortise_error* error);
  void (*free_)(void* self, void* chat);
  /* The template's text, for people; empty where there is none. */
  mortise_str (*source)(void* self, void* chat);
  /* `request`: a JSON object with "messages", perhaps "tools", "add_generation_prompt" (default true) and any
   * further variable of the template. Emits the prompt in order; on an error what was emitted is void. */
  mortise_status (*render)(void* self, void* chat, mortise_str request, mortise_chat_emit* emit, void* arg,
                           mortise_error* error);
  /* A reader of one answer. `text` is valid UTF-8 with special tokens left out, `ids` the tokens it came
   * from. */
  mortise_status (*reader_new)(void* self, void* chat, mortise_str request, void** reader,
                               mortise_error* error);
  void (*reader_feed)(void* self, void* reader, mortise_str text, const uint32_t* ids, size_t id_count,
                      mortise_chat_read* read, void* arg);
  void (*reader_finish)(void* self, void* reader, mortise_chat_read* read, void* arg);
  void (*reader_free)(void* self, void* reader);
} mortise_chat;

#ifdef __cplusplus
}
#endif
#endif

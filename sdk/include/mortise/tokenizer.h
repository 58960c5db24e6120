/* Kind `tokenizer`: text to token ids and back. Draft.
 * Thread rule: load and free [load]; the rest [any], at once on one loaded tokenizer. Flow: the text service
 * of the host calls it on a front end's thread; the engine calls piece while it streams. */
#ifndef MORTISE_TOKENIZER_H
#define MORTISE_TOKENIZER_H
#include <mortise/weights.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MORTISE_TOKENIZER_ID "mortise.draft.tokenizer/2"

/* A stretch of text. parse_special 1: special tokens are recognised in it; 0: it is plain text all through. A
 * special token is never found across the border of a span without the flag; apart from that the spans are
 * one text. Frozen. */
typedef struct mortise_span {
  const char* data;
  size_t size;
  uint32_t parse_special;
  uint32_t reserved;
} mortise_span;

/* Flags of a piece. */
enum {
  MORTISE_PIECE_CONTROL = 1, /* a special token: left out of shown text */
  MORTISE_PIECE_END = 2,     /* ends a generation (end of sequence, end of turn) */
  MORTISE_PIECE_UNUSED = 4,  /* an id without a token */
  /* one byte of a character that the vocabulary has no token for: each such byte of a character that is never
   * completed becomes a U+FFFD of its own */
  MORTISE_PIECE_BYTE = 8
};

typedef struct mortise_vocabulary {
  uint32_t size;
  uint32_t count; /* ids are below it */
  int32_t bos;    /* -1: none */
  int32_t eos;
  uint32_t add_bos; /* what the model's metadata asks for */
  uint32_t add_eos;
} mortise_vocabulary;

typedef struct mortise_tokenizer {
  uint32_t size;
  uint32_t reserved;
  /* 0: not mine, with the reason as message; else how sure, to 100. */
  int32_t (*accepts)(void* self, const mortise_model* model, mortise_error* error);
  /* Builds the tables; the model outlives them. */
  mortise_status (*load)(void* self, const mortise_model* model, void** tokenizer, mortise_error* error);
  void (*free_)(void* self, void* tokenizer);
  void (*vocabulary)(void* self, void* tokenizer, mortise_vocabulary* out);
  /* Encodes the spans as one text to ids[capacity]; *count is the number of ids, also where they do not fit
   * (MORTISE_LIMIT). add_special 1: BOS and EOS as the metadata asks, never twice. */
  mortise_status (*encode)(void* self, void* tokenizer, const mortise_span* spans, size_t span_count,
                           int32_t add_special, uint32_t* ids, size_t capacity, size_t* count,
                           mortise_error* error);
  /* Bytes that the token stands for (part of a character, perhaps) and its flags. `first` 1: the first token
   * of a text that is decoded from its start (some tokenizers drop a blank there). */
  mortise_status (*piece)(void* self, void* tokenizer, uint32_t id, int32_t first, mortise_bytes* bytes,
                          uint32_t* flags);
} mortise_tokenizer;

#ifdef __cplusplus
}
#endif
#endif

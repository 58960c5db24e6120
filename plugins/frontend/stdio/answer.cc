// Putting answers together.
// Thread rule: one thread. Flow: see answer.h.
#include "answer.h"

#include "client/engine.h"

namespace mortise::stdio {
namespace {

void write_tokens(const uint32_t* tokens, size_t count, json::Writer* writer) {
  writer->open('[');
  for (size_t i = 0; i < count; ++i) writer->number(tokens[i]);
  writer->close(']');
}

void write_logprob(uint32_t id, const mortise_logprob& logprob, json::Writer* writer) {
  writer->open('{').key("id").number(id).key("logprob").number(logprob.logprob).key("top").open('[');
  for (uint32_t i = 0; i < logprob.top_count; ++i)
    writer->open('[').number(logprob.top_ids[i]).number(logprob.top_logprobs[i]).close(']');
  writer->close(']').close('}');
}

/// Milliseconds to the microsecond, or null where the end never came.
void write_ms(uint64_t begin_ns, uint64_t end_ns, json::Writer* writer) {
  if (end_ns < begin_ns || end_ns == 0)
    writer->null();
  else
    writer->number(static_cast<double>((end_ns - begin_ns) / 1000) / 1000.0);
}

}  // namespace

bool Answer::add(const mortise_event& event, std::string* out) {
  collect(event);
  if (stream_ && event.type != MORTISE_EVENT_ERROR && (event.text.size != 0 || event.token_count != 0))
    write_delta(event, out);
  if (event.type == MORTISE_EVENT_DELTA) return false;
  if (event.type == MORTISE_EVENT_DONE && event.finish != MORTISE_FINISH_CANCELLED) {
    write_done(event, out);
  } else {
    const Error error = client::event_error(event);
    const bool named = event.type == MORTISE_EVENT_ERROR && event.error_id.size != 0;
    write_error(id_, named ? view(event.error_id) : client::error_name(error), error, out);
  }
  return true;
}

void Answer::collect(const mortise_event& event) {
  text_ += view(event.text);
  tokens_.insert(tokens_.end(), event.tokens, event.tokens + event.token_count);
  if (event.logprobs == nullptr) return;
  has_logprobs_ = true;
  for (uint64_t i = 0; i < event.token_count; ++i) {
    if (!logprobs_.empty()) logprobs_ += ',';
    json::Writer writer(&logprobs_);
    write_logprob(event.tokens[i], event.logprobs[i], &writer);
  }
}

void Answer::write_delta(const mortise_event& event, std::string* out) const {
  json::Writer writer(out);
  writer.open('{').key("id").raw(id_).key("delta").string(view(event.text)).key("tokens");
  write_tokens(event.tokens, event.token_count, &writer);
  writer.close('}');
  *out += '\n';
}

void Answer::write_done(const mortise_event& event, std::string* out) const {
  json::Writer writer(out);
  writer.open('{').key("id").raw(id_).key("text").string(text_).key("tokens");
  write_tokens(tokens_.data(), tokens_.size(), &writer);
  if (has_logprobs_) writer.key("logprobs").open('[').raw(logprobs_).close(']');
  writer.key("finish_reason").string(event.finish == MORTISE_FINISH_LENGTH ? "length" : "stop");
  writer.key("usage").open('{').key("prompt_tokens").number(event.prompt_tokens);
  writer.key("completion_tokens").number(event.completion_tokens);
  writer.key("cached_tokens").number(event.cached_tokens).close('}');
  writer.key("timing").open('{').key("ttft_ms");
  write_ms(event.submitted_ns, event.first_token_ns, &writer);
  writer.key("total_ms");
  write_ms(event.submitted_ns, event.finished_ns, &writer);
  writer.close('}').close('}');
  *out += '\n';
}

void write_error(std::string_view id, std::string_view code, const Error& error, std::string* out) {
  json::Writer writer(out);
  writer.open('{').key("id").raw(id).key("error").open('{').key("code").string(code);
  writer.key("message").string(error.message).key("param");
  if (error.where.empty())
    writer.null();
  else
    writer.string(error.where);
  writer.close('}').key("finish_reason").string("error").close('}');
  *out += '\n';
}

}  // namespace mortise::stdio

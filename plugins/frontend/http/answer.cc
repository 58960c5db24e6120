// Writing completions and chunks.
// Thread rule: see answer.h. Flow: see answer.h.
#include "answer.h"

#include <cmath>
#include <ctime>

#include "client/engine.h"
#include "json/json.h"

namespace mortise::http {
namespace {

// What clients of the API take for "not in the distribution": JSON has no infinity.
constexpr float kLogprobFloor = -9999.0f;

std::string event_text(std::string_view json) { return std::string("data: ").append(json).append("\n\n"); }

std::string usage_of(const mortise_event& event) {
  std::string out;
  json::Writer writer(&out);
  writer.open('{').key("prompt_tokens").number(event.prompt_tokens);
  writer.key("completion_tokens").number(event.completion_tokens);
  writer.key("total_tokens").number(event.prompt_tokens + event.completion_tokens);
  writer.key("prompt_tokens_details").open('{').key("cached_tokens").number(event.cached_tokens);
  writer.close('}').close('}');
  return out;
}

/// {"token","logprob","bytes"} without the closing brace. A token may hold part of a character: its bytes
/// are exact, its text shows U+FFFD for the part.
void open_token(const client::Text& text, uint32_t id, float logprob, json::Writer* writer) {
  const std::string bytes = text.piece(id, false).value_or("");
  writer->open('{').key("token").string(bytes);
  writer->key("logprob").number(std::isfinite(logprob) ? logprob : kLogprobFloor);
  writer->key("bytes").open('[');
  for (const char byte : bytes) writer->number(static_cast<unsigned>(static_cast<unsigned char>(byte)));
  writer->close(']');
}

}  // namespace

Answer::Answer(const ChatRequest& request, std::string_view model, const mortise_text* text,
               std::shared_ptr<Exchange> exchange)
    : stream_(request.stream),
      include_usage_(request.include_usage),
      wants_logprobs_(request.logprobs),
      model_(model),
      created_(std::time(nullptr)),
      text_(text),
      exchange_(std::move(exchange)) {}

Result<std::unique_ptr<Answer>> Answer::make(const ChatRequest& request, std::string_view model,
                                             const mortise_text* text, std::shared_ptr<Exchange> exchange) {
  std::unique_ptr<Answer> out(new Answer(request, model, text, std::move(exchange)));
  // Tools are refused, so whatever a reader makes of the text belongs to the content.
  MORTISE_TRY(reader, client::Reader::open(text, request.render,
                                           [answer = out.get()](int32_t, std::string_view piece) {
                                             answer->content_ += piece;
                                           }));
  out->reader_ = std::move(reader);
  return out;
}

bool Answer::add(const mortise_event& event) {
  read(event);
  if (event.type == MORTISE_EVENT_DELTA) {
    if (stream_ && (!content_.empty() || !logprobs_.empty())) open_stream();
    return false;
  }
  if (event.type == MORTISE_EVENT_DONE && event.finish != MORTISE_FINISH_CANCELLED)
    finish(event);
  else
    fail_with(to_api(client::event_error(event), view(event.error_id)));
  return true;
}

void Answer::read(const mortise_event& event) {
  reader_->feed(event);
  if (event.type != MORTISE_EVENT_DELTA) reader_->finish();
  if (!wants_logprobs_ || event.logprobs == nullptr) return;
  for (uint64_t i = 0; i < event.token_count; ++i) add_logprob(event.tokens[i], event.logprobs[i]);
}

void Answer::add_logprob(uint32_t id, const mortise_logprob& logprob) {
  if (!logprobs_.empty()) logprobs_ += ',';
  json::Writer writer(&logprobs_);
  open_token(text_, id, logprob.logprob, &writer);
  writer.key("top_logprobs").open('[');
  for (uint32_t i = 0; i < logprob.top_count; ++i) {
    open_token(text_, logprob.top_ids[i], logprob.top_logprobs[i], &writer);
    writer.close('}');
  }
  writer.close(']').close('}');
}

void Answer::finish(const mortise_event& event) {
  const std::string_view reason = event.finish == MORTISE_FINISH_LENGTH ? "length" : "stop";
  const std::string usage = usage_of(event);
  if (!stream_) return send_whole(usage, reason);
  open_stream();
  write_chunk("{}", "", reason);
  if (include_usage_) write_usage_chunk(usage);
  exchange_->write(event_text("[DONE]"));
  exchange_->end(false);
}

void Answer::fail_with(const ApiError& error) {
  if (!is_open_) return exchange_->send(error.response());
  exchange_->write(event_text(error.body()));
  exchange_->end(true);
}

/// {"id","object","created","model": what every object of an answer begins with.
std::string Answer::start(std::string_view object) const {
  std::string out;
  json::Writer writer(&out);
  writer.open('{').key("id").string("chatcmpl-" + exchange_->id().substr(exchange_->id().find('_') + 1));
  writer.key("object").string(object).key("created").number(created_).key("model").string(model_);
  return out;
}

void Answer::open_stream() {
  if (!is_open_) {
    is_open_ = true;
    exchange_->begin();
    write_chunk("{\"role\":\"assistant\",\"content\":\"\"}", "", "");
  }
  if (content_.empty() && logprobs_.empty()) return;
  std::string delta;
  json::Writer(&delta).open('{').key("content").string(content_).close('}');
  write_chunk(delta, logprobs_, "");
  content_.clear();
  logprobs_.clear();
}

void Answer::write_chunk(std::string_view delta, std::string_view logprobs, std::string_view finish) {
  std::string out = start("chat.completion.chunk") + ",\"choices\":[";
  json::Writer writer(&out);
  writer.open('{').key("index").number(0).key("delta").raw(delta);
  if (!logprobs.empty())
    writer.key("logprobs").open('{').key("content").open('[').raw(logprobs).close(']').close('}');
  writer.key("finish_reason");
  finish.empty() ? writer.null() : writer.string(finish);
  out += include_usage_ ? "}],\"usage\":null}" : "}]}";
  exchange_->write(event_text(out));
}

void Answer::write_usage_chunk(const std::string& usage) {
  exchange_->write(event_text(start("chat.completion.chunk") + ",\"choices\":[],\"usage\":" + usage + "}"));
}

void Answer::send_whole(const std::string& usage, std::string_view finish) {
  std::string out = start("chat.completion") + ",\"choices\":[";
  json::Writer writer(&out);
  writer.open('{').key("index").number(0).key("message").open('{').key("role").string("assistant");
  writer.key("content").string(content_).key("refusal").null().close('}').key("logprobs");
  if (wants_logprobs_)
    writer.open('{').key("content").open('[').raw(logprobs_).close(']').close('}');
  else
    writer.null();
  writer.key("finish_reason").string(finish).close('}');
  out += "],\"usage\":" + usage + "}";
  exchange_->send({200, {}, std::move(out)});
}

}  // namespace mortise::http

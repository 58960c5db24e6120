// One chat completion, put together from the engine's events: as one object, or as a stream of chunks.
// Thread rule: one thread at a time. Flow: event -> chat reader -> JSON -> exchange.
#pragma once
#include <mortise/engine.h>

#include <memory>
#include <string>
#include <string_view>

#include "chat_request.h"
#include "client/reader.h"
#include "client/text.h"
#include "errors.h"
#include "exchange.h"

namespace mortise::http {

class Answer {
 public:
  /// Errors where the text service gives no reader.
  static Result<std::unique_ptr<Answer>> make(const ChatRequest& request, std::string_view model,
                                              const mortise_text* text, std::shared_ptr<Exchange> exchange);

  /// Sends on what the event makes certain; true where it was the terminal one.
  bool add(const mortise_event& event);
  /// Ends the answer with an error, in the form that suits what was sent before.
  void fail_with(const ApiError& error);
  Exchange& exchange() const { return *exchange_; }

 private:
  Answer(const ChatRequest& request, std::string_view model, const mortise_text* text,
         std::shared_ptr<Exchange> exchange);

  void read(const mortise_event& event);
  void finish(const mortise_event& event);
  void open_stream();
  /// A chunk with one choice; `finish` "" as long as the answer goes on.
  void write_chunk(std::string_view delta, std::string_view logprobs, std::string_view finish);
  void write_usage_chunk(const std::string& usage);
  void send_whole(const std::string& usage, std::string_view finish);
  std::string start(std::string_view object) const;
  void add_logprob(uint32_t id, const mortise_logprob& logprob);

  const bool stream_, include_usage_, wants_logprobs_;
  const std::string model_;
  const int64_t created_;  // seconds since 1970
  const client::Text text_;
  const std::shared_ptr<Exchange> exchange_;
  std::unique_ptr<client::Reader> reader_;
  bool is_open_ = false;  // a stream has begun
  std::string content_;   // read and not yet sent
  std::string logprobs_;  // the same, as JSON: items of a list with commas between
};

}  // namespace mortise::http

// A chat reader of the text service: generated text to content, reasoning and tool calls.
// Thread rule: one thread. Flow: fed with an answer's events, in order.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/engine.h>

#include <functional>
#include <memory>
#include <string_view>

namespace mortise::client {

class Reader {
 public:
  /// Receives a piece; `what` is MORTISE_CHAT_*.
  using Sink = std::function<void(int32_t what, std::string_view text)>;

  /// `request` as it was rendered. The service outlives the reader.
  static Result<std::unique_ptr<Reader>> open(const mortise_text* service, std::string_view request,
                                              Sink sink);
  ~Reader() { service_->reader_free(service_->ctx, reader_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void feed(const mortise_event& event) {
    service_->reader_feed(service_->ctx, reader_, event.text, event.tokens, event.token_count, &receive,
                          this);
  }
  /// The answer is over: what was held back comes.
  void finish() { service_->reader_finish(service_->ctx, reader_, &receive, this); }

 private:
  Reader(const mortise_text* service, void* reader, Sink sink)
      : service_(service), reader_(reader), sink_(std::move(sink)) {}
  static void receive(void* arg, int32_t what, mortise_str text) {
    static_cast<Reader*>(arg)->sink_(what, view(text));
  }

  const mortise_text* service_;
  void* reader_;
  Sink sink_;
};

}  // namespace mortise::client

// The answer to one request, on its way from whoever makes it to the connection that sends it.
// Thread rule: any thread; the answering side is one at a time. Flow: the server makes one per request; a
// route sends a whole response or a stream of events; the connection takes what is there and is woken for
// more.
#pragma once
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "message.h"

namespace mortise::http {

class Exchange {
 public:
  /// `wake` is called, on any thread, once there is something to take.
  Exchange(std::string id, std::function<void()> wake) : id_(std::move(id)), wake_(std::move(wake)) {}

  /// The request's id, as its x-request-id says.
  const std::string& id() const { return id_; }

  // The answering side. One send, or begin, writes and an end.
  void send(Response response);
  /// Status 200 and the headers of a stream of server-sent events.
  void begin();
  /// Where the client reads too slowly (kUnsentBytesMax), the exchange counts as gone.
  void write(std::string_view text);
  /// `broken`: the connection is closed after what was written, so that nobody takes it for whole.
  void end(bool broken);
  /// True where nobody waits for the answer any more.
  bool is_gone() const;
  /// Calls `hook` when the client leaves; at once where it has left.
  void on_gone(std::function<void()> hook);

  // The connection's side.
  struct Part {
    std::optional<Response> head;  ///< once; its body is whole unless is_stream
    bool is_stream = false;
    std::string text;  ///< what was written to the stream since
    bool is_over = false;
    bool is_broken = false;
    bool empty() const { return !head && text.empty() && !is_over; }
  };
  Part take();
  void leave();

 private:
  void wake();
  void leave(std::unique_lock<std::mutex> lock);

  const std::string id_;
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  Part part_;
  bool is_woken_ = false;  // and has not taken anything since
  bool is_gone_ = false;
  std::function<void()> hook_;
};

}  // namespace mortise::http

// Which path and method is answered how.
// Thread rule: the server's thread. Flow: Request -> here -> an answer at once, or the chat service.
#pragma once
#include <ctime>
#include <memory>

#include "chat_service.h"
#include "exchange.h"
#include "message.h"

namespace mortise::http {

class Routes {
 public:
  explicit Routes(ChatService& chat) : chat_(chat), started_(std::time(nullptr)) {}

  /// Does not block.
  void handle(Request request, std::shared_ptr<Exchange> exchange) const;

 private:
  Response health() const;
  Response models() const;
  Response model(std::string_view encoded_id) const;
  std::string model_object() const;

  ChatService& chat_;
  const std::time_t started_;  // shown as the model's `created`
};

}  // namespace mortise::http

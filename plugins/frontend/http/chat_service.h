// Chat completions from body to answer: one thread reads bodies, renders and encodes, another pulls the
// engine's events.
// Thread rule: post from any thread; the rest on the front end's. Flow: post -> worker -> engine -> pump ->
// exchange.
#pragma once
#include <mortise/cpp/part.h>
#include <mortise/frontend.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "answer.h"
#include "client/engine.h"
#include "client/streams.h"
#include "client/text.h"

namespace mortise::http {

class ChatService {
 public:
  /// `engine_ended` is called, on a thread of the service's, if the engine ends before the service does.
  static Result<std::unique_ptr<ChatService>> start(Host host, const mortise_services& services,
                                                    std::function<void()> engine_ended);
  /// Ends the threads; what still runs is cancelled and never answered.
  ~ChatService();
  ChatService(const ChatService&) = delete;
  ChatService& operator=(const ChatService&) = delete;

  /// Answers the body of POST /v1/chat/completions, an error included.
  void post(std::string body, std::shared_ptr<Exchange> exchange);
  /// The id under which the model is served.
  const std::string& model() const { return model_; }
  /// Steps of the engine that failed so far.
  uint64_t steps_failed() const;

 private:
  struct Job {
    std::string body;
    std::shared_ptr<Exchange> exchange;
  };

  ChatService(Host host, const mortise_services& services, std::function<void()> engine_ended);
  Result<void*> spawn(std::string_view name, void (ChatService::*run)());
  void work();
  void answer(const Job& job);
  void submit(const ChatRequest& request, const std::vector<uint32_t>& prompt,
              std::unique_ptr<Answer> answer);
  void pump();
  void take_events();

  const Host host_;
  const mortise_engine* const engine_;
  const mortise_text* const text_service_;
  const client::Text text_;
  const std::function<void()> engine_ended_;
  std::string model_;
  uint32_t context_ = 0;
  std::unique_ptr<client::Channel> channel_;
  client::Control pump_end_;
  std::vector<void*> threads_;

  std::mutex jobs_mutex_;
  std::condition_variable jobs_arrived_;
  std::deque<Job> jobs_;
  bool is_ending_ = false;

  std::mutex answers_mutex_;  // held over submit, so that no event comes before its answer is known
  std::unordered_map<uint64_t, std::unique_ptr<Answer>> answers_;
};

}  // namespace mortise::http

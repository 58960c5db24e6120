// The worker and the pump.
// Thread rule: see chat_service.h. Flow: see chat_service.h.
#include "chat_service.h"

#include <poll.h>

#include <utility>

namespace mortise::http {

ChatService::ChatService(Host host, const mortise_services& services, std::function<void()> engine_ended)
    : host_(host),
      engine_(services.engine),
      text_service_(services.text),
      text_(services.text),
      engine_ended_(std::move(engine_ended)) {
  mortise_engine_info info{};
  info.size = sizeof(info);
  services.engine->info(services.engine->ctx, &info);
  model_ = view(info.model);
  context_ = info.context;
}

Result<std::unique_ptr<ChatService>> ChatService::start(Host host, const mortise_services& services,
                                                        std::function<void()> engine_ended) {
  std::unique_ptr<ChatService> out(new ChatService(host, services, std::move(engine_ended)));
  MORTISE_TRY(channel, client::Channel::open(services.engine));
  out->channel_ = std::move(channel);
  MORTISE_TRY(worker, out->spawn("http-worker", &ChatService::work));
  out->threads_.push_back(worker);
  MORTISE_TRY(pump, out->spawn("http-events", &ChatService::pump));
  out->threads_.push_back(pump);
  return out;
}

ChatService::~ChatService() {
  {
    const std::lock_guard lock(jobs_mutex_);
    is_ending_ = true;
  }
  jobs_arrived_.notify_all();
  pump_end_.stop();
  for (void* thread : threads_) host_.c()->join(host_.c()->ctx, thread);
}

/// Both threads run a member of the service until it ends.
Result<void*> ChatService::spawn(std::string_view name, void (ChatService::*run)()) {
  using Start = std::pair<ChatService*, void (ChatService::*)()>;
  auto start = std::make_unique<Start>(this, run);
  const auto enter = [](void* arg) {
    const std::unique_ptr<Start> own(static_cast<Start*>(arg));
    (own->first->*own->second)();
  };
  void* thread = nullptr;
  mortise_error error = c_error();
  const mortise_status status =
      host_.c()->spawn(host_.c()->ctx, str(name), enter, start.get(), &thread, &error);
  if (status != MORTISE_OK) return pass(from_c(status, error));
  start.release();
  return thread;
}

uint64_t ChatService::steps_failed() const {
  mortise_engine_stats stats{};
  stats.size = sizeof(stats);
  engine_->stats(engine_->ctx, &stats);
  return stats.steps_failed;
}

void ChatService::post(std::string body, std::shared_ptr<Exchange> exchange) {
  const std::lock_guard lock(jobs_mutex_);
  jobs_.push_back({std::move(body), std::move(exchange)});
  jobs_arrived_.notify_one();
}

void ChatService::work() {
  while (true) {
    std::unique_lock lock(jobs_mutex_);
    jobs_arrived_.wait(lock, [this] { return is_ending_ || !jobs_.empty(); });
    if (is_ending_) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    if (job.exchange->is_gone()) continue;
    mortise_error error = c_error();
    const mortise_status status = guard(&error, [&]() -> Result<void> {
      answer(job);
      return {};
    });
    if (status != MORTISE_OK) job.exchange->send(to_api(from_c(status, error)).response());
  }
}

void ChatService::answer(const Job& job) {
  const auto refused = [&job](const Error& error) { job.exchange->send(to_api(error).response()); };
  const auto request = read_chat_request(job.body, model_);
  if (!request) return refused(request.error());
  const auto prompt = text_.render(request->render, request->parse_special);
  if (!prompt) return job.exchange->send(unrenderable(prompt.error()).response());
  auto answer = Answer::make(*request, model_, text_service_, job.exchange);
  if (!answer) return refused(answer.error());
  submit(*request, *prompt, std::move(*answer));
}

void ChatService::submit(const ChatRequest& request, const std::vector<uint32_t>& prompt,
                         std::unique_ptr<Answer> answer) {
  Exchange& exchange = answer->exchange();
  const std::lock_guard lock(answers_mutex_);
  const auto id = channel_->submit(prompt, request.parameters, MORTISE_REQUEST_IGNORE_UNKNOWN);
  if (!id) {
    const bool overflows = id.error().code == Code::limit && id.error().where == "prompt";
    return answer->fail_with(overflows ? too_long(id.error(), prompt.size(), context_) : to_api(id.error()));
  }
  answers_.emplace(*id, std::move(answer));
  exchange.on_gone([this, id = *id] { channel_->cancel(id); });
}

void ChatService::pump() {
  while (!pump_end_.stopping()) {
    take_events();
    if (channel_->closed()) {
      const std::lock_guard lock(answers_mutex_);
      for (auto& [id, answer] : answers_)
        answer->fail_with(to_api(Error{Code::cancelled, "", "the engine has ended"}));
      answers_.clear();
      return engine_ended_();
    }
    pollfd fds[] = {{channel_->event_fd(), POLLIN, 0}, {pump_end_.wake_fd(), POLLIN, 0}};
    poll(fds, 2, -1);
  }
}

void ChatService::take_events() {
  while (const mortise_event* event = channel_->next(0)) {
    const std::lock_guard lock(answers_mutex_);
    const auto found = answers_.find(event->request);
    if (found == answers_.end()) continue;
    mortise_error error = c_error();
    bool is_over = true;
    const mortise_status status = guard(&error, [&]() -> Result<void> {
      is_over = found->second->add(*event);
      return {};
    });
    if (status != MORTISE_OK) {
      channel_->cancel(event->request);
      found->second->fail_with(to_api(from_c(status, error)));
    }
    if (is_over) answers_.erase(found);
  }
}

}  // namespace mortise::http

// What front ends can ask for, loaded from the file up: the parts of one pipeline in the order in which they
// are made. Thread rule: one thread makes and ends it; engine and services are used as their headers say.
// Flow: prepare -> plan (headers alone; explain stops there) -> load -> front ends.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/frontend.h>

#include <memory>
#include <string>
#include <vector>

#include "config/pipeline.h"
#include "engine/engine_service.h"
#include "engine/text_service.h"
#include "host/log.h"
#include "model/model.h"

namespace mortise {

/// Members are destroyed in reverse; those that `needs` does not ask for are null.
struct Loaded {
  const Pipeline& pipeline;
  Log& log;
  MappedFiles files;
  std::unique_ptr<Pool> pool;
  std::unique_ptr<Parts> parts;
  uint32_t needs = MORTISE_NEEDS_NONE;
  std::unique_ptr<OpenModel> open;
  const Provider* tokenizer = nullptr;
  const Provider* chat = nullptr;
  std::string no_chat;
  std::unique_ptr<Model> model;
  std::unique_ptr<TextService> text;
  std::vector<SamplerLink> links;
  std::unique_ptr<RequestParams> params;
  std::unique_ptr<KvPool> blocks;
  std::unique_ptr<Scheduler> scheduler;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<EngineService> service;

  /// Both outlive it.
  Loaded(const Pipeline& p, Log& l) : pipeline(p), log(l) {}
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  /// Pool and parts, so that the front ends can be chosen.
  Result<void> prepare(const std::vector<std::string>& plugin_folders);
  /// Everything that headers decide, for MORTISE_NEEDS_*.
  Result<void> plan(uint32_t what, bool header_only);
  /// Tokenizer, weights, memory, and the engine's thread.
  Result<void> load();

 private:
  Result<void> choose_text();
  Result<void> choose_samplers();
  Result<void> check_defaults();
  Result<void> load_model();
  Result<void> start_engine();
  EngineFacts facts() const;
};

}  // namespace mortise

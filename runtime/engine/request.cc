// RequestParams: the declarations of the engine's own parameters, and reading a request against all of them.
// Thread rule: immutable once made; read on any thread. Flow: see request.h.
#include "engine/request.h"

#include <mortise/cpp/params.h>
#include <mortise/engine.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "config/nearest.h"
#include "config/raw_json.h"

namespace mortise {
namespace {

#define MORTISE_ENGINE_PARAMS(MORTISE_PARAM)                                                                 \
  MORTISE_PARAM(int, max_tokens, nullptr, "[0,2147483647]", request,                                         \
                "most tokens to generate; without it, up to the end of the context")                         \
  MORTISE_PARAM(list, stop, nullptr, "[0,16]", request, "texts that end the answer and are left out of it")  \
  MORTISE_PARAM(int, seed, nullptr, nullptr, request, "makes the draw repeatable; without it, by chance")    \
  MORTISE_PARAM(int, top_logprobs, nullptr, "[0,20]", request,                                               \
                "log-probability of each token and of this many of the likeliest")                           \
  MORTISE_PARAM(bool, ignore_eos, "false", nullptr, request, "generate on behind the end-of-sequence token") \
  MORTISE_PARAM(bool, echo, "false", nullptr, request, "give the prompt back before the answer")             \
  MORTISE_PARAM(bool, parse_special, nullptr, nullptr, request,                                              \
                "recognise special tokens in the text; without it, in a prompt but not in messages")
MORTISE_PARAMS(EngineParams, MORTISE_ENGINE_PARAMS);

Result<nlohmann::ordered_json> parse_object(std::string_view text) {
  using Json = nlohmann::ordered_json;
  if (text.size() > kParametersBytesMax)
    return fail(Code::limit, "",
                "the parameters have more than " + std::to_string(kParametersBytesMax) + " bytes");
  if (text.empty()) return Json::object();
  bool too_deep = false;
  const auto watch = [&](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > static_cast<int>(kMaxJsonDepth);
    return !too_deep;
  };
  Json out = Json::parse(text, watch, false);
  if (too_deep || !out.is_object())
    return fail(Code::bad_argument, "",
                too_deep ? "the parameters nest too deeply" : "the parameters are no JSON object");
  return out;
}

}  // namespace

Result<Params> RequestParams::own() {
  return read_params("engine", EngineParams::declared(), EngineParams::count());
}

Result<RequestParams> RequestParams::make(const std::vector<SamplerLink>& links, const Pipeline& pipeline) {
  RequestParams out;
  MORTISE_TRY(declared, own());
  out.own_ = std::move(declared);
  std::vector<const Params*> parts{&out.own_};
  const auto declare = [&](const mortise_param* const* params, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      const bool known = std::any_of(out.declared_.begin(), out.declared_.end(), [&](const mortise_param* p) {
        return std::string_view(p->name) == params[i]->name;
      });
      if ((params[i]->flags & MORTISE_PARAM_REQUEST) != 0 && !known) out.declared_.push_back(params[i]);
    }
  };
  declare(EngineParams::declared(), EngineParams::count());
  for (const SamplerLink& link : links) {
    parts.push_back(&link.params);
    declare(link.provider.part->params, link.provider.part->param_count);
  }
  MORTISE_TRY(all, merge_request_params(parts));
  out.all_ = std::move(all);
  auto defaults = check_defaults(out.all_, pipeline.defaults, pipeline.folder);
  if (!defaults) {
    Error error = defaults.error();
    return fail(error.code, error.where,
                error.message + " (what a sampler declares is known where use.sampler names it)",
                error.offset);
  }
  out.defaults_ = std::move(*defaults);
  return out;
}

Result<void> RequestParams::read(std::string_view text, bool ignore_unknown,
                                 const std::vector<SamplerLink>& links, uint32_t vocab, Request* out) const {
  MORTISE_TRY(json, parse_object(text));
  Given given = defaults_;
  for (const auto& [key, value] : json.items()) {
    const Param* param = all_.find(key);
    if (param == nullptr && ignore_unknown) continue;
    if (param == nullptr) {
      std::vector<std::string> names;
      for (const Param& p : all_.list) names.push_back(p.name);
      return fail(Code::bad_argument, key, "no such parameter; " + suggest_name(key, names));
    }
    if (value.is_null()) continue;
    const bool is_one_text = param->type == MORTISE_LIST && value.is_string();
    MORTISE_TRY(checked, check_json(*param, is_one_text ? nlohmann::ordered_json::array({value}) : value));
    given[key] = std::move(checked);
  }
  MORTISE_CHECK(read_own(given, out));
  for (const SamplerLink& link : links) {
    SamplerValues values{fill_values(link.params, given, {}), false, {}};
    const mortise_sampler& calls = *link.calls;
    mortise_error error = c_error();
    const mortise_status status = calls.check == nullptr
                                      ? MORTISE_OK
                                      : calls.check(link.provider.self, values.values.data(), vocab, &error);
    if (status != MORTISE_OK) return pass(link.provider.error("sampler", status, error));
    values.is_identity = calls.is_identity(link.provider.self, values.values.data()) != 0;
    const uint64_t state_bytes =
        calls.state_bytes == nullptr ? 0 : calls.state_bytes(link.provider.self, values.values.data());
    if (state_bytes > kSamplerStateBytesMax)
      return fail(Code::internal, "sampler '" + link.provider.name + "'",
                  "wants " + std::to_string(state_bytes) + " bytes of state; it may have " +
                      std::to_string(kSamplerStateBytesMax));
    values.state.resize((state_bytes + 7) / 8);
    out->samplers.push_back(std::move(values));
  }
  return {};
}

uint32_t RequestParams::default_parse_special() const {
  const Values values = fill_values(own_, defaults_, {});
  const EngineParams own = EngineParams::from(values.data());
  if (!own.parse_special.is_set) return MORTISE_PARSE_SPECIAL_UNSET;
  return own.parse_special ? MORTISE_PARSE_SPECIAL_ON : MORTISE_PARSE_SPECIAL_OFF;
}

Result<void> RequestParams::read_own(const Given& given, Request* out) const {
  const Values values = fill_values(own_, given, {});
  const EngineParams own = EngineParams::from(values.data());
  if (own.max_tokens.is_set) out->max_tokens = static_cast<uint64_t>(own.max_tokens.value);
  out->ignore_eos = own.ignore_eos;
  out->echo = own.echo;
  if (own.top_logprobs.is_set) out->top_logprobs = static_cast<int32_t>(own.top_logprobs.value);
  out->seed = own.seed.is_set ? static_cast<uint64_t>(own.seed.value)
                              : uint64_t{std::random_device()()} << 32 | std::random_device()();
  for (size_t i = 0; i < own.stop.value.count; ++i) {
    const mortise_value& item = own.stop.value.items[i];
    if (item.type != MORTISE_STRING || item.s.size == 0 || item.s.size > kStopBytesMax)
      return fail(
          Code::bad_argument, "stop",
          "item " + std::to_string(i) + " is not a text of 1 to " + std::to_string(kStopBytesMax) + " bytes");
    out->stops.emplace_back(view(item.s));
  }
  return {};
}

}  // namespace mortise

// A request as the engine holds it, and the parameters that one may carry.
// Thread rule: made on a front end's thread, then the engine's alone. Flow: submit -> check against the
// declarations -> queue -> scheduler.
#pragma once
#include <mortise/cpp/result.h>
#include <mortise/sampler.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/params.h"
#include "config/pipeline.h"
#include "model/provider.h"

namespace mortise {

class Channel;
class Score;

constexpr size_t kStopBytesMax = 1024;
constexpr uint64_t kSamplerStateBytesMax = 16 << 20;  // of one sampler for one request
constexpr size_t kParametersBytesMax = 1 << 20;       // JSON text of one request

/// One link of the sampler chain.
struct SamplerLink {
  Provider provider;
  const mortise_sampler* calls = nullptr;
  Params params;
};

/// Values of one request for one link.
struct SamplerValues {
  Values values;
  bool is_identity = false;
  std::vector<uint64_t> state;  // the sampler's flat bytes, zeroed
};

struct Request {
  uint64_t id = 0;
  std::shared_ptr<Channel> channel;
  std::shared_ptr<Score> score;  // in the channel's place: the logits of the prompt are wanted, no answer
  std::vector<uint32_t> prompt;  // the sequence takes it
  uint64_t max_tokens = UINT64_MAX;
  std::vector<std::string> stops;
  uint64_t seed = 0;
  int32_t top_logprobs = -1;  // -1: no log-probabilities
  bool ignore_eos = false;
  bool echo = false;
  bool caches = true;
  std::vector<SamplerValues> samplers;  // by link
  uint64_t submitted_ns = 0;
};

/// Every request parameter of a pipeline: the engine's own and the samplers', with the pipeline's defaults.
class RequestParams {
 public:
  /// Errors: two parts declare one name differently, or [defaults] is wrong.
  static Result<RequestParams> make(const std::vector<SamplerLink>& links, const Pipeline& pipeline);

  /// Reads a JSON object of parameters into the request. Errors: where is the parameter's name.
  Result<void> read(std::string_view json, bool ignore_unknown, const std::vector<SamplerLink>& links,
                    uint32_t vocab, Request* out) const;

  /// What [defaults] says of parse_special, as in mortise_text. Text becomes tokens before a request comes
  /// here.
  uint32_t default_parse_special() const;

  /// What the engine itself declares.
  static Result<Params> own();
  /// All of them, the engine's own first.
  const Params& all() const { return all_; }
  /// The same as the plugins declare them, for front ends.
  const std::vector<const mortise_param*>& declared() const { return declared_; }

 private:
  Result<void> read_own(const Given& given, Request* out) const;

  Params own_, all_;
  std::vector<const mortise_param*> declared_;
  Given defaults_;
};

}  // namespace mortise

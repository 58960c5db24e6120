// Front end "convert": writes the model in another format.
// Thread rule: run on the front end's thread; drain and stop on the main one. Flow: registration; the work is
// in convert.cc.
#include <mortise/cpp/part.h>
#include <mortise/frontend.h>
#include <unistd.h>

#include <filesystem>

#include "client/frontend.h"
#include "convert.h"

namespace mortise::convert {
namespace {

#define CONVERT_PARAMS(MORTISE_PARAM)                                                                       \
  MORTISE_PARAM(string, to, nullptr, nullptr, config, "what to write: gguf-q4_k, safetensors-bf16, awq, …") \
  MORTISE_PARAM(path, output, nullptr, nullptr, config, "the file (gguf) or folder (all others) to make")   \
  MORTISE_PARAM(int, group_size, "128", "[-1,1048576]", config, "awq: columns that share a scale; -1: all") \
  MORTISE_PARAM(                                                                                            \
      path, calibration, nullptr, nullptr, config,                                                          \
      "awq: a text whose activations decide which columns get finer steps; none: round to nearest")         \
  MORTISE_PARAM(int, calibration_tokens, "4096", "[16,1048576]", config,                                    \
                "tokens of the calibration text to use")

MORTISE_PARAMS(ConvertParams, CONVERT_PARAMS);

class Frontend {
 public:
  Frontend(Host host, const ConvertParams& params) : host_(host) {
    to_ = params.to.value;
    settings_.output = params.output.value;
    calibration_path_ = params.calibration.value;
    settings_.calibration_tokens = static_cast<uint64_t>(params.calibration_tokens.value);
    group_size_ = params.group_size.value;
  }

  uint32_t needs() const { return calibration_path_.empty() ? MORTISE_NEEDS_WEIGHTS : MORTISE_NEEDS_ENGINE; }

  Result<void> check() {
    const Target* target = find_target(to_);
    if (target == nullptr)
      return bad("to",
                 (to_.empty() ? "is not set" : "'" + to_ + "' is unknown") + "; known are " + target_names());
    if (settings_.output.empty())
      return bad("output", "is not set; name what to write, e.g. --set plugin.convert.output=NAME");
    if (std::filesystem::exists(std::filesystem::symlink_status(settings_.output)))
      return bad("output", "'" + settings_.output + "' exists already; remove it or choose another name");
    const bool is_awq = target->name == "awq";
    if (!calibration_path_.empty() && !is_awq)
      return bad("calibration", "serves to = \"awq\" alone; leave it out");
    if (group_size_ == 0 || (group_size_ > 0 && group_size_ % 8 != 0))
      return bad("group_size", "= " + std::to_string(group_size_) + " is neither a multiple of 8 nor -1");
    settings_.options = {target, group_size_ < 0 ? 0 : static_cast<uint64_t>(group_size_)};
    if (calibration_path_.empty()) return {};
    uint32_t file = 0;
    mortise_bytes bytes{};
    mortise_error error = c_error();
    const mortise_status mapped =
        host_.c()->map_file(host_.c()->ctx, str(calibration_path_), &file, &bytes, &error);
    if (mapped != MORTISE_OK) return pass(from_c(mapped, error));
    settings_.calibration = {reinterpret_cast<const char*>(bytes.data), bytes.size};
    return {};
  }

  Result<void> run(const mortise_services& services) {
    MORTISE_TRY(line, convert(host_, services, settings_, control_));
    return client::write_all(STDOUT_FILENO, line);
  }
  client::Control& control() { return control_; }

 private:
  static tl::unexpected<Error> bad(const char* key, std::string message) {
    return fail(Code::bad_argument, "plugin.convert." + std::string(key), std::move(message));
  }

  const Host host_;
  std::string to_, calibration_path_;
  int64_t group_size_ = 0;
  Settings settings_;
  client::Control control_;
};

constexpr mortise_frontend kTable = client::make_frontend<Frontend>();
constexpr mortise_part kPart = make_part<Frontend, ConvertParams>(
    "frontend", "convert", MORTISE_FRONTEND_ID, "writes the model in another format", &kTable);

}  // namespace
}  // namespace mortise::convert

MORTISE_PLUGIN("mortise.frontend.convert", "0.1.0", "Apache-2.0",
               MORTISE_FRONTEND_ID " " MORTISE_ENGINE_ID " " MORTISE_TEXT_ID " " MORTISE_WEIGHTS_ID,
               "frontend:convert", "", &mortise::convert::kPart);

// The conversion. Thread rule and flow: see convert.h.
#include "convert.h"

#include <cstdio>
#include <filesystem>

#include "calibrate.h"
#include "client/engine.h"
#include "client/progress.h"
#include "client/text.h"

namespace mortise::convert {
namespace {

constexpr size_t kCalibrationTokensMin = 16;
constexpr size_t kCalibrationWindow = 512;  // tokens that are read in one context
constexpr int kLookMs = 100;                // how soon a stop is noticed

/// "q8_0 211, f32 61"
std::string count_formats(const std::vector<Recipe>& tensors) {
  std::map<std::string, size_t> counts;
  for (const Recipe& recipe : tensors) {
    const size_t dot = recipe.format.find('.');
    ++counts[recipe.format.substr(dot + 1, recipe.format.rfind('/') - dot - 1)];
  }
  std::string out;
  for (const auto& [format, count] : counts)
    out += (out.empty() ? "" : ", ") + format + " " + std::to_string(count);
  return out;
}

uint64_t bytes_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) return fs::file_size(path, error);
  uint64_t sum = 0;
  for (const auto& entry : fs::directory_iterator(path, error)) sum += entry.file_size(error);
  return sum;
}

/// The text through the model, its activations summed up.
Result<void> read_text(const mortise_services& services, const Settings& settings,
                       const client::Control& control) {
  const client::Text text(services.text);
  MORTISE_TRY(ids, text.encode(settings.calibration, false, false));
  ids.resize(std::min<size_t>(ids.size(), settings.calibration_tokens));
  if (ids.size() < kCalibrationTokensMin)
    return fail(Code::bad_argument, "plugin.convert.calibration",
                "has only " + std::to_string(ids.size()) + " tokens; take a longer text");
  mortise_engine_info info{};
  services.engine->info(services.engine->ctx, &info);
  MORTISE_TRY(channel, client::Channel::open(services.engine));
  services.engine->collect(services.engine->ctx, 1);
  client::Progress bar("Calibrating", ids.size(), stderr);
  // A request asks for one token of answer, which needs a place behind the prompt.
  const size_t window = std::clamp<size_t>(info.context, 2, kCalibrationWindow + 1) - 1;
  for (size_t at = 0; at < ids.size(); at += window) {
    bar.update(at);
    const std::vector<uint32_t> piece(
        ids.begin() + static_cast<ptrdiff_t>(at),
        ids.begin() + static_cast<ptrdiff_t>(std::min(at + window, ids.size())));
    MORTISE_TRY(
        id, channel->submit(piece, R"({"max_tokens":1})", MORTISE_REQUEST_NO_CACHE | MORTISE_REQUEST_WAIT));
    (void)id;
    for (;;) {
      const mortise_event* event = channel->next(kLookMs);
      if (control.draining() || channel->closed())
        return fail(Code::cancelled, settings.output, kInterrupted);
      if (event == nullptr || event->type == MORTISE_EVENT_DELTA) continue;
      if (event->type == MORTISE_EVENT_ERROR) return pass(client::event_error(*event));
      break;
    }
  }
  services.engine->collect(services.engine->ctx, 0);
  return {};
}

/// What passed a weight, by its tensor's name in the source.
std::optional<ColumnStatistics> statistics(const mortise_engine& engine, std::string_view tensor,
                                           uint64_t slice, uint64_t columns) {
  ColumnStatistics out{std::vector<double>(columns), std::vector<double>(columns)};
  uint64_t rows = 0;
  mortise_error error = c_error();
  const mortise_status status = engine.activations(
      engine.ctx, str(tensor), slice, columns, out.mean_square.data(), out.mean_abs.data(), &rows, &error);
  if (status != MORTISE_OK || rows == 0) return std::nullopt;
  for (double& sum : out.mean_square) sum /= static_cast<double>(rows);
  for (double& sum : out.mean_abs) sum /= static_cast<double>(rows);
  return out;
}

}  // namespace

Result<std::string> convert(Host host, const mortise_services& services, const Settings& settings,
                            const client::Control& control) {
  Plan plan;
  plan.path = settings.output;
  MORTISE_CHECK(make_plan(*services.model, settings.options, &plan));
  size_t scaled = 0;
  if (!settings.calibration.empty()) {
    MORTISE_CHECK(read_text(services, settings, control));
    const auto of = [&](std::string_view tensor, uint64_t slice, uint64_t columns) {
      return statistics(*services.engine, tensor, slice, columns);
    };
    MORTISE_TRY(count, fold_scales(host, *services.model, settings.options.group, plan.gain_less_one, of,
                                   &plan.tensors));
    scaled = count;
  }
  {
    client::Progress bar("Converting", elements(plan), stderr);
    MORTISE_CHECK(write(host, *services.model, plan, [&](uint64_t done) {
      bar.update(done);
      return !control.draining();
    }));
  }
  char size[32];
  std::snprintf(size, sizeof(size), "%.1f MB", static_cast<double>(bytes_of(plan.path)) / 1e6);
  return "wrote " + plan.path + ": " + std::to_string(plan.tensors.size()) + " tensors (" +
         count_formats(plan.tensors) + "), " + size +
         (settings.calibration.empty() ? "" : ", " + std::to_string(scaled) + " groups scaled") + "\n";
}

}  // namespace mortise::convert

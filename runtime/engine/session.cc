// Session: front ends first, since they say what must be loaded. Thread rule and flow: see session.h.
#include "engine/session.h"

#include "engine/frontends.h"
#include "engine/loaded.h"
#include "engine/services.h"
#include "model/report.h"
#include "model/selection.h"

namespace mortise {
namespace {

/// The front ends, and everything that headers decide.
Result<std::vector<const Provider*>> plan_session(Loaded* loaded, const RunOptions& options, bool runs) {
  MORTISE_CHECK(loaded->prepare(options.plugin_folders));
  MORTISE_TRY(frontends, select_frontends(*loaded->parts, loaded->pipeline));
  if (runs) MORTISE_CHECK(check_frontends(frontends));
  MORTISE_CHECK(loaded->plan(frontend_needs(frontends), !runs));
  MORTISE_CHECK(loaded->parts->check_tables());
  return std::move(frontends);
}

}  // namespace

Result<void> run_pipeline(const Pipeline& pipeline, const RunOptions& options, Log& log) {
  Loaded loaded(pipeline, log);
  MORTISE_TRY(frontends, plan_session(&loaded, options, true));
  MORTISE_CHECK(loaded.load());
  MORTISE_TRY(services, Services::make(loaded, options));
  Result<void> done = run_frontends(frontends, services->c());
  // Whatever a front end finds wrong by now, it is too late to be a matter of arguments: see Exit in main.cc.
  if (!done && done.error().code == Code::bad_argument) done.error().code = Code::unsupported;
  return done;
}

Result<std::string> explain_pipeline(const Pipeline& pipeline, const RunOptions& options, bool as_json,
                                     Log& log) {
  Loaded loaded(pipeline, log);
  MORTISE_CHECK(plan_session(&loaded, options, false));
  Report report = make_report(*loaded.parts, loaded.model.get());
  if (loaded.open != nullptr && !loaded.open->has_data())
    report.warnings.push_back(loaded.open->path() + " ends after its header: only explain can use it");
  return as_json ? report_json(report) : report_text(report);
}

Result<std::string> pipeline_help(const Pipeline& pipeline, const RunOptions& options, Log& log) {
  MappedFiles files;
  MORTISE_TRY(pool, Pool::make(1));
  MORTISE_TRY(parts, Parts::make(pipeline, options.plugin_folders, log, *pool, files));
  MORTISE_TRY(frontends, select_frontends(*parts, pipeline));
  MORTISE_TRY(samplers, select_samplers(*parts, pipeline));
  frontends.insert(frontends.end(), samplers.begin(), samplers.end());
  std::string out;
  const auto list = [&](const std::string& title, const Params& params) {
    const std::vector<std::string> lines = help_lines(params);
    if (!lines.empty()) out += title + "\n";
    for (const std::string& line : lines) out += "  " + line + "\n";
  };
  for (const Provider* p : frontends)
    list(std::string(p->part->kind) + " " + p->name + ": " + p->part->help, parts->params(*p));
  MORTISE_TRY(own, RequestParams::own());
  list("engine: what every request may say", own);
  return out;
}

}  // namespace mortise

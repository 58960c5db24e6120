// The program: arguments, signals, exit status; no logic.
// Thread rule: [main]. Flow: command line -> one command -> its text on standard output, or one line of
// error.
#include <fcntl.h>
#include <mortise/cpp/result.h>
#include <mortise/plugin.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "config/nearest.h"
#include "config/pipeline.h"
#include "engine/session.h"
#include "host/clock.h"
#include "host/log.h"
#include "loader/catalog.h"
#include "loader/plugins_command.h"

namespace {

using mortise::Code;
using mortise::Error;

enum Exit : int { kDone = 0, kFailed = 1, kUsage = 2 };

/// What the command line holds; each command reads its own.
struct Arguments {
  std::vector<std::string> plugin_folders;
  std::string file;
  bool json = false;
  mortise::PipelineOptions pipeline;
  std::string model;
  std::vector<std::string> rest;  // behind the pipeline, for the front ends
  uint64_t started_ns = 0;
};

struct Command {
  const char* name;
  const char* help;
  void (*declare)(CLI::App& app, Arguments& arguments);
  int (*run)(const Arguments& arguments);
};

/// What to do about an error that does not say so itself: parts that others write may leave it out.
const char* advice(Code code) {
  switch (code) {
    case Code::bad_data: return "; the file is damaged or of another kind, fetch it again";
    case Code::unsupported: return "; take another model, or a part that can do it (`mortise plugins`)";
    case Code::limit: return "; take a smaller one, docs/limits.md has all limits";
    case Code::io: return "; check the path and its permissions";
    case Code::no_memory: return "; free memory, or lower kv.memory or model.context";
    default: return "";
  }
}

// Wrong arguments, config or choice of plugins are the caller's to mend; everything else is a failure.
int print_error(Error error) {
  // In a file the place is a line and column, and the message names the key; here the place is the key.
  constexpr std::string_view kSetting = "--set ";
  if (error.where.starts_with(kSetting)) {
    const std::string key = error.where.substr(kSetting.size()) + ": ";
    if (error.message.starts_with(key)) error.message.erase(0, key.size());
  }
  std::string line = error.text();
  if (error.message.find("; ") == std::string::npos) line += advice(error.code);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  std::fprintf(stderr, "mortise: error: %s\n", line.c_str());
  return error.code == Code::bad_argument ? kUsage : kFailed;
}

int print_result(const std::string& text, int status) {
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (std::fflush(stdout) == 0 && whole) return status;
  return print_error(Error{Code::io, "standard output", "cannot be written; check where it leads"});
}

void declare_folders(CLI::App& app, Arguments& arguments) {
  app.add_option("--plugins", arguments.plugin_folders,
                 "a folder of plugins, searched first; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false)
      ->take_all();
}

void declare_plugins(CLI::App& app, Arguments& arguments) {
  declare_folders(app, arguments);
  app.add_flag("--json", arguments.json, "print JSON");
}

int run_plugins(const Arguments& arguments) {
  const auto report = mortise::plugins_report(arguments.plugin_folders, arguments.json);
  return report ? print_result(*report, kDone) : print_error(report.error());
}

void declare_check(CLI::App& app, Arguments& arguments) {
  app.add_option("PLUGIN.so", arguments.file, "the file to check")->required()->type_name("");
  app.add_flag("--json", arguments.json, "print JSON");
}

int run_check(const Arguments& arguments) {
  const auto report = mortise::check_report(arguments.file, arguments.json);
  return print_result(report.text, report.passed ? kDone : kFailed);
}

void declare_pipeline(CLI::App& app, Arguments& arguments) {
  app.add_option("PIPELINE", arguments.pipeline.pipeline, "a .toml file, or the name of an installed config")
      ->required()
      ->type_name("");
  app.add_option("-m", arguments.model, "the model: a file, or a folder")->type_name("MODEL");
  app.add_option("--set", arguments.pipeline.sets, "replace a setting; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)  // else it swallows a question behind it
      ->take_all();
  declare_folders(app, arguments);
}

void declare_run(CLI::App& app, Arguments& arguments) {
  declare_pipeline(app, arguments);
  app.add_option("ARGUMENT", arguments.rest, "for the front ends, such as a question")->type_name("");
}

void declare_explain(CLI::App& app, Arguments& arguments) {
  declare_pipeline(app, arguments);
  app.add_flag("--json", arguments.json, "print JSON");
}

// Whatever is wrong with the pipeline file is the caller's to mend.
mortise::Result<mortise::Pipeline> read_pipeline(const Arguments& arguments) {
  mortise::PipelineOptions options = arguments.pipeline;
  if (!arguments.model.empty()) options.model = arguments.model;
  for (const std::string& folder : mortise::config_folders()) options.config_folders.emplace_back(folder);
  auto pipeline = mortise::load_pipeline(options);
  if (!pipeline) pipeline.error().code = Code::bad_argument;
  return pipeline;
}

mortise::RunOptions run_options(const Arguments& arguments) {
  return {arguments.plugin_folders, arguments.rest, arguments.started_ns};
}

// --help behind a pipeline: what its plugins can be told.
std::string plugin_help(Arguments arguments) {
  if (arguments.model.empty()) arguments.model = "MODEL";  // help opens none
  const auto pipeline = read_pipeline(arguments);
  mortise::Log log;
  const auto help = pipeline ? mortise::pipeline_help(*pipeline, run_options(arguments), log)
                             : mortise::Result<std::string>();
  return help ? *help : "";
}

int run_run(const Arguments& arguments) {
  const auto pipeline = read_pipeline(arguments);
  if (!pipeline) return print_error(pipeline.error());
  mortise::Log log;
  const auto done = mortise::run_pipeline(*pipeline, run_options(arguments), log);
  return done ? kDone : print_error(done.error());
}

int run_explain(const Arguments& arguments) {
  const auto pipeline = read_pipeline(arguments);
  if (!pipeline) return print_error(pipeline.error());
  mortise::Log log;
  const auto report = mortise::explain_pipeline(*pipeline, run_options(arguments), arguments.json, log);
  return report ? print_result(*report, kDone) : print_error(report.error());
}

void declare_version(CLI::App&, Arguments&) {}

int run_version(const Arguments&) {
  return print_result("mortise " MORTISE_VERSION " (plugin ABI " + std::to_string(MORTISE_ABI) + ")\n",
                      kDone);
}

constexpr Command kCommands[] = {
    {"run", "run a pipeline", declare_run, run_run},
    {"explain", "what a pipeline would load, why, and the memory it takes; runs nothing", declare_explain,
     run_explain},
    {"plugins", "list every plugin found, and each refused file with the reason", declare_plugins,
     run_plugins},
    {"check", "check one plugin file as the loader does", declare_check, run_check},
    {"version", "print the version of the program and of the plugin ABI", declare_version, run_version},
};

// The first argument that no declaration took, as an error.
Error unexpected(const CLI::App& app, const std::string& argument) {
  const bool option = argument.size() > 1 && argument[0] == '-';
  const bool command = !option && app.get_parent() == nullptr;
  std::vector<std::string> known;
  for (const CLI::Option* o : app.get_options()) {
    if (option && !o->get_lnames().empty()) known.push_back("--" + o->get_lnames().front());
  }
  for (const Command& c : kCommands) {
    if (command) known.emplace_back(c.name);
  }
  const std::string what = option ? "unknown option" : command ? "unknown command" : "one argument too many";
  const std::string advice = option || command ? mortise::suggest_name(argument, known) : "remove it";
  return Error{Code::bad_argument, argument, what + "; " + advice};
}

// CLI11's message is "ARGUMENT: what" or "ARGUMENT what"; ours is "ARGUMENT: what; what to do".
Error usage_error(const CLI::ParseError& error) {
  const std::string text = error.what();
  const size_t end = text.find_first_of(": ");
  std::string what = end == std::string::npos ? text : text.substr(text.find_first_not_of(": ", end));
  return Error{Code::bad_argument, text.substr(0, end), what + "; see --help"};
}

int run(int argc, char** argv) {
  CLI::App app("Mortise: a language-model runtime made of plugins.", "mortise");
  app.require_subcommand(0, 1);
  app.allow_extras();
  Arguments arguments;
  arguments.started_ns = mortise::now_ns();
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.help);
    sub->allow_extras();
    command.declare(*sub, arguments);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const bool named = !arguments.pipeline.pipeline.empty();
    return print_result(app.help() + (named ? plugin_help(arguments) : ""), kDone);
  } catch (const CLI::ParseError& error) {
    return print_error(usage_error(error));
  }
  if (!app.remaining().empty()) return print_error(unexpected(app, app.remaining().front()));
  for (const Command& command : kCommands) {
    const CLI::App* sub = app.get_subcommand(command.name);
    if (!sub->parsed()) continue;
    if (!sub->remaining().empty()) return print_error(unexpected(*sub, sub->remaining().front()));
    return command.run(arguments);
  }
  return print_error(Error{Code::bad_argument, "COMMAND", "none given; see mortise --help"});
}

// A standard stream that is closed at the start must not become the number of a file that is opened later:
// reading what can only be written, and the reverse, stays an error.
void hold_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0)
      static_cast<void>(open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

}  // namespace

int main(int argc, char** argv) {
  hold_standard_streams();
  // A reader that went away, or a file that may not grow, is an error of a write, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  int status = kFailed;
  try {
    status = run(argc, argv);
  } catch (const std::bad_alloc&) {
    print_error(
        Error{Code::no_memory, "memory", "there is none left; see `mortise explain` for what is needed"});
  } catch (const std::exception& e) {
    print_error(Error{Code::internal, "mortise", e.what()});
  }
  std::fflush(nullptr);
  // Plugins stay loaded: their destructors must not run while something of theirs may still be in use.
  ::_exit(status);
}

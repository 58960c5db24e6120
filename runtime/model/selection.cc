// Selection: see selection.h. Of equally sure plugins the host's own comes first, then the name decides.
#include "model/selection.h"

#include <mortise/arch.h>
#include <mortise/attention.h>
#include <mortise/chat.h>
#include <mortise/tokenizer.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace mortise {
namespace {

constexpr size_t kHeadBytes = 4096;

void add_row(Parts& parts, std::string_view kind, const Provider& provider, std::string why) {
  parts.rows.push_back({std::string(kind), provider.name, provider.plugin, std::move(why)});
}

Result<std::string> read_head(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) return std::string();
  // Opening a pipe would wait for its writer.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return fail(Code::io, path, "is not a regular file; name one in model.path or -m");
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return fail(errno == ENOENT ? Code::not_found : Code::io, path,
                std::string("cannot be opened: ") + std::strerror(errno) + "; check model.path or -m");
  std::string head(kHeadBytes, '\0');
  file.read(head.data(), kHeadBytes);
  head.resize(static_cast<size_t>(file.gcount()));
  return head;
}

/// The surest of all installed plugins of a kind that accept the model through `accepts` of Table; null where
/// none does, with every reason in `why_not`.
template <class Table>
Result<const Provider*> ask_all(Parts& parts, std::string_view kind, const OpenModel& model,
                                std::string* why_not) {
  MORTISE_TRY(providers, parts.all(kind));
  std::string best, reasons;
  int32_t best_score = 0;
  for (const Provider& p : providers) {
    mortise_error error = c_error();
    const int32_t score = p.table<Table>().accepts(p.self, &model.c(), &error);
    if (score > best_score) best = p.name, best_score = score;
    if (score <= 0)
      reasons += (reasons.empty() ? "" : "; ") + p.name + ": " + from_c(MORTISE_UNSUPPORTED, error).text();
  }
  *why_not = reasons.empty() ? "no " + std::string(kind) + " plugin is installed" : reasons;
  if (best_score <= 0) return nullptr;
  MORTISE_TRY(chosen, parts.use(kind, Use{best, best, ""}));
  add_row(parts, kind, *chosen, "accepts the model (" + std::to_string(best_score) + " of 100)");
  return chosen;
}

Result<const Provider*> use_named(Parts& parts, std::string_view kind, const Use& use) {
  MORTISE_TRY(provider, parts.use(kind, use));
  add_row(parts, kind, *provider, "named in " + use.where);
  return provider;
}

}  // namespace

Result<std::unique_ptr<OpenModel>> open_model(Parts& parts, const Pipeline& pipeline, const Files& files,
                                              bool header_only) {
  const std::string& path = pipeline.model.path.value;
  if (path.empty())
    return fail(Code::bad_argument, pipeline.source,
                "model.path: no model is named; give -m MODEL or set the key");
  MORTISE_TRY(head, read_head(path));
  const Provider* chosen = nullptr;
  if (const Use* use = pipeline.used("weights")) {
    MORTISE_TRY(named, use_named(parts, "weights", *use));
    chosen = named;
  } else {
    MORTISE_TRY(providers, parts.all("weights"));
    int32_t best_score = 0;
    const mortise_bytes bytes{reinterpret_cast<const uint8_t*>(head.data()), head.size()};
    for (const Provider& p : providers) {
      const int32_t score = p.table<mortise_weights>().probe(p.self, str(path), bytes);
      if (score <= best_score) continue;
      best_score = score;
      MORTISE_TRY(best, parts.use("weights", Use{p.name, p.name, ""}));
      chosen = best;
    }
    if (chosen == nullptr)
      return fail(Code::bad_data, path,
                  "no weights plugin recognises this " +
                      std::string(head.empty() ? "folder or empty file" : "file") +
                      "; is it a model? `mortise plugins` lists what is installed",
                  0);
    add_row(parts, "weights", *chosen, "recognises the file (" + std::to_string(best_score) + " of 100)");
  }
  return OpenModel::open(*chosen, files, path, header_only);
}

Result<const Provider*> select_arch(Parts& parts, const Pipeline& pipeline, const OpenModel& model) {
  if (const Use* use = pipeline.used("arch")) return use_named(parts, "arch", *use);
  std::string why_not;
  MORTISE_TRY(chosen, ask_all<mortise_arch>(parts, "arch", model, &why_not));
  if (chosen == nullptr)
    return fail(Code::unsupported, model.path(), "no arch plugin takes this model: " + why_not);
  return chosen;
}

Result<const Provider*> select_tokenizer(Parts& parts, const Pipeline& pipeline, const OpenModel& model) {
  if (const Use* use = pipeline.used("tokenizer")) {
    if (use->plugin != "none") return use_named(parts, "tokenizer", *use);
    parts.rows.push_back({"tokenizer", "none", "", "named in " + use->where + ": token ids only"});
    return nullptr;
  }
  std::string why_not;
  MORTISE_TRY(chosen, ask_all<mortise_tokenizer>(parts, "tokenizer", model, &why_not));
  if (chosen == nullptr)
    return fail(Code::unsupported, model.path(),
                "no tokenizer plugin takes this model: " + why_not +
                    "; use.tokenizer = \"none\" runs it on token ids only");
  return chosen;
}

Result<const Provider*> select_chat(Parts& parts, const Pipeline& pipeline, const OpenModel& model,
                                    std::string* why_not) {
  if (const Use* use = pipeline.used("chat")) return use_named(parts, "chat", *use);
  return ask_all<mortise_chat>(parts, "chat", model, why_not);
}

Result<const Provider*> select_attention(Parts& parts, const Pipeline& pipeline) {
  const auto& prefill = pipeline.attention.prefill;
  const auto& decode = pipeline.attention.decode;
  if (prefill && decode && prefill->plugin != decode->plugin)
    return fail(Code::bad_argument, decode->where,
                "use.attention: '" + prefill->plugin + "' and '" + decode->plugin +
                    "' do not share a KV block; name one plugin for both");
  if (prefill || decode) return use_named(parts, "attention", prefill ? *prefill : *decode);
  MORTISE_TRY(providers, parts.all("attention"));
  // By the tier of the layout that is asked for; parts.all has the order of equals.
  const Provider* chosen = nullptr;
  int best = 3;
  for (const Provider& p : providers) {
    uint32_t count = 0;
    const mortise_kv_layout* const* layouts = p.table<mortise_attention>().layouts(p.self, &count);
    for (uint32_t i = 0; i < count; ++i) {
      if (pipeline.kv.dtype.value != layouts[i]->name) continue;
      const std::string_view tier = layouts[i]->tier == nullptr ? "" : layouts[i]->tier;
      const int rank = tier == "tuned" ? 0 : tier == "portable" ? 1 : 2;
      if (rank >= best) continue;
      best = rank;
      MORTISE_TRY(provider, parts.use("attention", Use{p.name, p.name, ""}));
      chosen = provider;
    }
  }
  if (chosen == nullptr)
    return fail(Code::bad_argument, pipeline.kv.dtype.where,
                "kv.dtype: no attention plugin has a layout '" + pipeline.kv.dtype.value +
                    "'; f16 and f32 are usual");
  add_row(parts, "attention", *chosen, "best tier for the KV layout " + pipeline.kv.dtype.value);
  return chosen;
}

Result<std::vector<const Provider*>> select_samplers(Parts& parts, const Pipeline& pipeline) {
  std::vector<const Provider*> out;
  auto named = pipeline.use.find("sampler");
  if (named != pipeline.use.end()) {
    for (const Use& use : named->second) {
      MORTISE_TRY(provider, use_named(parts, "sampler", use));
      out.push_back(provider);
    }
    return out;
  }
  for (const std::string& name : parts.names("sampler")) {
    if (!parts.is_shipped("sampler", name)) continue;
    MORTISE_TRY(provider, parts.use("sampler", Use{name, name, pipeline.source}));
    add_row(parts, "sampler", *provider,
            "every shipped sampler is in the chain, by name; set use.sampler to choose");
    out.push_back(provider);
  }
  return out;
}

}  // namespace mortise

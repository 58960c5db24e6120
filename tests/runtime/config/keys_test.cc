// Every key of the pipeline file: default, wrong type, range, nearest name, origin.
// Thread rule: one thread. Flow: parse_pipeline on text.
#include "config/keys.h"

#include <catch2/catch.hpp>

#include "config/quantity.h"
#include "parse.h"

using namespace mortise;

namespace {

const std::string kModel = "[model]\npath = \"m.gguf\"\n";

std::string with(const std::string& table, const std::string& line) {
  return table == "model" ? kModel + line + "\n" : kModel + "[" + table + "]\n" + line + "\n";
}

struct Row {
  const char* table;
  const char* line;
  const char* error;  // a part of the message
};

const Row kRows[] = {
    {"model", "context = \"4096\"",
     "x.toml:3:11: model.context expects an integer, found the string \"4096\"; remove"},
    {"model", "context = -1",
     "x.toml:3:11: model.context = -1 is not in [1, 16777216]; the longest sequence"},
    {"model", "context = 0", "model.context = 0 is not in [1, 16777216]"},
    {"model", "context = 16777217", "model.context = 16777217 is not in"},
    {"model", "context = 1.0", "model.context expects an integer, found the number 1; "},
    {"model", "context = nan", "expects an integer, found the number nan"},
    {"model", "contxt = 1", "x.toml:3:1: unknown key model.contxt; did you mean 'context'?"},
    {"placement", "device = \"cuda\"",
     "x.toml:4:10: placement.device = \"cuda\" is not \"cpu\"; the nearest known"},
    {"placement", "device = 0", "placement.device expects \"cpu\", found the integer 0; "},
    {"placement", "devise = \"cpu\"", "unknown key placement.devise; did you mean 'device'?"},
    {"kv", "dtype = 16", "kv.dtype expects a string, found the integer 16"},
    {"kv", "dtype = \"\"", "kv.dtype has 0 characters, which is not in [1, 63]"},
    {"kv", "memory = true", "kv.memory expects a size, found true"},
    {"kv", "memory = 0", "kv.memory = 0 is not above 0"},
    {"kv", "memory = -5", "kv.memory = -5 is not above 0"},
    {"kv", "memory = \"0%\"", "kv.memory = \"0%\" is not above 0"},
    {"kv", "memory = \"101%\"", "kv.memory = \"101%\" is not in (0%, 100%]"},
    {"kv", "memory = \"12 apples\"",
     "kv.memory = \"12 apples\" is no size; write a size such as \"512 MiB\""},
    {"kv", "memory = \"512 mib\"", "kv.memory = \"512 mib\" is no size"},
    {"kv", "memory = 0.5", "kv.memory expects a size, found the number 0.5"},
    {"kv", "prefix_cache = 1", "kv.prefix_cache expects true or false, found the integer 1"},
    {"kv", "prefix_cache = \"true\"", "found the string \"true\"; remove the quotes"},
    {"kv", "prefixcache = true", "did you mean 'prefix_cache'?"},
    {"engine", "threads = -1", "engine.threads = -1 is not in [0, 1024]"},
    {"engine", "threads = 1025", "engine.threads = 1025 is not in [0, 1024]"},
    {"engine", "threads = \"all\"",
     "engine.threads expects an integer, found the string \"all\"; 0: one per core"},
    {"engine", "dtype = \"f8\"", "engine.dtype = \"f8\" is not one of \"auto\", \"f32\"; the nearest"},
    {"engine", "dtype = 32", "engine.dtype expects one of \"auto\", \"f32\", found the integer 32"},
    {"engine", "deterministic = 1", "engine.deterministic expects true or false"},
    {"engine", "max_sequences = 0", "engine.max_sequences = 0 is not in [1, 4096]"},
    {"engine", "max_sequences = 4097", "engine.max_sequences = 4097 is not in [1, 4096]"},
    {"engine", "max_batch_tokens = 0", "engine.max_batch_tokens = 0 is not in [1, 65536]"},
    {"engine", "max_batch_tokens = 65537", "engine.max_batch_tokens = 65537 is not in"},
    {"engine", "step_ms = 5", "engine.step_ms = 5 is not in [0, 0]; 0: chosen by itself"},
    {"engine", "queue = 0",
     "x.toml:4:9: engine.queue = 0 is not in [1, 65536]; how many requests may wait (default 256)"},
    {"engine", "queue = 65537", "engine.queue = 65537 is not in [1, 65536]"},
    {"engine", "queue = [1]", "engine.queue expects an integer, found a list"},
    {"engine", "queue = {}", "engine.queue expects an integer, found a table"},
    {"engine", "queue = 2020-01-01", "engine.queue expects an integer, found a date or time"},
    {"engine", "max_sequence = 1", "did you mean 'max_sequences'?"},
    {"engine", "zzzzzzzzzzzz = 1", "unknown key engine.zzzzzzzzzzzz; the nearest known is '"},
};

}  // namespace

TEST_CASE("config: each wrong value is one line with position, expectation and advice") {
  for (const Row& row : kRows) {
    const std::string error = error_of(with(row.table, row.line));
    INFO(row.line << " -> " << error);
    CHECK(holds(error, row.error));
    CHECK(!holds(error, "\n"));
    CHECK(holds(error, "; "));
    CHECK(error.rfind("x.toml:", 0) == 0);
  }
}

TEST_CASE("config: every declared key refuses a date, and its misspelling names it") {
  size_t keys = 0;
  for (const Params& table : pipeline_keys()) {
    for (const Param& param : table.list) {
      ++keys;
      const bool path = param.name == "path";
      const std::string head = path                     ? "[model]\n"
                               : table.owner == "model" ? kModel
                                                        : kModel + "[" + table.owner + "]\n";
      const std::string wrong = error_of(head + param.name + " = 1979-05-27");
      INFO(table.owner << "." << param.name << " -> " << wrong);
      CHECK(holds(wrong, table.owner + "." + param.name + " expects "));
      CHECK(holds(wrong, "a date or time"));
      const std::string misspelled = error_of(head + param.name + "x = 1");
      INFO(misspelled);
      CHECK(holds(misspelled,
                  "unknown key " + table.owner + "." + param.name + "x; did you mean '" + param.name + "'?"));
      CHECK(!param.help.empty());
    }
  }
  CHECK(keys == 22);
}

TEST_CASE("config: defaults are those of the contract") {
  const Result<Pipeline> p = parse(kModel);
  REQUIRE(p);
  CHECK(p->model.path.value == "/cfg/m.gguf");
  CHECK(p->model.path.where == "x.toml:2:8");
  CHECK_FALSE(p->model.path.is_default);
  CHECK_FALSE(p->model.context);
  CHECK(p->use.empty());
  CHECK(p->used("sampler") == nullptr);
  CHECK_FALSE(p->attention.prefill);
  CHECK_FALSE(p->attention.decode);
  CHECK(p->kernels.pin.empty());
  CHECK(p->kernels.deny.empty());
  CHECK(p->placement.device.value == "cpu");
  CHECK(p->kv.dtype.value == "f16");
  CHECK(p->kv.memory.value.bytes == 512u << 20);
  CHECK(p->kv.memory.value.percent == 0);
  CHECK(p->kv.memory.is_default);
  CHECK(p->kv.prefix_cache.value);
  CHECK(p->engine.threads.value == 0);
  CHECK(p->engine.dtype.value == "auto");
  CHECK_FALSE(p->engine.deterministic.value);
  CHECK(p->engine.max_sequences.value == 32);
  CHECK(p->engine.max_batch_tokens.value == 512);
  CHECK(p->engine.step_ms.value == 0);
  CHECK(p->engine.queue.value == 256);
  CHECK(p->engine.queue.where == "x.toml");
  CHECK(p->engine.queue.is_default);
  CHECK(p->defaults.empty());
  CHECK(p->table("http").empty());
}

TEST_CASE("config: values and their positions arrive") {
  const Result<Pipeline> p = parse(
      "[model]\npath = \"/abs/m\"\ncontext = 4096\n[kv]\nmemory = \"1.5 GiB\"\nprefix_cache = false\ndtype = "
      "\"q8_0\"\n[engine]\nthreads = 3\ndtype = \"f32\"\ndeterministic = true\nmax_sequences = 7\n"
      "max_batch_tokens = 1\nqueue = 9\n[defaults]\ntop_k = 4\n[plugin.a]\nx = 1\n[plugin.\"b c\"]\n");
  REQUIRE(p);
  CHECK(p->model.path.value == "/abs/m");
  CHECK(p->model.context->value == 4096);
  CHECK(p->kv.memory.value.bytes == 1610612736u);
  CHECK(p->kv.memory.where == "x.toml:5:10");
  CHECK_FALSE(p->kv.prefix_cache.value);
  CHECK(p->kv.dtype.value == "q8_0");
  CHECK(p->engine.threads.value == 3);
  CHECK(p->engine.dtype.value == "f32");
  CHECK(p->engine.deterministic.value);
  CHECK(p->engine.max_sequences.value == 7);
  CHECK(p->engine.max_batch_tokens.value == 1);
  CHECK(p->engine.queue.value == 9);
  CHECK(p->engine.queue.where == "x.toml:14:9");
  REQUIRE(p->defaults.size() == 1);
  CHECK(p->defaults[0].key == "top_k");
  CHECK(p->defaults[0].where == "x.toml:16:1");
  REQUIRE(p->plugins.size() == 2);
  CHECK(p->plugins[1].name == "b c");
  REQUIRE(p->table("a").size() == 1);
  CHECK(p->table("a")[0].value.where == "x.toml:18:5");
}

TEST_CASE("config: sizes") {
  CHECK(parse_size_bytes("512 MiB") == 512 << 20);
  CHECK(parse_size_bytes("512MiB") == 512 << 20);
  CHECK(parse_size_bytes("4096 B") == 4096);
  CHECK(parse_size_bytes("10 GB") == 10000000000);
  CHECK(parse_size_bytes("2 TiB") == int64_t{2} << 40);
  for (const char* bad :
       {"", "MiB", "-1 MiB", "1  MiB", "1e3 MiB", "inf B", "nan B", "1 PiB", "1 MiB ", "9999999999 TiB"}) {
    INFO(bad);
    CHECK_FALSE(parse_size_bytes(bad));
  }
  CHECK(parse_percent("25%") == 25.0);
  CHECK(parse_percent("12.5 %") == 12.5);
  CHECK_FALSE(parse_percent("25"));
  CHECK(parse_duration_ms("250 ms") == 250);
  CHECK(parse_duration_ms("1.5 s") == 1500);
  CHECK(parse_duration_ms("2 min") == 120000);
  CHECK(parse_duration_ms("1h") == 3600000);
  CHECK_FALSE(parse_duration_ms("5"));
  const Result<Pipeline> p = parse(with("kv", "memory = \"25%\""));
  REQUIRE(p);
  CHECK(p->kv.memory.value.percent == 25);
  CHECK(p->kv.memory.value.bytes == 0);
  CHECK(parse(with("kv", "memory = 1048576"))->kv.memory.value.bytes == 1048576);
}

TEST_CASE("config: a pipeline without a model says how to name one") {
  CHECK(error_of("") == "x.toml: names no model; give one with -m MODEL, or path = \"…\" under [model]");
  CHECK(holds(error_of("[model]\npath = \"\""), "model.path has 0 characters"));
  CHECK(holds(error_of("[model]\npath = \"a\\u0000b\""), "model.path expects a path"));
  const Result<Pipeline> p = parse("[model]\npath = \"a\"", {"model.path=b"}, "c");
  REQUIRE(p);
  CHECK(p->model.path.value == "c");
  CHECK(p->model.path.where == "-m");
}

// The writer: what it writes is what the reader reads, nothing is left of what fails, and what a file cannot
// hold is refused by name. Thread rule: single-threaded. Flow: tests plugins/weights/gguf/write*.cc; the
// differential test has the Python package read what is written.
#include "write.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <limits>

#include "writer.h"

namespace fs = std::filesystem;
using gguf::FileWriter;
using gguf::ValueType;

namespace {

/// A folder that is removed with what is in it.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("mortise-write-" + std::to_string(getpid()));
  Folder() { fs::create_directory(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const char* name = "m.gguf") const { return (path / name).string(); }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }
};

/// A plan and what it points to.
class Plan {
 public:
  Plan() = default;
  Plan(const Plan&) = delete;

  template <class T>
  void meta(std::string key, uint32_t type, std::vector<T> values, bool is_array) {
    auto own = std::make_shared<std::vector<T>>(std::move(values));
    held_.push_back(own);
    texts_.push_back(std::make_shared<std::string>(std::move(key)));
    metas_.push_back({sizeof(mortise_write_meta),
                      0,
                      mortise::str(*texts_.back()),
                      {type, is_array ? 1u : 0u, own->size(), own->data()}});
  }
  void tensor(std::string name, const char* format, std::vector<uint64_t> shape) {
    texts_.push_back(std::make_shared<std::string>(std::move(name)));
    mortise_tensor out{};
    out.size = sizeof(out);
    out.rank = static_cast<uint32_t>(shape.size());
    out.name = mortise::str(*texts_.back());
    out.format = format;
    for (size_t i = 0; i < shape.size() && i < MORTISE_RANK_MAX; ++i) out.shape[i] = shape[i];
    tensors_.push_back(out);
  }
  const mortise_write_plan& c() {
    meta_pointers_.clear();
    tensor_pointers_.clear();
    for (const auto& m : metas_) meta_pointers_.push_back(&m);
    for (const auto& t : tensors_) tensor_pointers_.push_back(&t);
    plan_ = {sizeof(plan_),         0,       metas_.size(),          0, tensors_.size(),
             meta_pointers_.data(), nullptr, tensor_pointers_.data()};
    return plan_;
  }

 private:
  std::vector<std::shared_ptr<void>> held_;
  std::vector<std::shared_ptr<std::string>> texts_;
  std::vector<mortise_write_meta> metas_;
  std::vector<mortise_tensor> tensors_;
  std::vector<const mortise_write_meta*> meta_pointers_;
  std::vector<const mortise_tensor*> tensor_pointers_;
  mortise_write_plan plan_{};
};

mortise::Error refused(Plan& plan) {
  const Folder folder;
  const auto writer = FileWriter::begin(folder.file(), plan.c());
  REQUIRE_FALSE(writer);
  CHECK(folder.entries() == 0);
  CHECK(writer.error().where == folder.file());
  return writer.error();
}

}  // namespace

TEST_CASE("a written file has the plan's metadata, in types that readers expect, and its tensors") {
  const Folder folder;
  Plan plan;
  const std::string word = "caf\xc3\xa9";
  plan.meta<mortise_str>("general.architecture", MORTISE_STRING, {mortise::str("llama")}, false);
  plan.meta<int64_t>("count", MORTISE_INT, {4000000000}, false);
  plan.meta<int64_t>("negative", MORTISE_INT, {-7}, false);
  plan.meta<int64_t>("very.negative", MORTISE_INT, {INT64_MIN}, false);
  plan.meta<int64_t>("large", MORTISE_INT, {INT64_MAX}, false);
  plan.meta<int64_t>("ids", MORTISE_INT, {0, -1, 2147483647}, true);
  plan.meta<int64_t>("wide", MORTISE_INT, {0, 2147483648}, true);
  plan.meta<int64_t>("yes", MORTISE_BOOL, {1}, false);
  plan.meta<int64_t>("flags", MORTISE_BOOL, {1, 0}, true);
  plan.meta<double>("eps", MORTISE_FLOAT, {0.1}, false);
  plan.meta<mortise_str>("words", MORTISE_STRING, {mortise::str(word), mortise::str("")}, true);
  plan.meta<mortise_str>("none", MORTISE_STRING, {}, true);
  plan.meta<int64_t>("general.alignment", MORTISE_INT, {64}, false);
  plan.meta<int64_t>("split.count", MORTISE_INT, {3}, false);
  plan.tensor("a", "gguf.f32/1", {3, 5});
  plan.tensor("b", "gguf.q8_0/1", {2, 3, 64});
  auto writer = FileWriter::begin(folder.file(), plan.c());
  REQUIRE(writer);
  CHECK_FALSE(fs::exists(folder.file()));
  std::vector<float> a(15), b(6 * 64);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i) / 7;
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 127) - 60;
  CHECK((*writer)->rows(1, 4, 2, b.data() + 4 * 64, nullptr));
  CHECK((*writer)->rows(0, 0, 3, a.data(), nullptr));
  CHECK((*writer)->rows(1, 0, 4, b.data(), nullptr));
  REQUIRE((*writer)->end());
  writer->reset();
  CHECK(folder.entries() == 1);

  const std::string bytes = gguf_test::read_bytes(folder.file());
  const auto file = gguf_test::parse(bytes);
  INFO((file ? "" : file.error().text()));
  REQUIRE(file);
  CHECK(file->version == 3);
  CHECK(file->alignment == 32);
  CHECK(file->entries.size() == 12);
  const auto type = [&](const char* key) { return file->find_entry(key)->type; };
  CHECK(type("count") == ValueType::u32);
  CHECK(type("negative") == ValueType::i32);
  CHECK(type("very.negative") == ValueType::i64);
  CHECK(type("large") == ValueType::u64);
  CHECK(type("ids") == ValueType::i32);
  CHECK(type("wide") == ValueType::i64);
  CHECK(type("flags") == ValueType::boolean);
  CHECK(type("eps") == ValueType::f32);
  CHECK(type("none") == ValueType::string);
  const auto ints = gguf::Value::of(*file, *file->find_entry("ids"));
  CHECK(static_cast<const int64_t*>(ints->meta().data)[1] == -1);
  const auto words = gguf::Value::of(*file, *file->find_entry("words"));
  CHECK(mortise::view(static_cast<const mortise_str*>(words->meta().data)[0]) == word);
  const gguf::Tensor& second = *file->find_tensor("b");
  CHECK(second.sizes == std::array<uint64_t, 4>{64, 3, 2, 1});
  std::vector<float> back(b.size());
  second.type->decode_base(file->data + second.offset, back.size() / 32, back.data());
  for (size_t i = 0; i < b.size(); ++i) REQUIRE(std::fabs(back[i] - b[i]) < 0.3f);
  CHECK(std::memcmp(file->data + file->find_tensor("a")->offset, a.data(), 60) == 0);
}

TEST_CASE("what is not ended leaves nothing, and an existing file as it was") {
  const Folder folder;
  std::ofstream(folder.file()) << "old";
  Plan plan;
  plan.tensor("a", "gguf.f16/1", {2, 8});
  const std::vector<float> x(16, 1.0f);
  {
    auto writer = FileWriter::begin(folder.file(), plan.c());
    REQUIRE(writer);
    CHECK((*writer)->rows(0, 0, 1, x.data(), nullptr));
    CHECK(folder.entries() == 2);
    const auto ended = (*writer)->end();
    REQUIRE_FALSE(ended);
    CHECK(ended.error().message.find("tensor \"a\": 1 of 2 rows were written") == 0);
  }
  CHECK(folder.entries() == 1);
  CHECK(gguf_test::read_bytes(folder.file()) == "old");
  auto writer = FileWriter::begin(folder.file(), plan.c());
  auto other = FileWriter::begin(folder.file(), plan.c());  // both may write; the last one ended stays
  REQUIRE(other);
  CHECK((*writer)->rows(0, 0, 2, x.data(), nullptr));
  CHECK((*writer)->end());
  other->reset();
  CHECK(folder.entries() == 1);
  CHECK(gguf_test::parse(gguf_test::read_bytes(folder.file())));
  struct stat mode;
  REQUIRE(stat(folder.file().c_str(), &mode) == 0);
  const mode_t mask = umask(0);
  umask(mask);
  CHECK((mode.st_mode & 0777) == (0666 & ~mask));
}

TEST_CASE("numbers that a type cannot hold are refused by row and column") {
  const Folder folder;
  Plan plan;
  const char* const formats[] = {"gguf.f32/1", "gguf.bf16/1", "gguf.f16/1", "gguf.q4_0/1", "gguf.q8_0/1"};
  for (const char* format : formats) plan.tensor(format, format, {100, 32});
  const auto writer = FileWriter::begin(folder.file(), plan.c());
  REQUIRE(writer);
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const float values[] = {65519.0f, 65520.0f, 3.3e38f, 3.4e38f, -inf, nan};
  const char* const accepted[] = {"yyyyyy", "yyynyy", "ynnnyy", "ynnnnn", "ynnnnn"};
  std::vector<float> x(2 * 32);
  for (uint64_t index = 0; index < 5; ++index)
    for (size_t v = 0; v < 6; ++v) {
      x[32 + 5] = values[v];
      const auto done = (*writer)->rows(index, 64, 2, x.data(), nullptr);
      INFO(formats[index] << " " << values[v]);
      CHECK(done.has_value() == (accepted[index][v] == 'y'));
      if (!done) CHECK(done.error().message.find("row 65, column 5 is") != std::string::npos);
    }
  x[32 + 5] = 0;
  for (float bad : {nan, inf, -1.0f}) {
    std::vector<float> importance(32, 1.0f);
    importance[7] = bad;
    const auto done = (*writer)->rows(3, 0, 2, x.data(), importance.data());
    REQUIRE_FALSE(done);
    CHECK(done.error().message.find("importance of column 7") != std::string::npos);
  }
  CHECK_FALSE((*writer)->rows(3, 99, 2, x.data(), nullptr));
  CHECK_FALSE((*writer)->rows(5, 0, 1, x.data(), nullptr));
}

TEST_CASE("plans that a file cannot hold are refused by name") {
  struct Row {
    const char* name;
    const char* format;
    std::vector<uint64_t> shape;
    const char* message;
  };
  const Row rows[] = {{"a", "gguf.q2_k/1", {2, 256}, "gguf.q2_k/1 is not written"},
                      {"a", "safetensors.bf16/1", {2, 256}, "safetensors.bf16/1 is not written"},
                      {"a", "gguf.q4_k/1", {2, 576}, "rows of 576 are no whole number of blocks of 256"},
                      {"a", "gguf.f32/1", {0, 8}, "has a size of 0"},
                      {"a", "gguf.f32/1", {uint64_t{1} << 40, uint64_t{1} << 40}, "more numbers than"},
                      {"", "gguf.f32/1", {8}, "has 0 bytes"},
                      {"a\nb", "gguf.f32/1", {8}, "control characters"}};
  for (const Row& row : rows) {
    Plan plan;
    plan.tensor(row.name, row.format, row.shape);
    INFO(row.message);
    CHECK(refused(plan).message.find(row.message) != std::string::npos);
  }
  Plan twice;
  for (int i = 0; i < 2; ++i) twice.tensor("a", "gguf.f32/1", {8});
  CHECK(refused(twice).message == "tensor \"a\" occurs twice");
  Plan keys;
  for (int i = 0; i < 2; ++i) keys.meta<int64_t>("k", MORTISE_INT, {1}, false);
  CHECK(refused(keys).message == "metadata key \"k\" occurs twice");
  Plan plan;
  const Folder folder;
  const auto nowhere = FileWriter::begin(folder.file("no/such/folder.gguf"), plan.c());
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().code == mortise::Code::io);
  CHECK_FALSE(FileWriter::begin(folder.path.string(), plan.c()));
}

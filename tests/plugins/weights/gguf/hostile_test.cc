// Damaged GGUF files: every header field at 0, at its maximum, wrapping, duplicate, overlapping; random flips
// of bytes. Each is refused within 100 ms, with file and offset. Thread rule: single-threaded. Flow: tests
// parse*.cc.
#include <catch2/catch.hpp>
#include <chrono>
#include <random>

#include "writer.h"

using gguf::ValueType;
using gguf_test::Field;
using gguf_test::Kind;
using gguf_test::parse;
using gguf_test::small_file;
using gguf_test::Writer;

namespace {

/// Parses a copy of exactly this size and expects a refusal, within the time that the contract names.
mortise::Error refused(const std::string& bytes) {
  const std::vector<char> copy(bytes.begin(), bytes.end());
  const auto begin = std::chrono::steady_clock::now();
  const auto file = parse({copy.data(), copy.size()});
  const auto took = std::chrono::steady_clock::now() - begin;
  CHECK(took < std::chrono::milliseconds(100));
  REQUIRE_FALSE(file);
  const mortise::Error& error = file.error();
  CHECK(error.where == "test.gguf");
  CHECK(error.offset <= bytes.size());
  CHECK(error.message.find('\n') == std::string::npos);
  return error;
}

std::string with(const std::string& bytes, const Field& field, uint64_t value) {
  std::string out = bytes;
  std::memcpy(out.data() + field.at, &value, static_cast<size_t>(field.width));
  return out;
}

uint64_t value_of(const std::string& bytes, const Field& field) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + field.at, static_cast<size_t>(field.width));
  return value;
}

/// Values that no field may have where they differ from its own: 0, maxima, values that wrap when multiplied
/// or added.
std::vector<uint64_t> bad_values(const Field& field, uint64_t own) {
  std::vector<uint64_t> out;
  if (field.kind == Kind::version) return {0, 1, 4, 0x02000000, 0x03000000, UINT32_MAX};
  if (field.kind == Kind::value_type || field.kind == Kind::element_type) {
    out = {13, 14, 255, 256, 0x80000000, UINT32_MAX};
    if (field.kind == Kind::element_type) out.push_back(static_cast<uint64_t>(ValueType::array));
    return out;
  }
  if (field.kind == Kind::type) return {4, 5, 9, 31, 36, 43, 255, 0x80000000, UINT32_MAX, 30 + (1u << 31)};
  if (field.kind == Kind::alignment) return {0, 3, 24, 33, 1u << 21, 0x80000000, UINT32_MAX};
  if (field.kind == Kind::dims) return {0, 3, 4, 5, 255, 0x80000000, UINT32_MAX};
  out = {0,
         own + 1,
         own - 1,
         own + 7,
         own * 2 + 1,
         1u << 16,
         uint64_t{1} << 31,
         UINT32_MAX,
         uint64_t{1} << 32,
         uint64_t{1} << 61,
         (uint64_t{1} << 61) + own,
         uint64_t{1} << 62,
         INT64_MAX,
         uint64_t{1} << 63,
         UINT64_MAX - 31,
         UINT64_MAX};
  std::erase(out, own);
  return out;
}

/// True where the field alone shows the damage, so that the error must point at it.
bool points_at_field(const Field& field, uint64_t value) {
  if (field.kind == Kind::dims) return value > 4;
  if (field.kind == Kind::count || field.kind == Kind::length || field.kind == Kind::size)
    return value > INT64_MAX;
  return true;
}

}  // namespace

TEST_CASE("each header field at 0, maximum and wrapping values is refused within 100 ms") {
  size_t files = 0;
  for (uint32_t alignment : {16u, 32u}) {
    const Writer whole = small_file(alignment == 16 ? 2 : 3, alignment);
    REQUIRE(parse(whole.bytes));
    for (const Field& field : whole.fields) {
      const uint64_t own = value_of(whole.bytes, field);
      for (uint64_t value : bad_values(field, own)) {
        INFO("field at " << field.at << " from " << own << " to " << value);
        const mortise::Error error = refused(with(whole.bytes, field, value));
        if (points_at_field(field, value)) CHECK(error.offset == field.at);
        ++files;
      }
    }
  }
  CHECK(files >= 300);
  WARN(files << " damaged files refused");
}

TEST_CASE("duplicates are refused at the second occurrence") {
  Writer keys;
  keys.counts(0, 3).key("a", ValueType::u8).put<uint8_t>(1).key("b", ValueType::u8).put<uint8_t>(1);
  const size_t second = keys.bytes.size();
  keys.key("a", ValueType::u8).put<uint8_t>(2);
  mortise::Error error = refused(keys.bytes);
  CHECK(error.offset == second);
  CHECK(error.message.find("\"a\" occurs twice") != std::string::npos);

  Writer tensors;
  tensors.counts(2, 0).tensor("t", {8}, 0, 0);
  const size_t other = tensors.bytes.size();
  tensors.tensor("t", {8}, 0, 32).pad().data(64);
  error = refused(tensors.bytes);
  CHECK(error.offset == other);
  CHECK(error.message.find("tensor \"t\" occurs twice") != std::string::npos);
}

TEST_CASE("offsets that overlap, leave a gap, run backwards or are not aligned are refused at the offset") {
  const std::pair<uint64_t, const char*> cases[] = {
      {0, "overlap"}, {32, "overlap"}, {96, "gap"}, {65, "no multiple"}, {UINT64_MAX - 31, "gap"}};
  for (const auto& [offset, message] : cases) {
    Writer w;
    w.counts(2, 0).tensor("a", {16}, 0, 0).tensor("b", {16}, 0, offset);
    const size_t at = w.fields.back().at;
    w.pad().data(256);
    const mortise::Error error = refused(w.bytes);
    CHECK(error.offset == at);
    CHECK(error.message.find(message) != std::string::npos);
  }
}

TEST_CASE("sizes whose product or byte length wraps are refused") {
  const std::vector<std::vector<uint64_t>> shapes = {
      {uint64_t{1} << 32, uint64_t{1} << 32},
      {uint64_t{1} << 62, 4},
      {uint64_t{1} << 61, 2, 2, 2},
      {uint64_t{1} << 62},
      {INT64_MAX},
      {32, uint64_t{1} << 58},
      {uint64_t{1} << 21, uint64_t{1} << 21, uint64_t{1} << 22}};
  for (const auto& shape : shapes) {
    Writer w;
    w.counts(1, 0).tensor("t", shape, 0, 0).pad().data(64);
    refused(w.bytes);
    // Also where only the header counts: nothing that a planner adds up may wrap.
    const auto planned = parse(w.bytes, true);
    CHECK_FALSE((planned.has_value() && planned->tensors[0].bytes > INT64_MAX));
  }
  // Two tensors whose sum wraps.
  Writer w;
  const uint64_t half = uint64_t{1} << 60;
  w.counts(2, 0).tensor("a", {half}, 0, 0).tensor("b", {half}, 0, half * 4).pad();
  CHECK_FALSE(parse(w.bytes, true));
}

TEST_CASE("a size of 0 is refused at the size, also where it fits the data") {
  Writer w;
  w.counts(1, 0).tensor("t", {8, 0}, 0, 0).pad();
  CHECK(refused(w.bytes).offset == w.fields[w.fields.size() - 3].at);
}

TEST_CASE("a count with its top bit set is called negative") {
  Writer w;
  w.counts(uint64_t{1} << 63, 0).pad();
  CHECK(refused(w.bytes).message.find("tensor count is 9223372036854775808, a negative") == 0);
}

TEST_CASE("rows that are no whole number of blocks are refused at the type") {
  for (uint64_t row : {1, 31, 33, 255}) {
    Writer w;
    w.counts(1, 0).tensor("t", {row, 32}, 8, 0).pad().data(64 * 34);
    const mortise::Error error = refused(w.bytes);
    CHECK(error.message.find("blocks of 32, as Q8_0 needs") != std::string::npos);
  }
}

TEST_CASE("names too long, empty, not UTF-8 or with control characters are refused, and a message is ASCII") {
  const auto tensor = [](std::string_view name) {
    Writer w;
    w.counts(1, 0).tensor(name, {8}, 0, 0).pad().data(32);
    return w.bytes;
  };
  REQUIRE(parse(tensor(std::string(63, 'n'))));
  CHECK(refused(tensor(std::string(64, 'n'))).code == mortise::Code::limit);
  CHECK(refused(tensor("")).message.find("name of tensor 0 is empty") != std::string::npos);
  CHECK(refused(tensor("a\xc0\x80")).message.find("not UTF-8") != std::string::npos);
  CHECK(refused(tensor(std::string_view("a\0b", 3))).message.find("control character") != std::string::npos);
  Writer w;
  w.counts(0, 1).key("caf\xc3\xa9\xe2\x80\xae", ValueType::boolean).put<uint8_t>(2);
  CHECK(refused(w.bytes).message.find("\"caf\\xc3\\xa9\\xe2\\x80\\xae\" is 2") != std::string::npos);
  Writer long_key;
  long_key.counts(0, 1).key(std::string(65536, 'k'), ValueType::u8).put<uint8_t>(0);
  CHECK(refused(long_key.bytes).code == mortise::Code::limit);
}

TEST_CASE("general.alignment of another type is an error, not an absent key") {
  Writer w;
  w.counts(0, 1).key("general.alignment", ValueType::u64).put<uint64_t>(32);
  CHECK(refused(w.bytes).message.find("must be a u32, not u64") != std::string::npos);
  Writer array;
  array.counts(0, 1).array("general.alignment", ValueType::u32, 1).put<uint32_t>(32);
  CHECK(refused(array.bytes).message.find("must be a u32, not an array") != std::string::npos);
}

TEST_CASE("bytes behind the last tensor are refused") {
  const std::string whole = small_file(3, 32).bytes;
  const mortise::Error error = refused(whole + '\0');
  CHECK(error.offset == whole.size());
}

TEST_CASE("random damage never crashes, and what is accepted can be used") {
  const char* replay = std::getenv("GGUF_TEST_SEED");
  const uint32_t seed =
      replay != nullptr ? static_cast<uint32_t>(std::strtoul(replay, nullptr, 10)) : std::random_device{}();
  INFO("GGUF_TEST_SEED=" << seed);
  std::mt19937 random(seed);
  const std::string whole = small_file(3, 32).bytes;
  size_t accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<char> copy(whole.begin(), whole.end());
    for (uint32_t flips = 1 + random() % 3; flips != 0; --flips)
      copy[random() % copy.size()] = static_cast<char>(random());
    const auto file = parse({copy.data(), copy.size()}, (round & 1) != 0);
    if (!file) continue;
    ++accepted;
    for (const gguf::Entry& entry : file->entries) (void)gguf::Value::of(*file, entry);
    if (file->header_only) continue;
    for (const gguf::Tensor& tensor : file->tensors) {
      std::vector<float> row(tensor.row_weights() * tensor.rows());
      tensor.type->decode_base(file->data + tensor.offset, row.size() / tensor.type->block_weights,
                               row.data());
    }
  }
  CHECK(accepted > 1000);  // flips in data and in values are no damage
  CHECK(accepted < 19000);
}

// Tests of reading valid GGUF files: fixtures, cases from bug reports, typed values, header-only files.
// Thread rule: single-threaded. Flow: tests plugins/weights/gguf/parse*.cc and values.cc.
#include <catch2/catch.hpp>
#include <map>

#include "writer.h"

using gguf::ValueType;
using gguf_test::parse;
using gguf_test::read_bytes;
using gguf_test::small_file;
using gguf_test::Writer;

namespace {

struct Expected {
  std::string file, name, type, shape;
  uint64_t offset, bytes;
};

const std::vector<Expected>& expected_tensors() {
  static const std::vector<Expected> all = {
#define TENSOR(file, name, type, shape, offset, bytes) {file, name, type, shape, offset, bytes},
#include "expected_tensors.inc"
#undef TENSOR
  };
  return all;
}

std::string shape_of(const gguf::Tensor& tensor) {
  std::string out;
  for (uint32_t i = tensor.dims; i-- > 0;) out += std::to_string(tensor.sizes[i]) + (i == 0 ? "" : "x");
  return out;
}

std::vector<int64_t> ints(const gguf::File& file, const char* key) {
  const auto value = gguf::Value::of(file, *file.find_entry(key));
  REQUIRE(value);
  const mortise_meta meta = value->meta();
  REQUIRE((meta.type == MORTISE_INT || meta.type == MORTISE_BOOL));
  const auto* data = static_cast<const int64_t*>(meta.data);
  return {data, data + meta.count};
}

std::vector<std::string> strings(const gguf::File& file, const char* key) {
  const auto value = gguf::Value::of(file, *file.find_entry(key));
  REQUIRE(value);
  const mortise_meta meta = value->meta();
  REQUIRE(meta.type == MORTISE_STRING);
  std::vector<std::string> out;
  for (size_t i = 0; i < meta.count; ++i)
    out.emplace_back(mortise::view(static_cast<const mortise_str*>(meta.data)[i]));
  return out;
}

}  // namespace

TEST_CASE("fixtures parse with the tensors that the gguf package lists") {
  std::map<std::string, size_t> seen;
  for (const Expected& want : expected_tensors()) {
    const std::string bytes = read_bytes(MORTISE_TEST_DATA "/fixtures/gguf/" + want.file + ".gguf");
    const auto file = parse(bytes);
    INFO(want.file << " " << want.name << (file ? "" : " " + file.error().text()));
    REQUIRE(file);
    const size_t index = seen[want.file]++;
    REQUIRE(index < file->tensors.size());
    const gguf::Tensor& tensor = file->tensors[index];
    CHECK(tensor.name == want.name);
    CHECK(tensor.type->name == want.type);
    CHECK(shape_of(tensor) == want.shape);
    CHECK(tensor.offset == want.offset);
    CHECK(tensor.bytes == want.bytes);
    CHECK(file->find_tensor(want.name) == &tensor);
    CHECK_FALSE(file->header_only);
  }
  REQUIRE(seen.size() == 7);
  for (const auto& [name, count] : seen)
    CHECK(parse(read_bytes(MORTISE_TEST_DATA "/fixtures/gguf/" + name + ".gguf"))->tensors.size() == count);
}

TEST_CASE("types that are not read are refused by name, with what to do") {
  const auto message = [](uint32_t type) {
    Writer w;
    w.counts(1, 0).tensor("blk.0.w", {256}, type, 0).pad().data(512).pad();
    const auto file = parse(w.bytes);
    REQUIRE_FALSE(file);
    CHECK(file.error().code == mortise::Code::unsupported);
    CHECK(file.error().offset == 24 + 8 + 7 + 4 + 8);
    CHECK(file.error().message.find("tensor \"blk.0.w\" has the type ") == 0);
    return file.error().message.substr(30);
  };
  CHECK(message(4) == "Q4_2, which ggml has withdrawn; quantize the model again, as Q4_0");
  CHECK(message(5) == "Q4_3, which ggml has withdrawn; quantize the model again, as Q4_1");
  CHECK(message(31) == "Q4_0_4_4, which ggml has withdrawn; quantize the model again, as Q4_0");
  CHECK(message(38) == "IQ4_NL_8_8, which ggml has withdrawn; quantize the model again, as IQ4_NL");
  CHECK(message(9).find("Q8_1, which is not read") == 0);
  CHECK(message(43).find("number 43; the highest known is 42 (Q2_0)") == 0);
  CHECK(message(UINT32_MAX).find("number 4294967295; the highest known is 42") == 0);
}

// wgt-04 of the cases.
TEST_CASE("a u32 general.alignment of 16 moves data and offsets, offset 0 is the first tensor") {
  const std::string bytes = read_bytes(MORTISE_TEST_DATA "/cases/files/align16.gguf");
  const auto file = parse(bytes);
  REQUIRE(file);
  CHECK(file->alignment == 16);
  CHECK(file->data_start == 240);
  float first = 1;
  for (const char* name : {"a", "b", "c"}) {
    const gguf::Tensor* tensor = file->find_tensor(name);
    REQUIRE(tensor != nullptr);
    float values[4];
    tensor->type->decode_base(file->data + tensor->offset, 4, values);
    for (float value : values) CHECK(value == first++);
  }
}

TEST_CASE("a huge key length is an error at the key, not an allocation") {
  const auto file = parse(read_bytes(MORTISE_TEST_DATA "/cases/files/hugekey.gguf"));
  REQUIRE_FALSE(file);
  CHECK(file.error().offset == 24);
  CHECK(file.error().message.find("metadata key 0") != std::string::npos);
  CHECK(file.error().message.find("length 281474976710655") != std::string::npos);
}

TEST_CASE("an empty key is an error") {
  const auto file = parse(read_bytes(MORTISE_TEST_DATA "/cases/files/emptykey.gguf"));
  REQUIRE_FALSE(file);
  CHECK(file.error().offset == 24);
  CHECK(file.error().message.find("metadata key 0 is empty") != std::string::npos);
}

TEST_CASE("versions 2 and 3 read the same, others are refused by name") {
  for (uint32_t version : {2u, 3u}) {
    const auto file = parse(small_file(version, 32).bytes);
    REQUIRE(file);
    CHECK(file->version == version);
    CHECK(file->tensors.size() == 3);
  }
  const std::pair<uint32_t, const char*> refused[] = {{1, "version 1 is not read"},
                                                      {4, "version 4 is not read"},
                                                      {0, "version 0 is not read"},
                                                      {0x03000000, "version 3 in big-endian"},
                                                      {0x02000000, "version 2 in big-endian"}};
  for (const auto& [version, message] : refused) {
    const auto file = parse(small_file(version, 32).bytes);
    REQUIRE_FALSE(file);
    CHECK(file.error().code == mortise::Code::unsupported);
    CHECK(file.error().offset == 4);
    CHECK(file.error().message.find(message) != std::string::npos);
  }
  const auto other = parse("GGML" + std::string(40, '\0'));
  REQUIRE_FALSE(other);
  CHECK(other.error().message.find("not a GGUF file") != std::string::npos);
}

TEST_CASE("metadata of every type becomes typed values") {
  Writer w;
  w.counts(0, 16);
  w.key("u8", ValueType::u8).put<uint8_t>(200);
  w.key("i8", ValueType::i8).put<int8_t>(-100);
  w.key("u16", ValueType::u16).put<uint16_t>(60000);
  w.key("i16", ValueType::i16).put<int16_t>(-30000);
  w.key("u32", ValueType::u32).put<uint32_t>(4000000000u);
  w.key("i32", ValueType::i32).put<int32_t>(-2000000000);
  w.key("u64", ValueType::u64).put<uint64_t>(INT64_MAX);
  w.key("i64", ValueType::i64).put<int64_t>(INT64_MIN);
  w.key("large", ValueType::u64).put<uint64_t>(uint64_t{1} << 63);
  w.key("f32", ValueType::f32).put<float>(0.1f);
  w.key("f64", ValueType::f64).put<double>(0.1);
  w.key("yes", ValueType::boolean).put<uint8_t>(1);
  w.key("s", ValueType::string).string("caf\xc3\xa9");
  w.array("pieces", ValueType::string, 3).string("a").string("").string("\xff");
  w.array("flags", ValueType::boolean, 2).put<uint8_t>(0).put<uint8_t>(1);
  w.array("empty", ValueType::u16, 0);
  const auto file = parse(w.bytes);
  REQUIRE(file);
  CHECK(ints(*file, "u8") == std::vector<int64_t>{200});
  CHECK(ints(*file, "i8") == std::vector<int64_t>{-100});
  CHECK(ints(*file, "u16") == std::vector<int64_t>{60000});
  CHECK(ints(*file, "i16") == std::vector<int64_t>{-30000});
  CHECK(ints(*file, "u32") == std::vector<int64_t>{4000000000});
  CHECK(ints(*file, "i32") == std::vector<int64_t>{-2000000000});
  CHECK(ints(*file, "u64") == std::vector<int64_t>{INT64_MAX});
  CHECK(ints(*file, "i64") == std::vector<int64_t>{INT64_MIN});
  CHECK(ints(*file, "yes") == std::vector<int64_t>{1});
  CHECK(ints(*file, "flags") == std::vector<int64_t>{0, 1});
  CHECK(ints(*file, "empty").empty());
  CHECK(strings(*file, "s") == std::vector<std::string>{"caf\xc3\xa9"});
  CHECK(strings(*file, "pieces") == std::vector<std::string>{"a", "", "\xff"});
  const auto f32 = gguf::Value::of(*file, *file->find_entry("f32"));
  CHECK(f32->meta().type == MORTISE_FLOAT);
  CHECK(*static_cast<const double*>(f32->meta().data) == static_cast<double>(0.1f));
  const auto f64 = gguf::Value::of(*file, *file->find_entry("f64"));
  CHECK(*static_cast<const double*>(f64->meta().data) == 0.1);
  CHECK(gguf::Value::of(*file, *file->find_entry("yes"))->meta().type == MORTISE_BOOL);
  CHECK(gguf::Value::of(*file, *file->find_entry("flags"))->meta().is_array == 1);
  CHECK(file->find_entry("absent") == nullptr);
  const auto large = gguf::Value::of(*file, *file->find_entry("large"));
  REQUIRE_FALSE(large);
  CHECK(large.error().message.find("\"large\"") != std::string::npos);
}

TEST_CASE("no prefix of a valid file is accepted, but for header-only ones where they are asked for") {
  for (uint32_t version : {2u, 3u}) {
    for (uint32_t alignment : {8u, 32u, 64u}) {
      const std::string whole = small_file(version, alignment).bytes;
      const auto file = parse(whole);
      REQUIRE(file);
      CHECK_FALSE(parse(whole, true)->header_only);
      for (size_t size = 0; size < whole.size(); ++size) {
        // A copy of exactly this size, so that a sanitizer sees a read behind its end.
        const std::vector<char> prefix(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        const std::string_view view(prefix.data(), prefix.size());
        const auto refused = parse(view);
        INFO("version " << version << ", alignment " << alignment << ", prefix of " << size);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().offset <= whole.size());
        CHECK(refused.error().where == "test.gguf");
        const auto planned = parse(view, true);
        REQUIRE(planned.has_value() == (size >= file->header_bytes));
        if (planned) CHECK(planned->header_only);
      }
    }
  }
}

TEST_CASE("a file with metadata alone is valid, with and without padding") {
  Writer w;
  w.counts(0, 1).key("general.architecture", ValueType::string).string("llama");
  REQUIRE(parse(w.bytes));
  CHECK_FALSE(parse(w.bytes)->header_only);
  REQUIRE(parse(w.pad().bytes));
  CHECK_FALSE(parse(w.bytes + "x"));
}

TEST_CASE("a tensor without sizes is one number") {
  Writer w;
  w.counts(1, 0).tensor("scalar", {}, 0, 0).pad().data(4).pad();
  const auto file = parse(w.bytes);
  REQUIRE(file);
  CHECK(file->tensors[0].bytes == 4);
  CHECK(file->tensors[0].rows() == 1);
}

// Tests of the weights part through its C table: tensors, metadata, refusals, mxfp4, tokenizers alone.
// Thread rule: single-threaded. Flow: tests plugins/weights/safetensors/scheme.cc over plugins/common/hf.
#include <catch2/catch.hpp>

#include "format.h"
#include "plugins/common/hf/file_maker.h"
#include "scheme.h"
#include "sdk/fake_host.h"

using mortise::hf::Glance;
using mortise::safetensors::Scheme;

namespace {

constexpr mortise_weights kTable = mortise::hf::make_table<Scheme>();
const std::string kFixtures = MORTISE_TEST_DATA "/fixtures/";

/// An opened model, or why it is not.
struct Opened {
  explicit Opened(const std::string& path, uint32_t flags = 0) : opener(host.host(), mortise::NoParams()) {
    mortise_error error = mortise::c_error();
    status = kTable.open(&opener, mortise::str(path), flags, &model, &error);
    if (status != MORTISE_OK) why = mortise::from_c(status, error).text();
  }
  ~Opened() {
    if (model != nullptr) kTable.close(&opener, model);
  }
  Opened(const Opened&) = delete;

  const mortise_tensor* find(std::string_view name) {
    for (uint64_t i = 0; i < kTable.tensor_count(&opener, model); ++i)
      if (mortise::view(kTable.tensor(&opener, model, i)->name) == name)
        return kTable.tensor(&opener, model, i);
    return nullptr;
  }

  mortise_test::FakeHost host;
  mortise::hf::Opener opener;
  void* model = nullptr;
  mortise_status status = MORTISE_OK;
  std::string why;
};

int32_t score(const std::string& path, std::string_view head = {}) {
  mortise_test::FakeHost host;
  mortise::hf::Opener opener(host.host(), mortise::NoParams());
  return kTable.probe(&opener, mortise::str(path),
                      {reinterpret_cast<const uint8_t*>(head.data()), head.size()});
}

}  // namespace

TEST_CASE("a hub folder shows its tensors, metadata and blobs") {
  Opened opened(kFixtures + "tiny/llama");
  REQUIRE(opened.why.empty());
  CHECK(std::string(kTable.dialect(&opened.opener, opened.model)) == "hf");
  const mortise_tensor* tensor = opened.find("model.layers.0.self_attn.k_proj.weight");
  REQUIRE(tensor != nullptr);
  CHECK(tensor->format == std::string("safetensors.bf16/1"));
  CHECK(tensor->rank == 2);
  CHECK(tensor->shape[0] < tensor->shape[1]);  // grouped heads
  REQUIRE(tensor->plane_count == 1);
  CHECK(tensor->planes[0]->role == std::string("data"));
  CHECK(tensor->planes[0]->dtype == std::string("block"));
  CHECK(tensor->planes[0]->length == tensor->shape[0] * tensor->shape[1] * 2);
  mortise_meta value{};
  REQUIRE(kTable.meta(&opened.opener, opened.model, mortise::str("model_type"), &value) == MORTISE_OK);
  CHECK(mortise::view(*static_cast<const mortise_str*>(value.data)) == "llama");
  CHECK(kTable.meta(&opened.opener, opened.model, mortise::str("x"), &value) == MORTISE_NOT_FOUND);
  mortise_str key{};
  const uint64_t count = kTable.meta_count(&opened.opener, opened.model);
  CHECK(kTable.meta_at(&opened.opener, opened.model, count - 1, &key, &value) == MORTISE_OK);
  CHECK(kTable.meta_at(&opened.opener, opened.model, count, &key, &value) == MORTISE_NOT_FOUND);
  mortise_bytes blob{};
  CHECK(kTable.blob(&opened.opener, opened.model, mortise::str("config.json"), &blob) == MORTISE_OK);
  CHECK(kTable.blob(&opened.opener, opened.model, mortise::str("tokenizer.json"), &blob) ==
        MORTISE_NOT_FOUND);
  CHECK(kTable.tensor(&opened.opener, opened.model, 1000000) == nullptr);
}

TEST_CASE("one number becomes a row of one, and more than four dimensions become four") {
  hf_test::Folder files;
  files.put("x.safetensors",
            hf_test::file_of(R"({"s":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                             R"("w":{"dtype":"U8","shape":[2,3,1,1,2],"data_offsets":[4,16]}})",
                             std::string(16, 'x')));
  Opened opened(files.path());
  REQUIRE(opened.why.empty());
  CHECK(opened.find("s")->rank == 1);
  CHECK(opened.find("s")->shape[0] == 1);
  CHECK(opened.find("w")->rank == 4);
  CHECK(opened.find("w")->shape[0] == 6);
  CHECK(opened.find("w")->shape[3] == 2);
}

TEST_CASE("quantized models are refused in a line that says who reads them") {
  const auto refused = [](const std::string& config) {
    hf_test::Folder files;
    files.put("model.safetensors", hf_test::one_tensor("a")).put("config.json", config);
    CHECK(score(files.path()) == 10);
    Opened opened(files.path());
    CHECK(opened.status == MORTISE_UNSUPPORTED);
    CHECK(opened.why.find("config.json") != std::string::npos);
    return opened.why;
  };
  const auto quantized = [](const std::string& method) {
    return R"({"quantization_config":{"quant_method":")" + method + "\"}}";
  };
  CHECK(refused(quantized("awq")).find("weights/awq reads it") != std::string::npos);
  CHECK(refused(quantized("gptq")).find("weights/gptq reads it") != std::string::npos);
  CHECK(refused(quantized("compressed-tensors")).find("weights/compressed_tensors reads it") !=
        std::string::npos);
  CHECK(refused(quantized("bitsandbytes")).find("no plugin reads") != std::string::npos);
  CHECK(refused(R"({"quantization_config":{"bits":4}})").find("no plugin reads") != std::string::npos);
  CHECK(Opened(kFixtures + "quant/awq-llama-g32").why.find("weights/awq") != std::string::npos);
}

TEST_CASE("probe scores") {
  CHECK(score(kFixtures + "tiny/llama") == 100);
  CHECK(score(kFixtures + "tiny/llama/model.safetensors", hf_test::small_file()) == 100);
  CHECK(score(kFixtures + "tokenizers/tiny-bpe") > 0);
  CHECK(score("/nowhere/x.gguf", "GGUF") == 0);
  CHECK(score(kFixtures) == 0);
}

TEST_CASE("gpt-oss experts are one tensor of codes and scales") {
  hf_test::Folder files;
  files.put("config.json", R"({"quantization_config":{"quant_method":"mxfp4"}})");
  const auto model = [&](const std::string& scales) {
    files.put("model.safetensors",
              hf_test::file_of(R"({"x_blocks":{"dtype":"U8","shape":[2,3,2,16],"data_offsets":[0,192]},"x)" +
                                   scales +
                                   R"(":{"dtype":"U8","shape":[2,3,2],"data_offsets":[192,204]},)"
                                   R"("other_scales":{"dtype":"U8","shape":[1],"data_offsets":[204,205]}})",
                               std::string(205, '\x22')));
  };
  model("_scales");
  Opened opened(files.path());
  REQUIRE(opened.why.empty());
  CHECK(kTable.tensor_count(&opened.opener, opened.model) == 2);
  CHECK(opened.find("other_scales") != nullptr);
  const mortise_tensor* tensor = opened.find("x");
  REQUIRE(tensor != nullptr);
  CHECK(tensor->format == std::string("safetensors.mxfp4/1"));
  CHECK(tensor->rank == 3);
  CHECK(std::vector<uint64_t>(tensor->shape, tensor->shape + 3) == std::vector<uint64_t>{2, 3, 64});
  CHECK(mortise::safetensors::validate_mxfp4(*tensor));
  const void* planes[2] = {opened.host.file(tensor->planes[0]->file) + tensor->planes[0]->offset,
                           opened.host.file(tensor->planes[1]->file) + tensor->planes[1]->offset};
  std::vector<float> out(2 * 64);
  mortise::safetensors::kMxfp4Table.decode_rows(nullptr, tensor, planes, 4, 2, out.data());
  CHECK(out == std::vector<float>(128, 0x1p-93f));  // code 2 is 1, scale 0x22 is 2^(34 - 127)
  model("_scale");
  CHECK(Opened(files.path()).why.find("x_scales is missing") != std::string::npos);
}

TEST_CASE("a file that ends behind its header opens where that is enough") {
  hf_test::Folder files;
  const std::string whole = hf_test::small_file();
  files.put("x.safetensors", whole.substr(0, whole.size() - 13));
  CHECK_FALSE(Opened(files.path()).why.empty());
  Opened planned(files.path(), MORTISE_OPEN_HEADER_ONLY);
  CHECK(planned.why.empty());
  CHECK(planned.find("b")->planes[0]->offset > 0);
}

TEST_CASE("a tokenizer alone has no tensors") {
  Opened opened(kFixtures + "tokenizers/mistral-v3/tokenizer.model");
  REQUIRE(opened.why.empty());
  CHECK(kTable.tensor_count(&opened.opener, opened.model) == 0);
  mortise_bytes blob{};
  CHECK(kTable.blob(&opened.opener, opened.model, mortise::str("tokenizer.model"), &blob) == MORTISE_OK);
}

// The manifest: what its text may say, and what of it this host must have.
// Thread rule: one thread. Flow: text -> Manifest or reason.
#include "loader/manifest.h"

#include "support.h"

using namespace mortise;
using Catch::Matchers::Contains;

namespace {

const std::string kText =
    "abi=1\nid=acme.x\nversion=1.2\nlicense=MIT\nneeds=mortise.draft.sampler/1\nprovides=sampler:x "
    "sampler:y\n";

std::string reason(const std::string& text) {
  const auto manifest = parse_manifest(text, "x.so");
  if (manifest) return "";
  CHECK(manifest.error().where == "x.so");
  return manifest.error().message;
}

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = kText;
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("loader manifest: all keys are read") {
  const auto read =
      parse_manifest(kText + "isa=avx2 fma\ndevice=cuda\nlibs=a.so b.so\nthreads=own\n", "x.so");
  REQUIRE(read.has_value());
  CHECK(read->id == "acme.x");
  CHECK(read->version == "1.2");
  CHECK(read->license == "MIT");
  CHECK(read->needs == std::vector<std::string>{"mortise.draft.sampler/1"});
  CHECK(read->provides == std::vector<PartName>{{"sampler", "x"}, {"sampler", "y"}});
  CHECK(read->isa == std::vector<std::string>{"avx2", "fma"});
  CHECK(read->device == "cuda");
  CHECK(read->libs == std::vector<std::string>{"a.so", "b.so"});
  CHECK(read->own_threads);
}

TEST_CASE("loader manifest: optional keys have defaults") {
  const auto read = parse_manifest(kText, "x.so");
  REQUIRE(read.has_value());
  CHECK(read->device == "cpu");
  CHECK(read->isa.empty());
  CHECK_FALSE(read->own_threads);
}

TEST_CASE("loader manifest: what is wrong is named") {
  CHECK_THAT(reason(""), Contains("'abi'"));
  CHECK_THAT(reason("\n\n"), Contains("key=value"));
  CHECK_THAT(reason(kText + "\x1b[31m=1\n"), Contains("key=value"));
  CHECK_THAT(reason(kText + "id=acme.y\n"), Contains("'id' stands twice"));
  CHECK_THAT(reason(replaced("version=1.2\n", "")), Contains("'version' is missing"));
  CHECK_THAT(reason(kText + "isaa=avx2\n"), Contains("unknown key 'isaa'") && Contains("'isa'"));
  CHECK_THAT(reason(replaced("acme.x", "acme")), Contains("vendor.name"));
  CHECK_THAT(reason(replaced("acme.x", "Acme.X")), Contains("vendor.name"));
  CHECK_THAT(reason(replaced("acme.x", "a." + std::string(62, 'x'))), Contains("vendor.name"));
  CHECK_THAT(reason(replaced("sampler:x", "sampler")), Contains("kind:name"));
  CHECK_THAT(reason(replaced("sampler:x", "sampler:y")), Contains("twice"));
  CHECK_THAT(reason(replaced("sampler:x sampler:y", "")), Contains("empty"));
  CHECK_THAT(reason(kText + "threads=some\n"), Contains("threads"));
  CHECK_THAT(reason(kText + "libs=../x.so\n"), Contains("path"));
  CHECK_THAT(reason(kText + "isa=" + std::string(200, 'x') + "\n"), Contains("entries of"));
}

TEST_CASE("loader manifest: another ABI is named before anything else is judged") {
  const std::string text = replaced("abi=1", "abi=2") + "a_key_of_later=1\n";
  CHECK_THAT(reason(text), Contains("ABI 2") && Contains("ABI 1"));
  CHECK_THAT(reason(replaced("abi=1", "abi=one")), Contains("not a number"));
}

TEST_CASE("loader manifest: what the host lacks is named") {
  const HostOffer offer{{{"mortise.draft.sampler/1", "sampler"}}, {"avx2"}, {"cpu"}};
  const auto lacks = [&offer](const std::string& text) {
    const auto manifest = parse_manifest(text, "x.so");
    REQUIRE(manifest.has_value());
    const auto met = check_offer(*manifest, offer, "x.so");
    return met ? std::string() : met.error().message;
  };
  CHECK(lacks(kText) == "");
  CHECK(lacks(kText + "isa=avx2\n") == "");
  CHECK_THAT(lacks(kText + "isa=avx2 avx512f\n"), Contains("'avx512f'"));
  CHECK_THAT(lacks(replaced("sampler/1", "sampler/2")), Contains("'mortise.draft.sampler/2'"));
  CHECK_THAT(lacks(replaced("sampler:x", "smapler:x")), Contains("'smapler'") && Contains("'sampler'"));
  CHECK_THAT(lacks(kText + "device=cuda\n"), Contains("'cuda'"));
}

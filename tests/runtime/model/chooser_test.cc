// Tests of the order in which kernels are chosen, with fake plugins. Thread rule: single-threaded.
// Flow: CTest -> Chooser.
#include "model/chooser.h"

#include <catch2/catch.hpp>

using namespace mortise;

namespace {

/// A linear plugin with one claim.
struct Fake {
  mortise_linear_claim claim;
  const mortise_linear_claim* claims[1] = {&claim};
  mortise_part part{};
  bool accepts = true;
  static inline const mortise_linear kTable = [] {
    mortise_linear t{};
    t.size = sizeof(t);
    t.claims = [](void* self, uint32_t* count) {
      *count = 1;
      return static_cast<const mortise_linear_claim* const*>(static_cast<Fake*>(self)->claims);
    };
    t.accepts = [](void* self, uint32_t, const mortise_linear_desc*, mortise_error* error) {
      return static_cast<Fake*>(self)->accepts ? MORTISE_OK
                                               : to_c(Error{Code::unsupported, "", "k is odd"}, error);
    };
    return t;
  }();

  Fake(const char* format, const char* tier, const char* isa = "", uint32_t invariant = 1)
      : claim{sizeof(claim), invariant, format, "act.f32/1", "cpu", isa, tier, "", 7, 1, 0} {
    part.table = &kTable;
  }
  Provider provider(std::string name, bool shipped) { return {name, "test." + name, shipped, this, &part}; }
};

struct Rig {
  Pipeline pipeline;
  Fake any{"*", "reference"}, tuned{"f.q/1", "tuned", "avx2"}, portable{"f.q/1", "portable"},
      foreign{"f.q/1", "tuned"};
  mortise_tensor tensor{sizeof(mortise_tensor), 2, str("blk.0.w"), "f.q/1"};
  mortise_linear_desc desc{sizeof(desc), 0, 0, 8, 32, &tensor, nullptr, nullptr};
  std::vector<std::string> isa = {"avx2"};

  Rig() { pipeline.placement.device.value = "cpu"; }
  std::vector<Provider> all() {
    return {any.provider("any", true), tuned.provider("tuned", true), portable.provider("portable", true),
            foreign.provider("foreign", false)};
  }
  std::string choose() {
    const Chooser chooser(pipeline, all(), {}, isa);
    auto choice = chooser.linear({&desc, 0});
    if (!choice) return choice.error().text();
    reasons.clear();
    for (const Candidate& c : choice->candidates) reasons[c.plugin] = c.reason;
    return chooser.linear_providers()[choice->provider].name;
  }
  std::map<std::string, std::string> reasons;
};

}  // namespace

TEST_CASE("chooser: exact before any, shipped before foreign, tier, and a reason for each") {
  Rig rig;
  CHECK(rig.choose() == "tuned");
  CHECK(rig.reasons.size() == 4);
  CHECK(rig.reasons["portable"].find("better tier") != std::string::npos);
  CHECK(rig.reasons["foreign"].find("shipped") != std::string::npos);
  CHECK(rig.reasons["any"].find("claims the format itself") != std::string::npos);
}

TEST_CASE("chooser: hard filters come first") {
  Rig rig;
  rig.isa = {};
  CHECK(rig.choose() == "portable");
  CHECK(rig.reasons["tuned"] == "isa: the processor lacks avx2");
  rig.portable.accepts = false;
  CHECK(rig.choose() == "foreign");  // it alone is left that claims the format
  CHECK(rig.reasons["portable"] == "accepts: k is odd");
  rig.foreign.claim.batch_invariant = 0;
  rig.pipeline.engine.deterministic.value = true;
  CHECK(rig.choose() == "any");
  CHECK(rig.reasons["foreign"].find("deterministic") != std::string::npos);
}

TEST_CASE("chooser: the most specific pin wins, and one that cannot hold is an error") {
  Rig rig;
  const auto pin = [&](std::string id, std::string tensor, std::string plugin) {
    rig.pipeline.kernels.pin.push_back({std::move(id), std::move(tensor), std::move(plugin), "p.toml:3:1"});
  };
  pin("*", "", "any");
  CHECK(rig.choose() == "any");
  pin("f.q", "", "portable");
  CHECK(rig.choose() == "portable");
  pin("f.q", "blk.*", "foreign");
  CHECK(rig.choose() == "foreign");
  pin("f.q", "output*", "tuned");  // another tensor's
  CHECK(rig.choose() == "foreign");
  rig.foreign.accepts = false;
  const std::string error = rig.choose();
  CHECK(error.find("p.toml:3:1: the pin of 'f.q@blk.*' to 'foreign' cannot hold") != std::string::npos);
  CHECK(error.find("k is odd") != std::string::npos);
}

TEST_CASE("chooser: deny takes plugins out, and all of them is an error that names it") {
  Rig rig;
  rig.pipeline.kernels.deny.push_back({"tuned", "p.toml:4:9", false});
  CHECK(rig.choose() == "portable");
  rig.pipeline.kernels.deny.push_back({"*", "p.toml:4:19", false});
  const std::string error = rig.choose();
  CHECK(error.find("nothing is left to run blk.0.w") != std::string::npos);
  CHECK(error.find("deny") != std::string::npos);
}

TEST_CASE("chooser: a kernel that the probe dropped is out, with the probe's reason") {
  Rig rig;
  Chooser chooser(rig.pipeline, rig.all(), {}, rig.isa);
  chooser.drop({1, 0, "f.q/1", "row 0 gives 1 instead of 2"});
  auto choice = chooser.linear({&rig.desc, 0});
  REQUIRE(choice);
  CHECK(chooser.linear_providers()[choice->provider].name == "portable");
  CHECK(choice->candidates[1].reason == "probe: row 0 gives 1 instead of 2");
}

TEST_CASE("chooser: pins and denials must name what is known") {
  Rig rig;
  rig.pipeline.kernels.pin.push_back({"f.p", "", "any", "p.toml:3:1"});
  Chooser chooser(rig.pipeline, rig.all(), {}, rig.isa);
  CHECK(chooser.check_filters({"f.q"}).error().text().find("did you mean 'f.q'") != std::string::npos);
  rig.pipeline.kernels.pin[0].id = "f.q";
  rig.pipeline.kernels.pin[0].plugin = "tunde";
  CHECK(chooser.check_filters({"f.q"}).error().text().find("tuned") != std::string::npos);
}

// The probe: whatever a plugin does while it is loaded costs one line.
// Thread rule: one thread (the probe forks). Flow: plugins with a fault in their constructor -> reasons.
#include "loader/probe.h"

#include "support.h"

using namespace mortise;
using namespace mortise::test;
using Catch::Matchers::Contains;

namespace {

std::string probe_error(const std::string& name, std::chrono::milliseconds timeout = kProbeTimeout) {
  const auto probed = probe_plugin(accepted(fault(name)), host_offer(), timeout);
  return probed ? "" : probed.error().message;
}

}  // namespace

TEST_CASE("loader probe: parts and parameters come back") {
  const auto probed = probe_plugin(accepted(fault("good")), host_offer());
  REQUIRE(probed.has_value());
  REQUIRE(probed->size() == 1);
  CHECK(probed->front().kind == "sampler");
  CHECK(probed->front().name == "good");
  REQUIRE(probed->front().parameters.size() == 1);
  CHECK(probed->front().parameters[0]["name"] == "level");
  CHECK(probed->front().parameters[0]["default"] == 3);
}

TEST_CASE("loader probe: a constructor that crashes, hangs, exits or prints") {
  CHECK_THAT(probe_error("crash"), Contains("crashed while it was loaded"));
  CHECK_THAT(probe_error("hang", std::chrono::milliseconds(300)), Contains("did not load within 300 ms"));
  CHECK_THAT(probe_error("exit"), Contains("exit status 3"));
  CHECK(probe_error("prints") == "");
}

TEST_CASE("loader probe: errors of loading come back") {
  CHECK_THAT(probe_error("missing_symbol"), Contains("nobody_defines_this"));
  CHECK_THAT(probe_error("other_version"), Contains("'2.0'"));
}

TEST_CASE("loader probe: a processor feature that is lacking is refused before a constructor runs") {
  HostOffer poor = host_offer();
  poor.isa.clear();
  CHECK_THAT(refusal(fault("isa_avx512f"), poor), Contains("'avx512f'"));
  // The constructor is an illegal instruction: the check, not luck, saved the host.
  HostOffer rich = host_offer();
  rich.isa = {"avx512f"};
  const auto probed = probe_plugin(accepted(fault("isa_avx512f"), rich), rich);
  REQUIRE_FALSE(probed.has_value());
  CHECK_THAT(probed.error().message, Contains("crashed"));
}

// Tests of what an opened model may say of itself, with a fake weights plugin. Thread rule: single-threaded.
// Flow: CTest -> OpenModel.
#include "model/open_model.h"

#include <catch2/catch.hpp>

using namespace mortise;

namespace {

/// A weights plugin with one tensor.
struct Fake {
  mortise_plane plane{sizeof(mortise_plane), 0, 0, 64, "data", "block", {0, 0}};
  const mortise_plane* planes[1] = {&plane};
  mortise_tensor tensor{sizeof(mortise_tensor), 2, str("w"), "f.q/1", {4, 4}, 1, 0, planes, nullptr};
  mortise_part part{};
  static inline const mortise_weights kTable = [] {
    mortise_weights t{};
    t.size = sizeof(t);
    t.open = [](void* self, mortise_str, uint32_t, void** model, mortise_error*) {
      *model = self;
      return mortise_status{MORTISE_OK};
    };
    t.close = [](void*, void*) {};
    t.dialect = [](void*, void*) { return "test"; };
    t.tensor_count = [](void*, void*) { return uint64_t{1}; };
    t.tensor = [](void* self, void*, uint64_t) {
      return static_cast<const mortise_tensor*>(&static_cast<Fake*>(self)->tensor);
    };
    return t;
  }();

  std::string open() {
    part.table = &kTable;
    const Provider provider{"fake", "test.fake", true, this, &part};
    const MappedFiles files;
    auto model = OpenModel::open(provider, files, "model", true);
    if (!model) return model.error().text();
    CHECK_FALSE((*model)->has_data());
    CHECK((*model)->tensor("w") == &tensor);
    return "";
  }
};

}  // namespace

TEST_CASE("open model: a tensor whose elements cannot be counted is refused") {
  Fake fake;
  CHECK(fake.open().empty());
  SECTION("a product that wraps to a small number") {
    fake.tensor.rank = 4;
    for (uint64_t& d : fake.tensor.shape) d = uint64_t{1} << 16;
  }
  SECTION("no dimension") { fake.tensor.rank = 0; }
  SECTION("too many dimensions") { fake.tensor.rank = MORTISE_RANK_MAX + 1; }
  SECTION("no plane") { fake.tensor.plane_count = 0; }
  CHECK(fake.open().find("describes tensor 0 wrongly") != std::string::npos);
}

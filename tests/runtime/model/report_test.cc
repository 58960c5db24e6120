// Tests of what explain makes of a graph's KV groups. Thread rule: single-threaded. Flow: CTest -> report.
#include "model/report.h"

#include <catch2/catch.hpp>

using namespace mortise;

TEST_CASE("report: KV of layers of one shape is one term, whatever window they have") {
  Graph graph;
  graph.groups = {{sizeof(mortise_kv_group), 4, 128, 128, 0, 0},
                  {sizeof(mortise_kv_group), 4, 128, 128, 512, 0}};
  graph.slot_groups = {1, 1, 0, 1};
  CHECK(kv_terms(graph, 8192, "f16") == "2 x 4 layers x 4 KV heads x 128 head size x 2 bytes (f16)");
}

TEST_CASE("report: KV of several shapes adds up") {
  Graph graph;
  graph.groups = {{sizeof(mortise_kv_group), 4, 128, 128, 0, 0},
                  {sizeof(mortise_kv_group), 1, 192, 128, 512, 0}};
  graph.slot_groups = {1, 1, 0};
  CHECK(
      kv_terms(graph, (2 * 320 + 1024) * 4, "f32") ==
      "(2 layers x 1 KV heads x 320 head sizes + 2 x 1 layers x 4 KV heads x 128 head size) x 4 bytes (f32)");
  CHECK(kv_terms(Graph(), 0, "f32") == "no layer keeps any");
}

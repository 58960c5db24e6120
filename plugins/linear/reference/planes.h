// What linear/reference keeps of a weight's planes, and where.
// Thread rule: pure functions, any thread. Flow: packed_bytes, pack and bind of linear.cc ask for the same
// places.
#pragma once
#include <mortise/linear.h>

#include <vector>

namespace linear_reference {

/// A part of a plane and its place in the packed weight.
struct PlacedPlane {
  uint64_t from, bytes, to;
};

struct Planes {
  std::vector<PlacedPlane> list;
  uint64_t bytes = 0;   // of the packed weight
  bool is_cut = false;  // holds the weight's rows alone; else those of the whole tensor
};

/// Blocks, and planes in the order of rows, are cut to the weight's rows; of the others every row may read
/// all.
Planes place_planes(const mortise_linear_desc& desc);

/// The tensor that a cut weight's bytes are: `desc.rows` rows of `desc.k` elements.
struct CutTensor {
  CutTensor(const mortise_linear_desc& desc, const Planes& placed);
  CutTensor(const CutTensor&) = delete;
  CutTensor& operator=(const CutTensor&) = delete;

  mortise_tensor tensor;

 private:
  std::vector<mortise_plane> planes_;
  std::vector<const mortise_plane*> pointers_;
};

}  // namespace linear_reference

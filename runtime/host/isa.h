// What this processor can execute, by the names that manifests and kernels use.
// Thread rule: pure after the first call; any thread. Flow: asked by the loader before dlopen and by
// host.has_isa.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mortise {

/// True where the processor has the feature and the system saves the registers that it needs. Names are those
/// of plugin.h ("avx2", "avx512vnni"); an unknown name is false.
bool has_isa(std::string_view feature);

/// Every feature of this machine that has a name, in the table's order.
std::vector<std::string> isa_features();

}  // namespace mortise

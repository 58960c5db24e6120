// A conversion from the opened model to another file or folder.
// Thread rule: the front end's thread. Flow: plan, scales where there is a calibration text, pump, a line
// that says what was written.
#pragma once
#include <mortise/cpp/part.h>
#include <mortise/frontend.h>

#include <string>
#include <string_view>

#include "client/streams.h"
#include "plan.h"

namespace mortise::convert {

struct Settings {
  Options options;
  std::string output;
  std::string_view calibration;  ///< text; empty: round to nearest
  uint64_t calibration_tokens = 0;
};

/// What was written, as a line for people.
Result<std::string> convert(Host host, const mortise_services& services, const Settings& settings,
                            const client::Control& control);

}  // namespace mortise::convert

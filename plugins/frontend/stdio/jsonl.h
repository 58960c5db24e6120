// Mode "jsonl": one request a line in, one answer a line out.
// Thread rule: the front end's thread. Flow: poll over input, engine events and the wish to end; every line
// is submitted as it is read, answers are written as they end.
#pragma once
#include <mortise/frontend.h>

#include "client/streams.h"

namespace mortise::stdio {

/// Runs until the input is over and every answer is written, or until `control` says otherwise.
Result<void> run_jsonl(const mortise_services& services, const client::Control& control, int in, int out);

}  // namespace mortise::stdio

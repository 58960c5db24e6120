// Lines from a person: with editing and history at a terminal, plain from a pipe.
// Thread rule: one thread, whose locale becomes UTF-8 while a terminal's editor lives. Flow: the chat asks
// for a line and waits here; a wish of the main thread interrupts the wait.
#pragma once
#include <cstdio>
#include <memory>
#include <string>

#include "client/streams.h"

namespace mortise::stdio {

class Editor {
 public:
  enum class Got { line, interrupted, end };

  virtual ~Editor() = default;
  /// The next line without its end, shown behind `prompt` at a terminal. interrupted: Ctrl-C, what was typed
  /// is gone. end: the input is over (Ctrl-D), or the main thread wants the front end to end.
  virtual Result<Got> read(const std::string& prompt, std::string* line) = 0;
  /// Remembers a line for Arrow-Up.
  virtual void remember(const std::string& line) = 0;
};

/// An editor where `in` and `out` are a terminal that can move its cursor, else plain reading. The streams
/// and `control` outlive it.
std::unique_ptr<Editor> make_editor(std::FILE* in, std::FILE* out, client::Control& control);

}  // namespace mortise::stdio

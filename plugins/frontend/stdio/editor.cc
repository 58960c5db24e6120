// The editor over libedit, and the plain reader.
// Thread rule: see editor.h. Flow: libedit asks for characters one at a time; we wait for them beside the
// main thread's wishes, because signals do not reach this thread.
#include "editor.h"

#include <histedit.h>
#include <locale.h>
#include <mortise/cpp/utf8.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace mortise::stdio {
namespace {

constexpr int kHistoryLines = 1000;

class PlainEditor final : public Editor {
 public:
  PlainEditor(int in, client::Control& control) : control_(control), lines_(in) {}

  Result<Got> read(const std::string&, std::string* line) override {
    while (!control_.draining()) {
      if (control_.take_interrupt()) return Got::interrupted;
      switch (lines_.next(line)) {
        case client::LineReader::Got::line:
          return Got::line;
        case client::LineReader::Got::end:
          return Got::end;
        case client::LineReader::Got::too_long:
          return fail(Code::limit, "standard input",
                      "has a line over " + std::to_string(client::kLineBytesMax) + " bytes");
        case client::LineReader::Got::nothing: {
          pollfd fds[] = {{lines_.fd(), POLLIN, 0}, {control_.wake_fd(), POLLIN, 0}};
          poll(fds, 2, -1);
          if (fds[0].revents != 0) MORTISE_CHECK(lines_.fill());
        }
      }
    }
    return Got::end;
  }
  void remember(const std::string&) override {}

 private:
  client::Control& control_;
  client::LineReader lines_;
};

class TerminalEditor final : public Editor {
 public:
  TerminalEditor(std::FILE* in, std::FILE* out, client::Control& control)
      : control_(control),
        in_fd_(fileno(in)),
        out_fd_(fileno(out)),
        utf8_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)),
        before_(utf8_ != nullptr ? uselocale(utf8_) : nullptr),
        edit_(el_init("mortise", in, out, out)),
        history_(history_init()) {
    if (!usable()) return;
    HistEvent event;
    history(history_, &event, H_SETSIZE, kHistoryLines);
    history(history_, &event, H_SETUNIQUE, 1);
    el_set(edit_, EL_CLIENTDATA, this);
    el_set(edit_, EL_PROMPT, &prompt_of);
    el_set(edit_, EL_EDITOR, "emacs");
    el_set(edit_, EL_HIST, history, history_);
    el_set(edit_, EL_SIGNAL, 0);
    el_set(edit_, EL_GETCFN, &next_character);
  }
  ~TerminalEditor() override {
    if (edit_ != nullptr) el_end(edit_);
    if (history_ != nullptr) history_end(history_);
    if (utf8_ == nullptr) return;
    uselocale(before_);
    freelocale(utf8_);
  }
  TerminalEditor(const TerminalEditor&) = delete;
  TerminalEditor& operator=(const TerminalEditor&) = delete;

  bool usable() const { return edit_ != nullptr && history_ != nullptr; }

  Result<Got> read(const std::string& prompt, std::string* line) override {
    prompt_ = prompt;
    interrupted_ = false;
    int count = 0;
    const char* text = el_gets(edit_, &count);
    if (text == nullptr || count <= 0) {
      MORTISE_CHECK(client::write_all(out_fd_, "\n"));
      return interrupted_ ? Got::interrupted : Got::end;
    }
    line->assign(text, static_cast<size_t>(count));
    if (!line->empty() && line->back() == '\n') line->pop_back();
    return Got::line;
  }

  void remember(const std::string& line) override {
    HistEvent event;
    history(history_, &event, H_ENTER, line.c_str());
  }

 private:
  static TerminalEditor& self(EditLine* edit) {
    void* data = nullptr;
    el_get(edit, EL_CLIENTDATA, &data);
    return *static_cast<TerminalEditor*>(data);
  }
  static char* prompt_of(EditLine* edit) { return self(edit).prompt_.data(); }

  /// 1: a character; 0: end of input; -1: interrupted.
  static int next_character(EditLine* edit, wchar_t* out) {
    TerminalEditor& editor = self(edit);
    std::string bytes;
    while (true) {
      pollfd fds[] = {{editor.in_fd_, POLLIN, 0}, {editor.control_.wake_fd(), POLLIN, 0}};
      poll(fds, 2, -1);
      if (editor.control_.draining()) return 0;
      if (fds[1].revents != 0 && editor.control_.take_interrupt()) {
        editor.interrupted_ = true;
        errno = EINTR;
        return -1;
      }
      if (fds[0].revents == 0) continue;
      char byte = 0;
      const ssize_t got = ::read(editor.in_fd_, &byte, 1);
      if (got <= 0) return 0;
      // Ctrl-D that was typed before the terminal left its line mode comes as a zero byte.
      const LineInfo* so_far = el_line(edit);
      if (byte == 0 && so_far->lastchar == so_far->buffer) return 0;
      bytes += byte;
      const Utf8Unit unit = utf8_unit(bytes);
      if (unit.kind == Utf8Kind::cut) continue;
      *out = unit.kind == Utf8Kind::valid ? code_point(bytes) : L'\uFFFD';
      return 1;
    }
  }
  static wchar_t code_point(std::string_view bytes) {
    const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])); };
    if (bytes.size() == 1) return static_cast<wchar_t>(byte(0));
    uint32_t value = byte(0) & (0xffu >> (bytes.size() + 1));
    for (size_t i = 1; i < bytes.size(); ++i) value = value << 6 | (byte(i) & 0x3f);
    return static_cast<wchar_t>(value);
  }

  client::Control& control_;
  const int in_fd_, out_fd_;
  const locale_t utf8_;
  const locale_t before_;
  EditLine* const edit_;
  History* const history_;
  std::string prompt_;
  bool interrupted_ = false;
};

}  // namespace

std::unique_ptr<Editor> make_editor(std::FILE* in, std::FILE* out, client::Control& control) {
  const char* kind = std::getenv("TERM");
  const bool dumb = kind == nullptr || std::string_view(kind).empty() || std::string_view(kind) == "dumb";
  if (!dumb && isatty(fileno(in)) == 1 && isatty(fileno(out)) == 1) {
    auto editor = std::make_unique<TerminalEditor>(in, out, control);
    if (editor->usable()) return editor;
  }
  return std::make_unique<PlainEditor>(fileno(in), control);
}

}  // namespace mortise::stdio

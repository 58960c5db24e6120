// Encoding and decoding lines.
// Thread rule: see tokenize.h. Flow: see tokenize.h.
#include "tokenize.h"

#include <mortise/cpp/utf8.h>
#include <poll.h>

#include "client/engine.h"
#include "json/json.h"

namespace mortise::tokenize {
namespace {

Result<bool> flag(const json::Value& object, const char* key, bool fallback) {
  const auto found = object.find(key);
  if (found == object.end()) return fallback;
  if (!found->is_boolean()) return fail(Code::bad_argument, key, "is neither true nor false");
  return found->get<bool>();
}

Result<std::vector<uint32_t>> read_ids(const json::Value& list) {
  if (!list.is_array()) return fail(Code::bad_argument, "ids", "is no list of token ids");
  std::vector<uint32_t> ids;
  for (const json::Value& id : list) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() > UINT32_MAX)
      return fail(Code::bad_argument, "ids", "holds " + json::dump(id) + ", which is no token id");
    ids.push_back(id.get<uint32_t>());
  }
  return ids;
}

Result<std::vector<uint32_t>> ids_of(const client::Text& text, const json::Value& object) {
  if (!object.is_object())
    return fail(Code::bad_data, "", "a line is a JSON object with \"text\" or \"ids\"");
  for (const auto& item : object.items())
    if (item.key() != "text" && item.key() != "ids" && item.key() != "add_special" &&
        item.key() != "parse_special")
      return fail(Code::bad_argument, item.key(),
                  "is unknown; the keys are text, ids, add_special, parse_special");
  MORTISE_TRY(add_special, flag(object, "add_special", false));
  MORTISE_TRY(parse_special, flag(object, "parse_special", true));
  if (object.contains("text") == object.contains("ids"))
    return fail(Code::bad_argument, "text", "send either text or ids");
  if (object.contains("ids")) return read_ids(object["ids"]);
  if (!object["text"].is_string()) return fail(Code::bad_argument, "text", "is no string");
  return text.encode(object["text"].get_ref<const std::string&>(), parse_special, add_special);
}

Result<std::string> answer_or_error(const client::Text& text, const std::string& line) {
  MORTISE_TRY(object, json::parse(line));
  MORTISE_TRY(ids, ids_of(text, object));
  std::string out, decoded;
  json::Writer writer(&out);
  writer.open('{').key("ids").open('[');
  for (const uint32_t id : ids) writer.number(id);
  writer.close(']').key("tokens").open('[');
  Utf8Stream stream;
  for (size_t i = 0; i < ids.size(); ++i) {
    uint32_t flags = 0;
    MORTISE_TRY(piece, text.piece(ids[i], i == 0, &flags));
    writer.string(piece);
    decoded += stream.feed(piece, (flags & MORTISE_PIECE_BYTE) != 0);
  }
  decoded += stream.finish();
  writer.close(']').key("decoded").string(decoded).close('}');
  return out;
}

std::string error_line(const Error& error) {
  std::string out;
  json::Writer writer(&out);
  writer.open('{').key("error").open('{').key("code").string(client::error_name(error));
  writer.key("message").string(error.message).key("param");
  if (error.where.empty())
    writer.null();
  else
    writer.string(error.where);
  writer.close('}').close('}');
  return out;
}

}  // namespace

std::string answer(const client::Text& text, const std::string& line) {
  const Result<std::string> good = answer_or_error(text, line);
  return good ? *good : error_line(good.error());
}

Result<void> run(const mortise_services& services, const client::Control& control, int in, int out) {
  const client::Text text(services.text);
  if (!text.available())
    return fail(Code::unsupported, "use.tokenizer", "this pipeline has no tokenizer; name one");
  client::LineReader lines(in);
  std::string line;
  while (!control.draining()) {
    switch (lines.next(&line)) {
      case client::LineReader::Got::line:
        if (line.find_first_not_of(" \t\r\v\f") == std::string::npos) break;
        MORTISE_CHECK(client::write_all(out, answer(text, line) + "\n"));
        break;
      case client::LineReader::Got::too_long: {
        const Error error{Code::limit, "",
                          "the line is over " + std::to_string(client::kLineBytesMax) + " bytes"};
        MORTISE_CHECK(client::write_all(out, error_line(error) + "\n"));
        break;
      }
      case client::LineReader::Got::end:
        return {};
      case client::LineReader::Got::nothing: {
        pollfd fds[] = {{in, POLLIN, 0}, {control.wake_fd(), POLLIN, 0}};
        poll(fds, 2, -1);
        if (fds[0].revents != 0) MORTISE_CHECK(lines.fill());
      }
    }
  }
  return {};
}

}  // namespace mortise::tokenize

// Statements: the tags between {% and %}, and the text between them.
// Thread rule: one template, one thread. Flow: the parser's entry.
#include <algorithm>

#include "parser.h"

namespace mortise::jinja {
namespace {

bool is_one_of(const Token& token, std::initializer_list<std::string_view> names) {
  return token.type == Tok::name && std::find(names.begin(), names.end(), token.text) != names.end();
}

std::string joined(std::initializer_list<std::string_view> names) {
  std::string out;
  for (const std::string_view name : names) out += (out.empty() ? "" : " or ") + std::string(name);
  return out;
}

}  // namespace

Body Parser::parse() {
  Body body = subparse({});
  if (now().type != Tok::eof) unexpected("the end of the template");
  return body;
}

StmtPtr Parser::stmt(Stmt::Kind kind) {
  auto s = std::make_unique<Stmt>();
  s->kind = kind, s->line = now().line;
  return s;
}

// Text and tags up to one of the names in `end` (which stays the present token) or the end of the template.
Body Parser::subparse(Names end) {
  const Nest nest(*this);
  Body body;
  while (now().type != Tok::eof) {
    if (now().type == Tok::data) {
      body.push_back(stmt(Stmt::data));
      body.back()->text = take().text;
    } else if (now().type == Tok::variable_begin) {
      body.push_back(stmt(Stmt::output));
      take();
      body.back()->expr = tuple(true);
      expect(Tok::variable_end);
    } else if (now().type == Tok::block_begin) {
      take();
      if (is_one_of(now(), end)) return body;
      if (now().is_name("print")) {
        parse_print(body);
      } else {
        body.push_back(statement());
      }
      expect(Tok::block_end);
    } else {
      unexpected("text or a tag");
    }
  }
  if (end.size() != 0)
    raise_at(now().line, "the template ends before {% " + joined(end) + " %}; close the block");
  return body;
}

Body Parser::statements(Names end, bool drop_needle) {
  skip_op(":");
  expect(Tok::block_end);
  Body body = subparse(end);
  if (drop_needle) take();
  return body;
}

StmtPtr Parser::statement() {
  if (now().type != Tok::name) unexpected("the name of a tag");
  const std::string& tag = now().text;
  if (tag == "for") return parse_for();
  if (tag == "if") return parse_if();
  if (tag == "set") return parse_set();
  if (tag == "with") return parse_with();
  if (tag == "macro") return parse_macro();
  if (tag == "call") return parse_call_block();
  if (tag == "filter") return parse_filter_block();
  if (tag == "generation") return parse_generation();
  if (tag == "break") return parse_loop_control(Stmt::break_loop);
  if (tag == "continue") return parse_loop_control(Stmt::continue_loop);
  raise_at(now().line, "unknown or misplaced tag '" + tag + "'");
}

void Parser::check_target(const Expr& e) const {
  if (e.kind == Expr::name || e.kind == Expr::ns_target) return;
  if (e.kind != Expr::tuple)
    raise_at(e.line, "only names, tuples of names and namespace attributes can be assigned");
  for (const ExprPtr& kid : e.kids) check_target(*kid);
}

ExprPtr Parser::assign_target(std::string_view end_name, bool with_namespace) {
  ExprPtr e = tuple(true, end_name, false, true, with_namespace);
  check_target(*e);
  return e;
}

ExprPtr Parser::assign_name() {
  const Token token = expect(Tok::name);
  static constexpr std::string_view kReserved[] = {"true", "false", "none", "True", "False", "None"};
  if (std::find(std::begin(kReserved), std::end(kReserved), token.text) != std::end(kReserved)) {
    raise_at(token.line, "'" + token.text + "' cannot be assigned");
  }
  ExprPtr e = node(Expr::name, token.line);
  e->text = token.text;
  return e;
}

StmtPtr Parser::parse_set() {
  StmtPtr s = stmt(Stmt::set);
  take();
  s->target = assign_target({}, true);
  if (skip_op("=")) {
    s->expr = tuple(true);
    return s;
  }
  s->kind = Stmt::set_block;
  s->expr = filters(nullptr, false);
  s->body = statements({"endset"}, true);
  return s;
}

StmtPtr Parser::parse_for() {
  StmtPtr s = stmt(Stmt::for_block);
  take();
  s->target = assign_target("in", false);
  if (!skip_name("in")) unexpected("'in'");
  s->expr = tuple(false, "recursive");
  if (skip_name("if")) s->test = expression();
  s->recursive = skip_name("recursive");
  s->body = statements({"endfor", "else"}, false);
  if (take().text == "else") s->other = statements({"endfor"}, true);
  return s;
}

StmtPtr Parser::parse_if() {
  StmtPtr s = stmt(Stmt::if_block);
  take();
  while (true) {
    s->exprs.push_back(tuple(false));
    s->bodies.push_back(statements({"elif", "else", "endif"}, false));
    const Token token = take();
    if (token.is_name("elif")) continue;
    if (token.is_name("else")) s->bodies.push_back(statements({"endif"}, true));
    return s;
  }
}

StmtPtr Parser::parse_with() {
  StmtPtr s = stmt(Stmt::with_block);
  take();
  while (now().type != Tok::block_end) {
    if (!s->targets.empty()) expect_op(",");
    s->targets.push_back(assign_target({}, false));
    expect_op("=");
    s->exprs.push_back(expression());
  }
  s->body = statements({"endwith"}, true);
  return s;
}

void Parser::parse_signature(Stmt& s) {
  expect_op("(");
  while (!now().is_op(")")) {
    if (!s.params.empty()) expect_op(",");
    ExprPtr name = assign_name();
    for (const ExprPtr& seen : s.params) {
      if (seen->text == name->text) raise_at(name->line, "the parameter '" + name->text + "' is named twice");
    }
    if (skip_op("=")) {
      s.defaults.push_back(expression());
    } else if (!s.defaults.empty()) {
      raise_at(name->line, "a parameter without default follows one with a default");
    }
    s.params.push_back(std::move(name));
  }
  expect_op(")");
}

StmtPtr Parser::parse_macro() {
  StmtPtr s = stmt(Stmt::macro);
  take();
  s->target = assign_name();
  s->text = s->target->text;
  parse_signature(*s);
  s->body = statements({"endmacro"}, true);
  return s;
}

StmtPtr Parser::parse_call_block() {
  StmtPtr s = stmt(Stmt::call_block);
  take();
  if (now().is_op("(")) parse_signature(*s);
  s->expr = expression();
  if (s->expr->kind != Expr::call) raise_at(s->line, "expected a call in {% call %}");
  s->body = statements({"endcall"}, true);
  return s;
}

StmtPtr Parser::parse_filter_block() {
  StmtPtr s = stmt(Stmt::filter_block);
  take();
  s->expr = filters(nullptr, true);
  s->body = statements({"endfilter"}, true);
  return s;
}

StmtPtr Parser::parse_generation() {
  StmtPtr s = stmt(Stmt::generation);
  take();
  s->body = statements({"endgeneration"}, true);
  return s;
}

StmtPtr Parser::parse_loop_control(Stmt::Kind kind) {
  StmtPtr s = stmt(kind);
  take();
  return s;
}

void Parser::parse_print(Body& body) {
  take();
  bool first = true;
  while (now().type != Tok::block_end) {
    if (!first) expect_op(",");
    first = false;
    body.push_back(stmt(Stmt::output));
    body.back()->expr = expression();
  }
}

}  // namespace mortise::jinja

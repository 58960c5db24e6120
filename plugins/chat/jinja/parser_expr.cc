// Expressions by precedence, from the inline if down to unary signs and literals.
// Thread rule: one template, one thread. Flow: called by the statement parser.
#include <algorithm>

#include "parser.h"

namespace mortise::jinja {

bool Parser::skip_name(std::string_view name) {
  if (!now().is_name(name)) return false;
  take();
  return true;
}

bool Parser::skip_op(std::string_view op) {
  if (!now().is_op(op)) return false;
  take();
  return true;
}

void Parser::unexpected(const std::string& wanted) const {
  static constexpr const char* kNames[] = {"text",
                                           "'{{'",
                                           "'}}'",
                                           "'{%'",
                                           "'%}'",
                                           "name",
                                           "string",
                                           "integer",
                                           "float",
                                           "operator",
                                           "the end of the template"};
  const Token& token = now();
  std::string got = kNames[static_cast<size_t>(token.type)];
  if (token.type == Tok::name || token.type == Tok::op) got = "'" + token.text + "'";
  raise_at(token.line, "expected " + wanted + ", got " + got);
}

Token Parser::expect(Tok type) {
  if (now().type != type) {
    unexpected(type == Tok::name           ? "a name"
               : type == Tok::block_end    ? "'%}'"
               : type == Tok::variable_end ? "'}}'"
                                           : "another token");
  }
  return take();
}

void Parser::expect_op(std::string_view op) {
  if (!skip_op(op)) unexpected("'" + std::string(op) + "'");
}

ExprPtr Parser::node(Expr::Kind kind, int line) {
  auto e = std::make_unique<Expr>();
  e->kind = kind, e->line = line;
  return e;
}

ExprPtr Parser::node(Expr::Kind kind, int line, ExprPtr a, ExprPtr b) {
  ExprPtr e = node(kind, line);
  e->kids.push_back(std::move(a));
  if (b != nullptr) e->kids.push_back(std::move(b));
  measure(*e);
  return e;
}

// Sets the height of a finished node. Chains grow without nesting in the source, so their height is bounded
// here.
void Parser::measure(Expr& e) {
  int deepest = 0;
  const auto look = [&deepest](const ExprPtr& kid) {
    if (kid != nullptr) deepest = std::max(deepest, kid->depth);
  };
  for (const ExprPtr& kid : e.kids) look(kid);
  for (const ExprPtr& kid : e.args) look(kid);
  for (const auto& [name, kid] : e.kwargs) look(kid);
  look(e.dyn_args), look(e.dyn_kwargs);
  e.depth = deepest + 1;
  if (e.depth > kMaxExprDepth) {
    raise_at(e.line, "an expression has more than " + std::to_string(kMaxExprDepth) + " levels; simplify it");
  }
}

ExprPtr Parser::expression(bool with_cond) { return with_cond ? cond_expr() : or_expr(); }

ExprPtr Parser::cond_expr() {
  int line = now().line;
  ExprPtr then = or_expr();
  while (skip_name("if")) {
    ExprPtr test = or_expr();
    ExprPtr other;
    if (skip_name("else")) {
      const Nest nest(*this);
      other = cond_expr();
    }
    ExprPtr e = node(Expr::cond, line);
    e->kids.push_back(std::move(test));
    e->kids.push_back(std::move(then));
    e->kids.push_back(std::move(other));
    measure(*e);
    then = std::move(e);
    line = now().line;
  }
  return then;
}

ExprPtr Parser::or_expr() {
  const int line = now().line;
  ExprPtr left = and_expr();
  while (skip_name("or")) left = node(Expr::either, line, std::move(left), and_expr());
  return left;
}

ExprPtr Parser::and_expr() {
  const int line = now().line;
  ExprPtr left = not_expr();
  while (skip_name("and")) left = node(Expr::both, line, std::move(left), not_expr());
  return left;
}

ExprPtr Parser::not_expr() {
  if (!now().is_name("not")) return compare();
  const Nest nest(*this);
  const int line = take().line;
  return node(Expr::negate_truth, line, not_expr());
}

ExprPtr Parser::compare() {
  const int line = now().line;
  ExprPtr first = math1();
  ExprPtr e;
  while (true) {
    static constexpr std::string_view kOps[] = {"==", "!=", "<", "<=", ">", ">="};
    std::string op;
    if (now().type == Tok::op && std::find(std::begin(kOps), std::end(kOps), now().text) != std::end(kOps)) {
      op = take().text;
    } else if (skip_name("in")) {
      op = "in";
    } else if (now().is_name("not") && peek().is_name("in")) {
      take(), take();
      op = "not in";
    } else {
      break;
    }
    if (e == nullptr) e = node(Expr::compare, line, std::move(first));
    e->ops.push_back(std::move(op));
    e->kids.push_back(math1());
  }
  if (e == nullptr) return first;
  measure(*e);
  return e;
}

ExprPtr Parser::math1() {
  const int line = now().line;
  ExprPtr left = concat();
  while (now().is_op("+") || now().is_op("-")) {
    std::string op = take().text;
    left = node(Expr::arith, line, std::move(left), concat());
    left->text = std::move(op);
  }
  return left;
}

ExprPtr Parser::concat() {
  const int line = now().line;
  ExprPtr first = math2();
  if (!now().is_op("~")) return first;
  ExprPtr e = node(Expr::concat, line, std::move(first));
  while (skip_op("~")) e->kids.push_back(math2());
  measure(*e);
  return e;
}

ExprPtr Parser::math2() {
  const int line = now().line;
  ExprPtr left = power();
  while (now().is_op("*") || now().is_op("/") || now().is_op("//") || now().is_op("%")) {
    std::string op = take().text;
    left = node(Expr::arith, line, std::move(left), power());
    left->text = std::move(op);
  }
  return left;
}

ExprPtr Parser::power() {
  const int line = now().line;
  ExprPtr left = unary(true);
  while (skip_op("**")) {
    left = node(Expr::arith, line, std::move(left), unary(true));
    left->text = "**";
  }
  return left;
}

ExprPtr Parser::unary(bool with_filter) {
  const Nest nest(*this);
  const int line = now().line;
  ExprPtr e;
  if (skip_op("-")) {
    e = node(Expr::negative, line, unary(false));
  } else if (skip_op("+")) {
    e = node(Expr::positive, line, unary(false));
  } else {
    e = primary();
  }
  e = postfix(std::move(e));
  return with_filter ? filter_expr(std::move(e)) : std::move(e);
}

ExprPtr Parser::name_or_literal(bool with_namespace) {
  const Token token = take();
  ExprPtr e = node(Expr::constant, token.line);
  const std::string& t = token.text;
  if (t == "true" || t == "True" || t == "false" || t == "False") {
    e->value = Value::boolean(t == "true" || t == "True");
  } else if (t == "none" || t == "None") {
    e->value = Value::none();
  } else if (with_namespace && skip_op(".")) {
    e->kind = Expr::ns_target;
    e->text = t;
    e->attribute_name = expect(Tok::name).text;
  } else {
    e->kind = Expr::name;
    e->text = t;
  }
  return e;
}

ExprPtr Parser::primary(bool with_namespace) {
  const Token& token = now();
  const int line = token.line;
  if (token.type == Tok::name) return name_or_literal(with_namespace);
  if (token.type == Tok::string) {
    std::string joined;
    while (now().type == Tok::string) joined += take().text;
    ExprPtr e = node(Expr::constant, line);
    e->value = constants_.string(std::move(joined));
    return e;
  }
  if (token.type == Tok::integer || token.type == Tok::floating) {
    ExprPtr e = node(Expr::constant, line);
    e->value = token.type == Tok::integer ? Value::integer(token.integer) : Value::floating(token.floating);
    take();
    return e;
  }
  if (skip_op("(")) {
    ExprPtr e = tuple(true, {}, true);
    expect_op(")");
    return e;
  }
  if (token.is_op("[")) return list_literal();
  if (token.is_op("{")) return dict_literal();
  unexpected("an expression");
}

}  // namespace mortise::jinja

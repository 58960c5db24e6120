// Tuples, lists and dictionaries; subscripts, calls, filters and tests behind an expression.
// Thread rule: one template, one thread. Flow: called by the expression parser.
#include "parser.h"

namespace mortise::jinja {

bool Parser::at_tuple_end(std::string_view end_name) const {
  const Token& t = now();
  if (t.type == Tok::variable_end || t.type == Tok::block_end || t.is_op(")")) return true;
  return !end_name.empty() && t.is_name(end_name);
}

ExprPtr Parser::tuple(bool with_cond, std::string_view end_name, bool parenthesised, bool simple,
                      bool with_namespace) {
  const int line = now().line;
  std::vector<ExprPtr> items;
  bool is_tuple = false;
  while (true) {
    if (!items.empty()) expect_op(",");
    if (at_tuple_end(end_name)) break;
    items.push_back(simple ? primary(with_namespace) : expression(with_cond));
    if (!now().is_op(",")) break;
    is_tuple = true;
  }
  if (!is_tuple) {
    if (!items.empty()) return std::move(items.front());
    if (!parenthesised) unexpected("an expression");
  }
  ExprPtr e = node(Expr::tuple, line);
  e->kids = std::move(items);
  measure(*e);
  return e;
}

ExprPtr Parser::list_literal() {
  ExprPtr e = node(Expr::list, now().line);
  expect_op("[");
  while (!now().is_op("]")) {
    if (!e->kids.empty()) expect_op(",");
    if (now().is_op("]")) break;
    e->kids.push_back(expression());
  }
  expect_op("]");
  measure(*e);
  return e;
}

ExprPtr Parser::dict_literal() {
  ExprPtr e = node(Expr::dict, now().line);
  expect_op("{");
  while (!now().is_op("}")) {
    if (!e->kids.empty()) expect_op(",");
    if (now().is_op("}")) break;
    e->kids.push_back(expression());
    expect_op(":");
    e->kids.push_back(expression());
  }
  expect_op("}");
  measure(*e);
  return e;
}

ExprPtr Parser::postfix(ExprPtr e) {
  while (true) {
    if (now().is_op(".") || now().is_op("[")) {
      e = subscript(std::move(e));
    } else if (now().is_op("(")) {
      e = call(std::move(e));
    } else {
      return e;
    }
  }
}

ExprPtr Parser::filter_expr(ExprPtr e) {
  while (true) {
    if (now().is_op("|")) {
      e = filters(std::move(e), false);
    } else if (now().is_name("is")) {
      e = test(std::move(e));
    } else if (now().is_op("(")) {
      e = call(std::move(e));
    } else {
      return e;
    }
  }
}

ExprPtr Parser::subscript(ExprPtr e) {
  const int line = now().line;
  if (skip_op(".")) {
    if (now().type == Tok::name) {
      ExprPtr out = node(Expr::attribute, line, std::move(e));
      out->text = take().text;
      return out;
    }
    if (now().type != Tok::integer) unexpected("a name or a number");
    ExprPtr index = node(Expr::constant, line);
    index->value = Value::integer(take().integer);
    return node(Expr::item, line, std::move(e), std::move(index));
  }
  expect_op("[");
  if (now().is_op("]")) unexpected("an expression");
  ExprPtr out = subscribed(std::move(e));
  if (now().is_op(",")) {
    // a[1, 2]: a tuple as key; slices cannot stand in it
    if (out->kind == Expr::slice) raise_at(line, "a slice in a list of subscripts is not supported");
    ExprPtr keys = node(Expr::tuple, line, std::move(out->kids[1]));
    while (skip_op(",")) keys->kids.push_back(expression());
    measure(*keys);
    out->kids[1] = std::move(keys);
    measure(*out);
  }
  expect_op("]");
  return out;
}

// What stands between brackets: an expression, or start:stop:step.
ExprPtr Parser::subscribed(ExprPtr e) {
  const int line = now().line;
  ExprPtr first = now().is_op(":") ? nullptr : expression();
  if (!now().is_op(":")) return node(Expr::item, line, std::move(e), std::move(first));
  take();
  const auto absent = [this] { return now().is_op(":") || now().is_op("]") || now().is_op(","); };
  ExprPtr out = node(Expr::slice, line, std::move(e));
  out->kids.push_back(std::move(first));
  out->kids.push_back(absent() ? nullptr : expression());
  out->kids.push_back(!skip_op(":") || absent() ? nullptr : expression());
  measure(*out);
  return out;
}

void Parser::call_args(Expr& e) {
  const int line = now().line;
  const auto ensure = [line](bool ok) {
    if (!ok) raise_at(line, "invalid syntax for a call: positional arguments come before named ones");
  };
  expect_op("(");
  bool first = true;
  while (!now().is_op(")")) {
    if (!first) expect_op(",");
    if (now().is_op(")")) break;
    first = false;
    if (skip_op("*")) {
      ensure(e.dyn_args == nullptr && e.dyn_kwargs == nullptr);
      e.dyn_args = expression();
    } else if (skip_op("**")) {
      ensure(e.dyn_kwargs == nullptr);
      e.dyn_kwargs = expression();
    } else if (now().type == Tok::name && peek().is_op("=")) {
      ensure(e.dyn_kwargs == nullptr);
      std::string name = take().text;
      for (const auto& [seen, kid] : e.kwargs) {
        if (seen == name) raise_at(line, "the argument '" + name + "' is given twice");
      }
      take();
      e.kwargs.emplace_back(std::move(name), expression());
    } else {
      ensure(e.dyn_args == nullptr && e.dyn_kwargs == nullptr && e.kwargs.empty());
      e.args.push_back(expression());
    }
  }
  expect_op(")");
}

ExprPtr Parser::call(ExprPtr e) {
  ExprPtr out = node(Expr::call, now().line, std::move(e));
  call_args(*out);
  measure(*out);
  return out;
}

ExprPtr Parser::filters(ExprPtr e, bool start_inline) {
  while (now().is_op("|") || start_inline) {
    if (!start_inline) take();
    const Token name = expect(Tok::name);
    ExprPtr out = node(Expr::filter, name.line, std::move(e));
    out->text = name.text;
    while (skip_op(".")) out->text += "." + expect(Tok::name).text;
    if (now().is_op("(")) call_args(*out);
    measure(*out);
    e = std::move(out);
    start_inline = false;
  }
  return e;
}

ExprPtr Parser::test(ExprPtr e) {
  const int line = take().line;
  const bool negated = skip_name("not");
  ExprPtr out = node(Expr::test, line, std::move(e));
  out->text = expect(Tok::name).text;
  while (skip_op(".")) out->text += "." + expect(Tok::name).text;
  const Token& t = now();
  if (t.is_op("(")) {
    call_args(*out);
  } else if ((t.type == Tok::name || t.type == Tok::string || t.type == Tok::integer ||
              t.type == Tok::floating || t.is_op("[") || t.is_op("{")) &&
             !t.is_name("else") && !t.is_name("or") && !t.is_name("and")) {
    if (t.is_name("is")) raise_at(t.line, "tests cannot be chained with is");
    out->args.push_back(postfix(primary()));
  }
  measure(*out);
  return negated ? node(Expr::negate_truth, line, std::move(out)) : std::move(out);
}

}  // namespace mortise::jinja

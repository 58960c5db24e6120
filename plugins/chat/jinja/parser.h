// Recursive descent over the tokens, one function a rule of the reference's grammar.
// Thread rule: one template, one thread. Flow: lexer -> parser -> scope.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "ast.h"
#include "lexer.h"

namespace mortise::jinja {

class Parser {
 public:
  Parser(std::vector<Token> tokens, Heap& constants) : tokens_(std::move(tokens)), constants_(constants) {}
  Body parse();

 private:
  using Names = std::initializer_list<std::string_view>;

  // tokens
  const Token& now() const { return tokens_[at_]; }
  const Token& peek() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  Token take() {
    const Token token = now();
    if (token.type != Tok::eof) ++at_;
    return token;
  }
  bool skip_name(std::string_view name);
  bool skip_op(std::string_view op);
  Token expect(Tok type);
  void expect_op(std::string_view op);
  [[noreturn]] void unexpected(const std::string& wanted) const;
  ExprPtr node(Expr::Kind kind, int line);
  ExprPtr node(Expr::Kind kind, int line, ExprPtr a, ExprPtr b = nullptr);
  void measure(Expr& e);

  // statements (parser_stmt.cc)
  Body subparse(Names end);
  StmtPtr statement();
  Body statements(Names end, bool drop_needle);
  StmtPtr stmt(Stmt::Kind kind);
  StmtPtr parse_set();
  StmtPtr parse_for();
  StmtPtr parse_if();
  StmtPtr parse_with();
  StmtPtr parse_macro();
  StmtPtr parse_call_block();
  StmtPtr parse_filter_block();
  StmtPtr parse_generation();
  StmtPtr parse_loop_control(Stmt::Kind kind);
  void parse_print(Body& body);
  void parse_signature(Stmt& s);
  ExprPtr assign_target(std::string_view end_name, bool with_namespace);
  ExprPtr assign_name();
  void check_target(const Expr& e) const;

  // expressions (parser_expr.cc, parser_postfix.cc)
  ExprPtr expression(bool with_cond = true);
  ExprPtr cond_expr();
  ExprPtr or_expr();
  ExprPtr and_expr();
  ExprPtr not_expr();
  ExprPtr compare();
  ExprPtr math1();
  ExprPtr concat();
  ExprPtr math2();
  ExprPtr power();
  ExprPtr unary(bool with_filter);
  ExprPtr primary(bool with_namespace = false);
  ExprPtr name_or_literal(bool with_namespace);
  ExprPtr tuple(bool with_cond, std::string_view end_name = {}, bool parenthesised = false,
                bool simple = false, bool with_namespace = false);
  bool at_tuple_end(std::string_view end_name) const;
  ExprPtr list_literal();
  ExprPtr dict_literal();
  ExprPtr postfix(ExprPtr e);
  ExprPtr filter_expr(ExprPtr e);
  ExprPtr subscript(ExprPtr e);
  ExprPtr subscribed(ExprPtr e);
  void call_args(Expr& e);
  ExprPtr call(ExprPtr e);
  ExprPtr filters(ExprPtr e, bool start_inline);
  ExprPtr test(ExprPtr e);

  // Counts nesting, so that the source cannot exhaust the stack; every cycle of rules passes one.
  class Nest;
  std::vector<Token> tokens_;
  Heap& constants_;
  size_t at_ = 0;
  int depth_ = 0;
};

class Parser::Nest {
 public:
  explicit Nest(Parser& parser) : parser_(parser) {
    if (++parser_.depth_ > kMaxParseDepth) {
      raise_at(parser_.now().line,
               "nested deeper than " + std::to_string(kMaxParseDepth) + " levels; simplify it");
    }
  }
  ~Nest() { --parser_.depth_; }
  Nest(const Nest&) = delete;
  Nest& operator=(const Nest&) = delete;

 private:
  Parser& parser_;
};

}  // namespace mortise::jinja

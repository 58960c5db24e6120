// Gives every name of a parsed template its place, and finds what can be refused before a render.
// Thread rule: one template, one thread. Flow: parser -> scope -> evaluator.
#pragma once
#include "ast.h"

namespace mortise::jinja {

/// Fills the refs and frames of the tree. Raises TemplateError for unknown filters and tests (outside an if),
/// for break and continue outside a loop, and for assignments to `loop` inside one.
void resolve(Template& t);

}  // namespace mortise::jinja

// A front end for tests: `mortise run FILE -- WHAT ..` asks for one service and prints what it got as JSON.
// Thread rule: run on the front end's thread. Flow: services_test.py -> here -> the host's services.
#include <mortise/cpp/part.h>
#include <mortise/frontend.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace mortise;

mortise_engine_info info_of(const mortise_engine& engine) {
  mortise_engine_info out{};
  out.size = sizeof(out);
  engine.info(engine.ctx, &out);
  return out;
}

std::vector<uint32_t> tokens_of(const mortise_engine& engine, size_t count) {
  std::vector<uint32_t> out;
  for (size_t i = 0; i < count; ++i)
    out.push_back(static_cast<uint32_t>((i * 7 + 3) % info_of(engine).vocab));
  return out;
}

void print_numbers(const char* name, const std::vector<double>& values) {
  std::printf("\"%s\":[", name);
  for (size_t i = 0; i < values.size(); ++i) std::printf("%s%.17g", i == 0 ? "" : ",", values[i]);
  std::printf("]");
}

/// All logits of a sequence.
Result<std::vector<float>> score(const mortise_engine& engine, const std::vector<uint32_t>& tokens) {
  void* score = nullptr;
  mortise_error error = c_error();
  if (const auto status = engine.score_begin(engine.ctx, tokens.data(), tokens.size(), &score, &error))
    return pass(from_c(status, error));
  std::vector<float> out;
  mortise_status status = MORTISE_OK;
  for (mortise_score_rows rows{}; out.size() < tokens.size() * info_of(engine).vocab;) {
    status = engine.score_next(engine.ctx, score, -1, &rows, &error);
    if (status != MORTISE_OK) break;
    out.insert(out.end(), rows.logits, rows.logits + uint64_t{rows.count} * info_of(engine).vocab);
  }
  engine.score_end(engine.ctx, score);
  return status == MORTISE_OK ? Result<std::vector<float>>(out) : pass(from_c(status, error));
}

/// rows TENSOR: the values of a tensor, the second half first.
Result<void> rows(const mortise_services& s, const std::vector<std::string>& words) {
  const mortise_model_service& model = *s.model;
  const mortise_tensor* tensor = model.model->tensor(model.model->ctx, str(words[1]));
  if (tensor == nullptr) return fail(Code::not_found, words[1], "is no tensor");
  const uint64_t k = tensor->shape[tensor->rank - 1], half = tensor->shape[0] / 2;
  std::vector<float> out(tensor->shape[0] * k);
  mortise_error error = c_error();
  auto status =
      model.read_rows(model.ctx, tensor, half, tensor->shape[0] - half, out.data() + half * k, &error);
  if (status == MORTISE_OK) status = model.read_rows(model.ctx, tensor, 0, half, out.data(), &error);
  if (status != MORTISE_OK) return pass(from_c(status, error));
  model.release(model.ctx, tensor);
  const mortise_format* format = model.format(model.ctx, str(tensor->format));
  std::printf("{\"block\":%d,", format == nullptr ? -1 : static_cast<int>(format->block_elements));
  print_numbers("values", {out.begin(), out.end()});
  std::printf("}\n");
  if (model.read_rows(model.ctx, tensor, tensor->shape[0], 1, out.data(), &error) == MORTISE_BAD_ARGUMENT)
    return {};
  return fail(Code::internal, words[1], "a row that is not there was read");
}

/// sums TENSOR COUNT: what a weight is given while COUNT tokens pass.
Result<void> sums(const mortise_services& s, const std::vector<std::string>& words) {
  const mortise_engine& engine = *s.engine;
  const mortise_tensor* tensor = s.model->model->tensor(s.model->model->ctx, str(words[1]));
  const uint64_t k = tensor->shape[tensor->rank - 1];
  std::vector<double> squares(k), magnitudes(k);
  uint64_t count = 0;
  mortise_error error = c_error();
  engine.collect(engine.ctx, 1);
  MORTISE_CHECK(score(engine, tokens_of(engine, std::stoul(words[2]))));
  engine.collect(engine.ctx, 0);
  MORTISE_CHECK(score(engine, tokens_of(engine, 5)));
  const auto status =
      engine.activations(engine.ctx, tensor->name, 0, k, squares.data(), magnitudes.data(), &count, &error);
  if (status != MORTISE_OK) return pass(from_c(status, error));
  std::printf("{\"rows\":%d,", static_cast<int>(count));
  print_numbers("squares", squares);
  std::printf(",");
  print_numbers("magnitudes", magnitudes);
  std::printf("}\n");
  return {};
}

/// both PATH: another model beside this one, twice, the second time left open.
Result<void> both(const mortise_services& s, const std::vector<std::string>& words) {
  for (int turn : {0, 1}) {
    const mortise_services* other = nullptr;
    mortise_error error = c_error();
    if (const auto status = s.open(s.ctx, str(words[1]), &other, &error)) return pass(from_c(status, error));
    MORTISE_TRY(first, score(*s.engine, tokens_of(*s.engine, 100)));
    MORTISE_TRY(second, score(*other->engine, tokens_of(*other->engine, 100)));
    std::printf("{\"same\":%s,\"text\":%s}\n", first == second ? "true" : "false",
                other->text != nullptr ? "true" : "false");
    if (turn == 0) s.close(s.ctx, other);
  }
  return {};
}

/// many: scores until one is refused; then there is room again.
Result<void> many(const mortise_services& s, const std::vector<std::string>&) {
  const mortise_engine& engine = *s.engine;
  const auto tokens = tokens_of(engine, 200);
  std::vector<void*> open;
  mortise_error error = c_error();
  mortise_status status = MORTISE_OK;
  for (void* one = nullptr; status == MORTISE_OK && open.size() < 100;) {
    status = engine.score_begin(engine.ctx, tokens.data(), tokens.size(), &one, &error);
    if (status == MORTISE_OK) open.push_back(one);
  }
  for (void* one : open) engine.score_end(engine.ctx, one);
  MORTISE_CHECK(score(engine, tokens));
  std::printf("{\"open\":%d,\"code\":%d}\n", static_cast<int>(open.size()), status);
  return {};
}

/// writer NAME
Result<void> writer(const mortise_services& s, const std::vector<std::string>& words) {
  const mortise_weights* table = nullptr;
  void* self = nullptr;
  mortise_error error = c_error();
  if (const auto status = s.model->writer(s.model->ctx, str(words[1]), &table, &self, &error))
    return pass(from_c(status, error));
  std::printf("{\"writes\":%s}\n", table->write_begin != nullptr ? "true" : "false");
  return {};
}

class Probe {
 public:
  Probe(Host, const NoParams&) {}
  static Result<void> run(const mortise_services& s) {
    std::vector<std::string> words;
    for (uint32_t i = 0; i < s.argument_count; ++i) words.emplace_back(view(s.arguments[i]));
    const struct {
      const char* name;
      Result<void> (*run)(const mortise_services&, const std::vector<std::string>&);
    } all[] = {{"rows", rows}, {"sums", sums}, {"both", both}, {"many", many}, {"writer", writer}};
    for (const auto& one : all)
      if (!words.empty() && words[0] == one.name) return one.run(s, words);
    return fail(Code::bad_argument, "probe", "is asked for nothing that it knows");
  }
};

constexpr mortise_frontend kTable = {sizeof(mortise_frontend),
                                     0,
                                     [](void*) -> uint32_t { return MORTISE_NEEDS_ENGINE; },
                                     nullptr,
                                     [](void*, const mortise_services* services, mortise_error* error) {
                                       const auto status =
                                           guard(error, [&] { return Probe::run(*services); });
                                       std::fflush(stdout);
                                       return status;
                                     },
                                     [](void*, uint32_t) {},
                                     [](void*) {},
                                     nullptr,
                                     0};

constexpr mortise_part kPart =
    make_part<Probe>("frontend", "probe", MORTISE_FRONTEND_ID, "for tests", &kTable);

}  // namespace

MORTISE_PLUGIN("test.probe", "0.1.0", "Apache-2.0", MORTISE_FRONTEND_ID " " MORTISE_ENGINE_ID,
               "frontend:probe", "", &kPart);

// Reads GGUF files through the plugin's table and writes each anew, every tensor in one type where its rows
// allow it and else as F32. Thread rule: rows are written by three threads, out of order. Flow:
// differential_test.py runs it and gives it lines of `FORMAT IN OUT`; a line comes back for each, "" or an
// error.
#include <iostream>
#include <sstream>
#include <thread>

#include "format.h"
#include "model.h"
#include "write.h"
#include "writer.h"

namespace {

constexpr uint64_t kRowsAtOnce = 64;
const mortise_weights& weights = gguf::kWeightsTable;

/// Maps one file.
struct Host {
  std::string bytes;
  mortise_host table{};

  Host() {
    table.size = sizeof(table);
    table.ctx = this;
    table.has_isa = [](void*, mortise_str) { return 0; };
    table.map_file = [](void* ctx, mortise_str path, uint32_t* file, mortise_bytes* view, mortise_error*) {
      auto& self = *static_cast<Host*>(ctx);
      self.bytes = gguf_test::read_bytes(std::string(mortise::view(path)));
      *file = 0;
      *view = {reinterpret_cast<const uint8_t*>(self.bytes.data()), self.bytes.size()};
      return static_cast<mortise_status>(MORTISE_OK);
    };
  }
};

struct Job {
  const Host& host;
  void* writer;
  std::vector<const mortise_tensor*> sources;
  std::atomic<bool> failed{false};
  mortise_error error = mortise::c_error();
};

/// Every third stretch of rows, from the last tensor to the first.
void write_rows(Job& job, uint64_t mine) {
  uint64_t stretch = 0;
  for (uint64_t index = job.sources.size(); index-- > 0;) {
    const mortise_tensor& tensor = *job.sources[index];
    const gguf::Type& type = *gguf::find_format(tensor.format);
    const uint64_t k = tensor.shape[tensor.rank - 1], blocks = k / type.block_weights;
    uint64_t rows = 1;
    for (uint32_t d = 0; d + 1 < tensor.rank; ++d) rows *= tensor.shape[d];
    for (uint64_t row = 0; row < rows; row += kRowsAtOnce) {
      if (stretch++ % 3 != mine) continue;
      const uint64_t count = std::min(kRowsAtOnce, rows - row);
      std::vector<float> x(count * k);
      const auto* data = reinterpret_cast<const uint8_t*>(job.host.bytes.data()) + tensor.planes[0]->offset;
      type.decode_base(data + row * blocks * type.block_bytes, count * blocks, x.data());
      mortise_error error = mortise::c_error();
      if (weights.write_rows(nullptr, job.writer, index, row, count, x.data(), nullptr, &error) !=
              MORTISE_OK &&
          !job.failed.exchange(true))
        job.error = error;
    }
  }
}

std::string rewrite(const std::string& format, const std::string& in, const std::string& out) {
  Host host;
  gguf::Weights self(mortise::Host(&host.table), {});
  mortise_error error = mortise::c_error();
  void* model = nullptr;
  if (weights.open(&self, mortise::str(in), 0, &model, &error) != MORTISE_OK) return error.message;
  std::vector<mortise_write_meta> metas(weights.meta_count(&self, model));
  std::vector<const mortise_write_meta*> meta_pointers;
  for (uint64_t i = 0; i < metas.size(); ++i) {
    metas[i].size = sizeof(mortise_write_meta);
    weights.meta_at(&self, model, i, &metas[i].key, &metas[i].value);
    meta_pointers.push_back(&metas[i]);
  }
  const gguf::Type& type = *gguf::find_format(format);
  Job job{host, nullptr, {}};
  std::vector<mortise_tensor> targets(weights.tensor_count(&self, model));
  std::vector<const mortise_tensor*> target_pointers;
  for (uint64_t i = 0; i < targets.size(); ++i) {
    job.sources.push_back(weights.tensor(&self, model, i));
    targets[i] = *job.sources.back();
    targets[i].plane_count = 0;
    const bool fits = targets[i].shape[targets[i].rank - 1] % type.block_weights == 0;
    targets[i].format = fits ? type.format : "gguf.f32/1";
    target_pointers.push_back(&targets[i]);
  }
  const mortise_write_plan plan = {sizeof(plan),         0,       metas.size(),          0, targets.size(),
                                   meta_pointers.data(), nullptr, target_pointers.data()};
  mortise_status status = weights.write_begin(&self, mortise::str(out), &plan, &job.writer, &error);
  if (status == MORTISE_OK) {
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 3; ++t) threads.emplace_back([&job, t] { write_rows(job, t); });
    for (std::thread& thread : threads) thread.join();
    if (job.failed) {
      error = job.error;
      weights.write_abort(&self, job.writer);
    } else {
      status = weights.write_end(&self, job.writer, &error);
    }
  }
  weights.close(&self, model);
  return error.message;
}

}  // namespace

int main() {
  std::string line, format, in, out;
  while (std::getline(std::cin, line)) {
    std::istringstream(line) >> format >> in >> out;
    std::cout << rewrite(format, in, out) << std::endl;
  }
  return 0;
}

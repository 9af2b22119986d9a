#include <cstdio>
#include <string>

#include "bench/measuring.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/example_stream.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/nn/memory.hpp"

// Batches of shuffled rows of an HDF5 file, one turn a line of standard input: bench/rows_bench.py lets it
// take turns with PyTorch's DataLoader. "go K" takes K batches and prints their mean time.

namespace {

using namespace sagips;

void take_turns(const bench::Options& options) {
  constexpr std::int64_t batch = 100;
  nn::set_threads(1);
  data::ExampleFiles files;
  files.inputs = {.file = {options.text("file")}, .hdf5_dataset = "features"};
  files.targets = {.file = {options.text("file")}, .hdf5_dataset = "labels"};
  files.memory_GB = 0;
  const data::ExampleRowsPtr rows = files.load().training;
  const std::int64_t steps_per_epoch = rows->rows() / batch;
  data::ExampleStream stream(
      rows, data::SamplePlan(rows->rows(), 1),
      [=](std::uint32_t step) {
        const std::int64_t number = std::int64_t{step} - 1;
        return data::ExampleStream::Place{static_cast<std::uint32_t>(number / steps_per_epoch + 1),
                                          number % steps_per_epoch * batch, batch};
      },
      [](const data::Examples&) {});
  std::uint32_t step = 0;
  double sum = 0;  // somebody looks at each batch
  const auto take = [&](int batches) {
    for (int i = 0; i < batches; ++i) sum += stream.at(++step).inputs.flatten()[0].item<double>();
  };
  take(3);
  std::printf("ready {\"rows\": %lld, \"batch\": %lld}\n", static_cast<long long>(rows->rows()),
              static_cast<long long>(batch));
  std::fflush(stdout);
  bench::answer_turns(take, [&] { return core::text(", \"sum\": ", core::round_trip(sum)); });
}

}  // namespace

int main(int argc, char** argv) {
  nn::keep_freed_memory();
  try {
    take_turns(bench::Options({{"file", ""}}, argc, argv));
  } catch (const core::Error& error) {
    std::fprintf(stderr, "rows_bench: %s\n", error.what());
    return 2;
  }
}

#include "sagips/run/proposals.hpp"

#include <algorithm>
#include <filesystem>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/trained_networks.hpp"

namespace sagips::run {

void check_rows_file(const std::string& out, const std::vector<std::string>& endings) {
  std::filesystem::path file = out;
  for (const std::string& ending : endings)
    if (file.extension() == ending) return;
  throw core::ConfigError("out", core::text(out, ": rows are written as ",
                                            core::join(endings, " or "), " alone, for example out=",
                                            file.replace_extension(endings[0]).string(), "."));
}

void write_rows(const std::string& path, const torch::Tensor& rows) {
  const torch::Tensor dense = rows.to(torch::kCPU, torch::kFloat32).contiguous();
  const std::vector<std::size_t> shape(dense.sizes().begin(), dense.sizes().end());
  core::write_npy(
      path,
      std::span<const float>(dense.data_ptr<float>(), static_cast<std::size_t>(dense.numel())),
      shape);
}

void write_rows(const std::string& path, const data::ExampleRows& rows) {
  torch::Tensor some = rows.first(1).inputs;
  constexpr std::int64_t numbers_at_once = 1 << 20, most_at_once = 500;
  const std::int64_t at_once =
      std::clamp<std::int64_t>(numbers_at_once / some.numel(), 1, most_at_once);
  std::vector<std::size_t> shape(some.sizes().begin(), some.sizes().end());
  shape[0] = static_cast<std::size_t>(rows.rows());
  const std::string header = core::npy_header_bytes(shape, "<f4");
  core::write_pieces(path, [&](std::size_t number) -> std::string_view {
    if (number == 0) return header;
    const std::int64_t first = (static_cast<std::int64_t>(number) - 1) * at_once,
                       last = std::min(first + at_once, rows.rows());
    if (first >= last) return {};
    some = rows.read(torch::arange(first, last, torch::kInt64)).inputs.contiguous();
    return {static_cast<const char*>(some.const_data_ptr()), some.nbytes()};
  });
}

torch::Tensor read_generators(const std::string& run, const nn::Replica& generator) {
  const std::string path = finished_file(run, record::run_files::generator.name);
  const core::NpyArray saved = core::read_npy(path);
  const auto size = static_cast<std::int64_t>(saved.values.size());
  if (size == 0 || size % generator.size() != 0)
    throw core::DataError(
        path, core::text("holds ", saved.values.size(), " weights, the run's config describes ",
                         generator.size(), ". The folder's files do not belong together."));
  return torch::tensor(saved.values, torch::kFloat64)
      .to(torch::kFloat32)
      .reshape({-1, generator.size()});
}

}  // namespace sagips::run

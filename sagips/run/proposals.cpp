#include "sagips/run/proposals.hpp"

#include <filesystem>

#include "sagips/core/error.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/trained_networks.hpp"

namespace sagips::run {

void check_rows_file(const std::string& out) {
  std::filesystem::path npy = out;
  if (npy.extension() == ".npy") return;
  throw core::ConfigError("out",
                          core::text(out, ": rows are written as .npy alone, for example out=",
                                     npy.replace_extension(".npy").string(), "."));
}

void write_rows(const std::string& path, const torch::Tensor& rows) {
  const torch::Tensor dense = rows.to(torch::kCPU, torch::kFloat32).contiguous();
  const std::vector<std::size_t> shape(dense.sizes().begin(), dense.sizes().end());
  core::write_npy(
      path,
      std::span<const float>(dense.data_ptr<float>(), static_cast<std::size_t>(dense.numel())),
      shape);
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

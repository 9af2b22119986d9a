#include "workloads/calorimeter3d/shower_source.hpp"

#include <algorithm>
#include <numbers>

#include "sagips/core/config/effects.hpp"
#include "sagips/core/crc32c.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "workloads/calorimeter3d/measures.hpp"
#include "workloads/calorimeter3d/shower_comparison.hpp"

namespace sagips::workloads {

namespace {

/// Showers that are made as they are read.
class DrawnShowers final : public data::ExampleRows {
 public:
  DrawnShowers(ShowerConfig config, CellTransform transform, std::uint64_t seed, std::int64_t first,
               std::int64_t rows)
      : config_(std::move(config)),
        transform_(transform),
        model_(config_, seed),
        seed_(seed),
        first_(first),
        rows_(rows) {}

  std::int64_t rows() const override { return rows_; }
  data::Examples read(const torch::Tensor& numbers) const override {
    const std::vector<std::int64_t>& shape = config_.geometry.shape;
    const std::int64_t count = numbers.size(0);
    torch::Tensor cells = torch::empty({count, 1, shape[0], shape[1], shape[2]});
    torch::Tensor energy = torch::empty({count});
    const auto size = static_cast<std::size_t>(config_.geometry.cells());
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t number = first_ + numbers.const_data_ptr<std::int64_t>()[i];
      const ShowerModel::Particle particle =
          model_.make(static_cast<std::uint32_t>(number),
                      {cells.data_ptr<float>() + static_cast<std::size_t>(i) * size, size});
      energy.data_ptr<float>()[i] = static_cast<float>(particle.energy_GeV);
    }
    const torch::Tensor angle = shower_angle(cells);
    return as_examples(std::move(cells), energy, angle, transform_);
  }
  /// Of the particles, which the target "angle" is not: that is measured. shape: [n] int64 -> [n] rad
  torch::Tensor angles(const torch::Tensor& numbers) const {
    torch::Tensor angles = torch::empty(numbers.sizes());
    for (std::int64_t i = 0; i < numbers.size(0); ++i) {
      const std::int64_t number = first_ + numbers.const_data_ptr<std::int64_t>()[i];
      angles.data_ptr<float>()[i] =
          static_cast<float>(model_.particle(static_cast<std::uint32_t>(number)).angle);
    }
    return angles;
  }
  std::uint32_t fingerprint(std::uint32_t sum) const override {
    return core::crc32c(core::text(core::write_config(config_), core::write_config(transform_),
                                   seed_, ' ', first_, ' ', rows_),
                        sum);
  }

 private:
  ShowerConfig config_;
  CellTransform transform_;
  ShowerModel model_;
  std::uint64_t seed_;
  std::int64_t first_, rows_;
};

}  // namespace

void ShowerSource::fields(core::FieldList& list) {
  list.choice(
      "showers", kind_,
      {{"drawn", Kind::drawn}, {"clic", Kind::clic}, {"calo_challenge", Kind::calo_challenge}},
      "drawn: made as they are read; of HDF5 files: as the 3DGAN has them, or as the "
      "CaloChallenge, whose X, Y and Z are radius, angle and layer");
  list.add("rows", rows_, "drawn showers to learn from", core::Range::between(1, 1e8));
  list.add("validation_rows", validation_rows_, "further ones for evaluations",
           core::Range::between(1, 1e8));
  showers_.fields(list);
  transform_.fields(list);
  list.add_paths("file", files_, "showers to learn from; also a pattern (Ele_*.h5), or a list");
  list.add_paths("validation_file", validation_files_,
                 "showers of the evaluations; empty: rows kept aside");
  limits_.limit_fields(list);
  const bool is_drawn = kind_ == Kind::drawn;
  core::needs(list, is_drawn, "showers=drawn",
              {"rows", "validation_rows", "cell_mm", "layer_mm", "layer_radiation_lengths",
               "moliere_radius_mm", "lowest_energy_GeV", "highest_energy_GeV", "lowest_angle_deg",
               "highest_angle_deg", "sampling_fraction", "resolution"});
  core::needs(list, !is_drawn, "showers=clic or calo_challenge",
              {"file", "validation_file", "memory_GB", "cache.folder", "cache.limit_GB",
               "cache.copy", "cache.copy_minutes", "held_out"});
  core::needs(list, validation_files_.empty(), "no data.validation_file", {"held_out"});
}

data::ExampleSets ShowerSource::of_files(const std::vector<std::string>& files,
                                         const data::Reading& reading) const {
  if (files.empty())
    throw core::ConfigError("data.file", "is empty. Name the files of showers, or draw them.");
  const auto layout =
      kind_ == Kind::calo_challenge ? ShowerLayout::calo_challenge : ShowerLayout::clic;
  return ShowerFiles{layout, showers_.geometry.shape, transform_, limits_}.load(files, reading);
}

data::ExampleSets ShowerSource::load(std::uint64_t seed, const data::Reading& reading) const {
  showers_.check("data");
  const auto drawn = [&](std::int64_t first, std::int64_t count) {
    return std::make_shared<const DrawnShowers>(showers_, transform_, seed, first, count);
  };
  data::ExampleSets sets;
  if (kind_ == Kind::drawn) {
    sets.training = drawn(0, rows_);
    sets.validation = drawn(rows_, validation_rows_);
    sets.origin = "drawn showers";
  } else {
    sets = of_files(files_, reading);
    if (!validation_files_.empty()) sets.validation = of_files(validation_files_, reading).training;
  }
  if (!sets.training->first(10).inputs.any().item<bool>())
    throw core::ConfigError("data.threshold_GeV",
                            "no cell of the first showers has as much energy. Lower it.");
  return sets;
}

std::map<std::string, problem::ExampleSource::Measure> ShowerSource::measures() const {
  return {
      {"sum", [this](const torch::Tensor& images) { return energy_sum(transform_.undo(images)); }},
      {"angle",
       [this](const torch::Tensor& images) { return shower_angle(transform_.undo(images)); }}};
}

std::unique_ptr<problem::ExampleComparison> ShowerSource::comparison(
    const core::RowTensors& targets) const {
  const std::vector<std::string> names = targets.names();
  if (std::find(names.begin(), names.end(), "energy") == names.end()) return nullptr;
  return std::make_unique<ShowerComparison>(transform_, targets);
}

std::vector<problem::ExampleView> ShowerSource::views(const torch::Tensor& inputs) const {
  const torch::Tensor energies = transform_.undo(inputs).squeeze(1);
  return {{"along_z", "x down, y to the right [GeV]", energies.sum(3), true},
          {"along_y", "x down, z to the right [GeV]", energies.sum(2), true},
          {"along_x", "y down, z to the right [GeV]", energies.sum(1), true}};
}

std::map<std::string, problem::ExampleSource::Quantity> ShowerSource::quantities() const {
  const double highest_GeV = kind_ == Kind::calo_challenge ? 1e4 : 1000;
  return {{"energy", {"100 GeV", 0, highest_GeV / energy_unit_GeV}},
          {"angle", {"rad", 0, std::numbers::pi}},
          {"sum", {"GeV", 0, highest_GeV}}};
}

// Cells of the CaloChallenge are no blocks along X and Y, and have no such angle.
std::optional<problem::ExampleSource::FileForm> ShowerSource::file_form() const {
  if (kind_ == Kind::calo_challenge) return std::nullopt;
  return FileForm{.ending = ".h5",
                  .keys = {{"showers", "clic"}},
                  .write = [this](const std::string& path, const data::ExampleRows& rows) {
                    const auto* const drawn = dynamic_cast<const DrawnShowers*>(&rows);
                    const auto angles = [drawn](const torch::Tensor& numbers) {
                      return drawn->angles(numbers);
                    };
                    write_showers(path, rows, transform_,
                                  drawn ? ParticleAngles(angles) : ParticleAngles());
                  }};
}

// Drawn showers are compared with files as `write_showers` writes them.
data::ExampleRowsPtr ShowerSource::inputs_of(const data::InputFiles& files,
                                             const data::Reading& reading) const {
  return of_files({data::only_file(files)}, reading).training;
}

}  // namespace sagips::workloads

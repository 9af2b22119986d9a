#include "workloads/calorimeter3d/shower_source.hpp"

#include "sagips/core/crc32c.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "workloads/calorimeter3d/measures.hpp"

namespace sagips::workloads {

namespace {

/// energies: [rows, 1, X, Y, Z] GeV, are changed; energy: of the particles [rows] GeV; angle: undefined for none
data::Examples as_examples(torch::Tensor energies, const torch::Tensor& energy,
                           const torch::Tensor& angle, const CellTransform& transform) {
  transform.cut(energies);
  std::map<std::string, torch::Tensor> targets{{"energy", energy / energy_unit_GeV},
                                               {"sum", energy_sum(energies)}};
  if (angle.defined()) targets["angle"] = angle;
  data::Examples examples = data::named_examples({}, targets);
  transform.apply(energies);
  examples.inputs = std::move(energies);
  return examples;
}

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
  list.choice("showers", kind_, {{"drawn", Kind::drawn}}, "drawn: made as they are read");
  list.add("rows", rows_, "drawn showers to learn from", core::Range::between(1, 1e8));
  list.add("validation_rows", validation_rows_, "further ones for evaluations",
           core::Range::between(1, 1e8));
  showers_.fields(list);
  transform_.fields(list);
}

data::ExampleSets ShowerSource::load(std::uint64_t seed, const data::Reading&) const {
  const auto rows = [&](std::int64_t first, std::int64_t count) {
    return std::make_shared<const DrawnShowers>(showers_, transform_, seed, first, count);
  };
  return {.training = rows(0, rows_),
          .validation = rows(rows_, validation_rows_),
          .origin = "drawn showers"};
}

data::ExampleRowsPtr ShowerSource::inputs_of(const data::InputFiles&, const data::Reading&) const {
  throw core::ConfigError("inputs", "drawn showers are read from no file. Leave it out.");
}

}  // namespace sagips::workloads

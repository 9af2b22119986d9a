#include "workloads/calorimeter3d/shower_files.hpp"

#include <algorithm>
#include <map>
#include <numbers>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/arrays.hpp"
#include "sagips/data/file_list.hpp"
#include "sagips/data/hdf5.hpp"
#include "sagips/data/numbers.hpp"
#include "workloads/calorimeter3d/measures.hpp"

namespace sagips::workloads {

using core::DataError;
using core::text;

namespace {

constexpr double stored_per_GeV = 50, least_stored_sum = 10;  // of the calorimeter GAN's files

/// What tells energies in another unit from those that a layout has.
struct Plausible {
  double highest_energy_GeV, least_fraction, highest_fraction;
};

/// Names and units of a layout.
struct Form {
  std::string cells, energy;
  std::vector<std::string> others;
  double cells_per_GeV, energy_per_GeV;
  std::string units;  ///< in words
  Plausible plausible;
};

const Form& form_of(ShowerLayout layout) {
  static const Form clic{"ECAL",
                         "energy",
                         {"mtheta", "sum"},
                         stored_per_GeV,
                         1,
                         "'energy' in GeV, 'ECAL' and 'sum' in GeV times 50",
                         {1000, 0.003, 0.2}};
  static const Form challenge{"showers",     "incident_energies", {}, 1000, 1000,
                              "both in MeV", {1e4, 0.003, 3}};
  return layout == ShowerLayout::clic ? clic : challenge;
}

std::string written(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> lengths;
  for (const std::int64_t length : shape) lengths.push_back(text(length));
  return core::join(lengths, " x ");
}

// Names and shapes of one file. throws: DataError
void check_form(const std::string& file, const ShowerFiles& wanted) {
  const Form& form = form_of(wanted.layout);
  std::vector<std::string> needed{form.cells, form.energy}, there = data::hdf5_members(file, "/");
  needed.insert(needed.end(), form.others.begin(), form.others.end());
  for (std::string& name : there) name.erase(0, 1);
  for (const std::string& name : needed)
    if (std::find(there.begin(), there.end(), name) == there.end())
      throw DataError(file,
                      text("has no data set '", name, "' (it holds: ", core::join(there, ", "),
                           "). Choose the layout that it has in data.showers."));
  const std::vector<std::size_t> sizes = data::hdf5_array(file, form.cells).shape;
  for (const std::string& name : needed)
    if (const std::size_t rows = data::hdf5_array(file, name).shape.at(0); rows != sizes.at(0))
      throw DataError(file, text("has ", rows, " rows in '", name, "' and ", sizes[0], " in '",
                                 form.cells, "'. Copy it again."));
  const std::vector<std::int64_t> row(sizes.begin() + 1, sizes.end());
  const std::int64_t voxels = c10::multiply_integers(wanted.shape);
  const bool fits = wanted.layout == ShowerLayout::clic ? row == wanted.shape
                                                        : row == std::vector<std::int64_t>{voxels};
  if (!fits)
    throw DataError(file, text("has showers of ", written(row), " cells, and data.shape is ",
                               written(wanted.shape), ". Set data.shape to that of the files."));
}

// shape: [rows]
torch::Tensor target_of(const data::Examples& examples, const char* name) {
  return examples.target_tensors().at(name).of(examples.targets).flatten();
}

/// One number of each row of some files.
torch::Tensor column(const std::vector<std::string>& files, const std::string& dataset,
                     double divide_by, const data::Reading& reading) {
  const data::ArrayRows rows({.file = files, .hdf5_dataset = dataset, .divide_by = divide_by},
                             reading);
  return rows.read(torch::arange(rows.rows(), torch::kInt64)).flatten().to(torch::kFloat64);
}

// energy, sum: [rows] GeV
void check_units(const torch::Tensor& energy, const torch::Tensor& sum, const Form& form,
                 const std::string& file) {
  const double lowest = energy.min().item<double>(), highest = energy.max().item<double>();
  if (lowest <= 0 || highest > form.plausible.highest_energy_GeV)
    throw DataError(file,
                    text("holds '", form.energy, "' from ", core::significant(lowest, 3), " to ",
                         core::significant(highest, 3), " GeV, if it is as this layout has it (",
                         form.units, "). Write it in that unit."));
  const double fraction = (sum / energy).median().item<double>();
  if (fraction < form.plausible.least_fraction || fraction > form.plausible.highest_fraction)
    throw DataError(file, text("holds showers whose cells have ", core::significant(fraction, 3),
                               " of the particle's energy, which no calorimeter sees (", form.units,
                               "). Write them in these units."));
}

// cells: [rows, ...] in any unit
void check_cells(const torch::Tensor& cells, bool any_may_be_empty, const std::string& file) {
  if (cells.numel() > 0 && cells.min().item<float>() < 0)
    throw DataError(file, "holds a cell with less than no energy. Write it again without.");
  const torch::Tensor is_empty = cells.flatten(1).amax(1) == 0;
  if (any_may_be_empty ? is_empty.all().item<bool>() : is_empty.any().item<bool>())
    throw DataError(file,
                    "holds showers whose cells are all 0, which teach nothing. Leave them out.");
}

/// Rows of one layout, as files give them: [rows, X, Y, Z] GeV and named targets.
data::ExampleFiles arrays_of(const ShowerFiles& wanted, const std::vector<std::string>& files) {
  const Form& form = form_of(wanted.layout);
  data::ExampleFiles arrays = wanted.limits;
  arrays.inputs = {.file = files, .hdf5_dataset = form.cells, .divide_by = form.cells_per_GeV};
  arrays.target_tensors = {
      {"energy", {.file = files, .hdf5_dataset = form.energy, .divide_by = form.energy_per_GeV}}};
  if (wanted.layout == ShowerLayout::clic) {
    arrays.target_tensors.push_back({"angle", {.file = files, .hdf5_dataset = "mtheta"}});
  } else {  // radius is the fastest in a row of voxels
    arrays.inputs.shape = {wanted.shape[2], wanted.shape[1], wanted.shape[0]};
    arrays.inputs.reorder = {2, 1, 0};
  }
  return arrays;
}

/// Which rows are showers. throws: DataError for files in other units, or without any
data::RowSelection chosen_rows(const std::vector<std::string>& files,
                               const data::Reading& reading) {
  const Form& form = form_of(ShowerLayout::clic);
  const torch::Tensor energy = column(files, form.energy, form.energy_per_GeV, reading);
  const torch::Tensor stored = column(files, "sum", 1, reading);
  const torch::Tensor is_chosen = stored > least_stored_sum;
  if (!is_chosen.any().item<bool>())
    throw DataError(files[0], text("holds no shower whose 'sum' is above ", least_stored_sum,
                                   " (0.2 GeV times 50), and others are left out. ",
                                   "Check that it is in GeV times 50."));
  check_units(energy.masked_select(is_chosen), stored.masked_select(is_chosen) / form.cells_per_GeV,
              form, files[0]);
  const torch::Tensor angle = column(files, "mtheta", 1, reading).masked_select(is_chosen);
  const double least = angle.min().item<double>(), most = angle.max().item<double>();
  if (least < 0 || most > std::numbers::pi)
    throw DataError(files[0], text("holds 'mtheta' from ", core::significant(least, 3), " to ",
                                   core::significant(most, 3),
                                   ", which is no polar angle in rad. Write it in rad."));
  const bool* const chosen = is_chosen.const_data_ptr<bool>();
  return {is_chosen.size(0), [chosen](std::int64_t row) { return chosen[row]; }};
}

}  // namespace

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

data::ExampleSets ShowerFiles::load(const std::vector<std::string>& names,
                                    const data::Reading& reading) const {
  const std::vector<std::string> files = data::files_named(names, reading);
  reading.once([&] {
    for (const std::string& file : files) check_form(file, *this);
    return std::string();
  });
  data::ExampleSets sets = arrays_of(*this, files).load(reading);
  const bool is_clic = layout == ShowerLayout::clic;
  if (is_clic) sets.training = data::chosen(sets.training, chosen_rows(files, reading));
  const data::Examples some = sets.training->first(100);
  check_cells(some.inputs, !is_clic, files[0]);
  check_units(target_of(some, "energy"), some.inputs.flatten(1).sum(1), form_of(layout), files[0]);
  sets.training = data::changed(sets.training, [is_clic, file = files[0],
                                                cells = transform](data::Examples& examples) {
    if (is_clic) check_cells(examples.inputs, false, file);
    examples = as_examples(examples.inputs.unsqueeze(1).contiguous(), target_of(examples, "energy"),
                           is_clic ? target_of(examples, "angle") : torch::Tensor(), cells);
  });
  return sets;
}

void write_showers(const std::string& path, const data::ExampleRows& rows,
                   const CellTransform& transform, const ParticleAngles& angles) {
  const auto count = static_cast<std::size_t>(rows.rows());
  const data::Examples first = rows.first(1);
  const std::vector<std::string> targets = first.target_tensors().names();
  for (const char* name : {"energy", "angle"})
    if (std::find(targets.begin(), targets.end(), name) == targets.end())
      throw core::ConfigError(
          "out",
          text(path, ": files of showers have an energy and an angle, and these are made for: ",
               core::join(targets, ", "), ". Write them as .npy."));
  std::vector<std::size_t> shape(first.inputs.sizes().begin() + 1, first.inputs.sizes().end());
  shape[0] = count;  // in place of the channel
  std::vector<data::Hdf5Written> datasets{{"ECAL", shape}};
  for (const char* name : {"energy", "eta", "mtheta", "sum", "theta"})
    datasets.push_back({name, {count}});
  constexpr std::int64_t numbers_at_once = 1 << 20;
  const auto at_once =
      static_cast<std::size_t>(std::max<std::int64_t>(1, numbers_at_once / first.inputs.numel()));
  data::write_hdf5(path, datasets, at_once, [&](std::size_t from, std::size_t size) {
    const auto begin = static_cast<std::int64_t>(from);
    const torch::Tensor places =
        torch::arange(begin, begin + static_cast<std::int64_t>(size), torch::kInt64);
    const data::Examples some = rows.read(places);
    const torch::Tensor cells = transform.undo(some.inputs);
    const torch::Tensor theta = angles ? angles(places) : target_of(some, "angle");
    return std::vector<std::vector<float>>{
        data::numbers_of<float>(cells * stored_per_GeV),
        data::numbers_of<float>(target_of(some, "energy") * energy_unit_GeV),
        data::numbers_of<float>(-(theta / 2).tan().log()),
        data::numbers_of<float>(shower_angle(cells)),
        data::numbers_of<float>(energy_sum(cells) * stored_per_GeV),
        data::numbers_of<float>(theta)};
  });
}

}  // namespace sagips::workloads

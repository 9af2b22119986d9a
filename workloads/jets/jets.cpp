#include "workloads/jets/jets.hpp"

#include <map>
#include <string>

#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/hdf5.hpp"
#include "sagips/data/numbers.hpp"
#include "workloads/jets/jet_forms.hpp"
#include "workloads/jets/toy_jets.hpp"

namespace sagips::workloads {

std::map<std::string, std::string> jets_settings();  // generated from the YAML beside this file

namespace {

class Jets final : public problem::ExampleSource {
 public:
  enum class Kind { toys, files };
  enum class Form { particles, image, numbers };

  void fields(core::FieldList& list) override {
    list.choice("jets", kind_, {{"toys", Kind::toys}, {"files", Kind::files}},
                "toys: drawn, with one, two and three prongs; files: HDF5 as JEDI-net has it");
    list.choice(
        "form", form_,
        {{"particles", Form::particles}, {"image", Form::image}, {"numbers", Form::numbers}},
        "16 numbers of each of the hardest particles; 1 x 100 x 100 around the axis; 16 "
        "numbers of the whole jet");
    list.add("particles", particles_,
             "the hardest ones that a row has; zeros where there are fewer",
             core::Range::between(2, 1000));
    list.add("rows", rows_, "drawn jets to learn from", core::Range::between(1, 1e8));
    list.add("validation_rows", validation_rows_, "further ones for evaluations",
             core::Range::between(1, 1e8));
    toys_.fields(list);
    list.add_paths("file", files_, "jets to learn from; also a pattern (jetImage_*.h5), or a list");
    list.add_paths("validation_file", validation_files_,
                   "jets of the evaluations; empty: rows kept aside");
    limits_.limit_fields(list);
    core::needs(list, kind_ == Kind::toys, "jets=toys",
                {"rows", "validation_rows", "lowest_pt_GeV", "highest_pt_GeV", "strong_coupling",
                 "least_kt_GeV"});
    core::needs(list, kind_ == Kind::files, "jets=files",
                {"file", "validation_file", "memory_GB", "cache.folder", "cache.limit_GB",
                 "cache.copy", "cache.copy_minutes", "held_out"});
    core::needs(list, form_ == Form::particles, "form=particles", {"particles"});
    core::needs(list, validation_files_.empty(), "no data.validation_file", {"held_out"});
  }

  data::ExampleSets load(std::uint64_t seed, const data::Reading& reading) const override {
    if (kind_ == Kind::files) return of_files(reading);
    toys_.check("data");
    const auto drawn = [&](std::int64_t first, std::int64_t count) {
      return data::hold([&] { return toys(first, count, seed); }, reading);
    };
    return {.training = drawn(0, rows_),
            .validation = drawn(rows_, validation_rows_),
            .classes = jet_classes,
            .origin = "toy jets"};
  }

  bool is_drawn() const override { return kind_ == Kind::toys; }

  std::optional<FileForm> file_form() const override {
    if (form_ == Form::numbers) return std::nullopt;
    return FileForm{.ending = ".h5",
                    .keys = {{"jets", "files"}},
                    .write = [this](const std::string& path, const data::ExampleRows& rows) {
                      write_jets(path, rows);
                    }};
  }

  data::ExampleRowsPtr inputs_of(const data::InputFiles& named,
                                 const data::Reading& reading) const override {
    data::ExampleFiles files = limits_;
    files.inputs = source_of({});
    return in_units(files.inputs_of(named, reading));
  }

 private:
  data::Examples toys(std::int64_t first, std::int64_t count, std::uint64_t seed) const {
    const core::RandomStream random(seed, "toy jets");
    std::vector<std::int64_t> shape = {count, jet_numbers};
    if (form_ == Form::particles) shape = {count, particles_, particle_numbers};
    if (form_ == Form::image) shape = {count, 1, image_side, image_side};
    data::Examples examples{torch::empty(shape), torch::empty({count})};
    const auto numbers = static_cast<std::size_t>(examples.inputs.numel() / count);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t number = first + i,
                         origin = number % static_cast<std::int64_t>(jet_classes.size());
      const std::vector<Particle> jet = toys_.make(static_cast<Origin>(origin), random, number);
      const std::span<float> row{
          examples.inputs.data_ptr<float>() + static_cast<std::size_t>(i) * numbers, numbers};
      if (form_ == Form::particles) write_particles(jet, row);
      if (form_ == Form::image) write_image(jet, row);
      if (form_ == Form::numbers) write_numbers(jet, row);
      examples.targets.data_ptr<float>()[i] = static_cast<float>(origin);
    }
    return examples;
  }

  data::ArraySource source_of(const std::vector<std::string>& files) const {
    if (form_ == Form::numbers)
      throw core::ConfigError("data.form",
                              "numbers of whole jets are made of toys alone. Choose particles or "
                              "image, or read the columns of the files by workload: learning.");
    data::ArraySource source{.file = files};
    if (form_ == Form::image) {
      source.hdf5_dataset = "jetImage";
      source.shape = {1, image_side, image_side};
      source.divide_by = momentum_unit_GeV;
    } else {
      source.hdf5_dataset = "jetConstituentList";
      source.select = core::text("0:", particles_, ", :");
    }
    return source;
  }

  // As the authors' files are, of their table of jets nothing but the class.
  void write_jets(const std::string& path, const data::ExampleRows& rows) const {
    const auto count = static_cast<std::size_t>(rows.rows());
    constexpr std::size_t side = image_side, columns = 6, at_once = 1000;
    const auto particles = static_cast<std::size_t>(particles_);
    const bool is_image = form_ == Form::image;
    const data::Hdf5Written inputs =
        is_image ? data::Hdf5Written{"jetImage", {count, side, side}}
                 : data::Hdf5Written{"jetConstituentList", {count, particles, particle_numbers}};
    const torch::Tensor units = is_image ? torch::full({1}, momentum_unit_GeV) : 1 / units_of();
    data::write_hdf5(
        path, {inputs, {"jets", {count, columns}}}, at_once,
        [&](std::size_t first, std::size_t some) {
          const auto begin = static_cast<std::int64_t>(first),
                     size = static_cast<std::int64_t>(some);
          const data::Examples read = rows.read(torch::arange(begin, begin + size, torch::kInt64));
          std::vector<float> jets(some * columns, 0.0F);
          for (std::size_t i = 0; i < some; ++i)
            jets[i * columns + static_cast<std::size_t>(read.targets.const_data_ptr<float>()[i])] =
                1;
          return std::vector{data::numbers_of<float>(read.inputs * units), jets};
        });
  }

  // What the numbers of a particle are multiplied by: momenta and energies count in their unit.
  static torch::Tensor units_of() {
    torch::Tensor units = torch::ones({particle_numbers});
    for (const std::int64_t momentum : {0, 1, 2, 3, 5}) units[momentum] = 1 / momentum_unit_GeV;
    return units;
  }

  data::ExampleRowsPtr in_units(const data::ExampleRowsPtr& rows) const {
    if (form_ != Form::particles || !rows) return rows;
    return data::changed(
        rows, [units = units_of(), particles = particles_](data::Examples& examples) {
          if (examples.inputs.dim() != 3 || examples.inputs.size(1) != particles ||
              examples.inputs.size(2) != particle_numbers)
            throw core::DataError(
                "data.file",
                core::text(
                    "holds jets of ", examples.inputs.sizes().slice(1), " numbers, and these are ",
                    particles, " particles (data.particles) with ", particle_numbers,
                    " numbers each. Set data.particles to what the files have, ", "or less."));
          examples.inputs = examples.inputs * units;
        });
  }

  data::ExampleSets of_files(const data::Reading& reading) const {
    if (files_.empty())
      throw core::ConfigError("data.file", "is empty. Name the files of jets, or draw toys.");
    const auto class_of = [](const std::vector<std::string>& files) {
      return data::ArraySource{.file = files, .hdf5_dataset = "jets", .select = "-6:-1"};
    };
    data::ExampleFiles files = limits_;
    files.inputs = source_of(files_);
    files.targets = class_of(files_);
    if (!validation_files_.empty()) {
      files.validation_inputs = source_of(validation_files_);
      files.validation_targets = class_of(validation_files_);
    }
    files.classes = jet_classes;
    data::ExampleSets sets = files.load(reading);
    sets.training = in_units(sets.training);
    sets.validation = in_units(sets.validation);
    return sets;
  }

  Kind kind_ = Kind::toys;
  Form form_ = Form::particles;
  std::int64_t particles_ = 100, rows_ = 20000, validation_rows_ = 5000;
  ToyJets toys_;
  std::vector<std::string> files_, validation_files_;
  data::ExampleFiles limits_;  ///< of memory, and of copies
};

}  // namespace

problem::LearningEntry jets_workload() {
  return {.name = "jets",
          .summary =
              "a learning problem: what did a jet of particles begin with? an interaction network",
          .settings = jets_settings(),
          .make = [] { return std::make_unique<Jets>(); }};
}

}  // namespace sagips::workloads

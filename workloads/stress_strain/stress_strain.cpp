#include "workloads/stress_strain/stress_strain.hpp"

#include <map>
#include <string>

#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/core/text.hpp"
#include "workloads/stress_strain/toy_curves.hpp"

namespace sagips::workloads {

std::map<std::string, std::string> stress_strain_settings();  // from the YAML beside this file

namespace {

enum class Form { points, channels };

// What networks see. shape: curves [rows, points, 3]
torch::Tensor in_form(const torch::Tensor& curves, Form form) {
  return form == Form::channels ? curves.transpose(1, 2).contiguous() : curves;
}

// The points of each row. shape: [rows, points, 3]
torch::Tensor curves_of(const torch::Tensor& rows, std::int64_t points) {
  return rows.flatten(1)
      .narrow(1, 0, points * numbers_of_point)
      .reshape({-1, points, numbers_of_point});
}

class StressStrain final : public problem::ExampleSource {
 public:
  enum class Kind { toys, files };

  void fields(core::FieldList& list) override {
    list.choice("curves", kind_, {{"toys", Kind::toys}, {"files", Kind::files}},
                "toys: drawn; files: rows of all points (strain, stress, flag), then strength and "
                "exponent");
    list.choice("form", form_, {{"points", Form::points}, {"channels", Form::channels}},
                "how networks see a curve: points x 3, or 3 x points");
    list.add("points", points_, "of a curve", core::Range::between(2, 1e6));
    list.add("rows", rows_, "drawn curves to learn from", core::Range::between(1, 1e8));
    list.add("validation_rows", validation_rows_, "further ones for evaluations",
             core::Range::between(1, 1e8));
    toys_.fields(list);
    list.add_paths("file", files_, "curves to learn from: .npy, .csv or HDF5; also a pattern");
    list.add_paths("validation_file", validation_files_,
                   "curves of the evaluations; empty: rows kept aside");
    list.add("hdf5_dataset", hdf5_dataset_, "of HDF5 files");
    limits_.limit_fields(list);
    core::needs(
        list, kind_ == Kind::toys, "curves=toys",
        {"rows", "validation_rows", "lowest_strength", "highest_strength", "lowest_exponent",
         "highest_exponent", "largest_strain", "earliest_failure", "noise", "strains"});
    core::needs(list, kind_ == Kind::files, "curves=files",
                {"file", "validation_file", "hdf5_dataset", "memory_GB", "cache.folder",
                 "cache.limit_GB", "cache.copy", "cache.copy_minutes", "held_out"});
    core::needs(list, validation_files_.empty(), "no data.validation_file", {"held_out"});
  }

  data::ExampleSets load(std::uint64_t seed, const data::Reading& reading) const override {
    data::ExampleSets sets = kind_ == Kind::files ? of_files(reading) : drawn(seed, reading);
    sets.targets = {"strength", "exponent"};
    return sets;
  }

  bool is_drawn() const override { return kind_ == Kind::toys; }

  std::optional<FileForm> file_form() const override {
    return FileForm{.ending = ".npy",
                    .keys = {{"curves", "files"}},
                    .write = [this](const std::string& path, const data::ExampleRows& rows) {
                      write(path, rows);
                    }};
  }

  data::ExampleRowsPtr inputs_of(const data::InputFiles& named,
                                 const data::Reading& reading) const override {
    data::ExampleFiles files = limits_;
    files.inputs = rows_in({});
    return shaped(files.inputs_of(named, reading), data::only_file(named));
  }

 private:
  std::int64_t numbers() const { return points_ * numbers_of_point; }

  data::ExampleSets drawn(std::uint64_t seed, const data::Reading& reading) const {
    toys_.check("data");
    const auto some = [&](std::int64_t first, std::int64_t count) {
      return data::hold(
          [&] {
            data::Examples examples = toys_.make(first, count, points_, seed);
            examples.inputs = in_form(examples.inputs, form_);
            return examples;
          },
          reading);
    };
    return {.training = some(0, rows_),
            .validation = some(rows_, validation_rows_),
            .origin = "toy curves"};
  }

  data::ArraySource rows_in(const std::vector<std::string>& files) const {
    return {.file = files, .hdf5_dataset = hdf5_dataset_};
  }

  data::ExampleSets of_files(const data::Reading& reading) const {
    if (files_.empty())
      throw core::ConfigError("data.file", "is empty. Name the files of curves, or draw toys.");
    const auto parameters_in = [&](const std::vector<std::string>& files) {
      data::ArraySource source = rows_in(files);
      source.select = core::text(-material_parameters, ":");
      return source;
    };
    data::ExampleFiles files = limits_;
    files.inputs = rows_in(files_);
    files.targets = parameters_in(files_);
    if (!validation_files_.empty()) {
      files.validation_inputs = rows_in(validation_files_);
      files.validation_targets = parameters_in(validation_files_);
    }
    data::ExampleSets sets = files.load(reading);
    sets.training = shaped(sets.training, files_.front(), &sets.warnings);
    if (sets.validation)
      sets.validation = shaped(sets.validation, validation_files_.front(), &sets.warnings);
    return sets;
  }

  // Rows of a file as curves, once all of them have been looked at.
  data::ExampleRowsPtr shaped(const data::ExampleRowsPtr& rows, const std::string& file,
                              std::vector<std::string>* warnings = nullptr) const {
    constexpr std::int64_t at_once = 10000;
    LawComparison comparison(toys_.law);
    data::for_each_piece(rows->rows(), at_once, [&](const torch::Tensor& some) {
      const data::Examples read = rows->read(some);
      check(read, some[0].item<std::int64_t>(), file);
      if (warnings != nullptr) comparison.add(curves_of(read.inputs, points_), read.targets);
    });
    const std::string remark = comparison.remark(file);
    if (!remark.empty()) warnings->push_back(remark);
    return data::changed(rows, [points = points_, form = form_](data::Examples& examples) {
      examples.inputs = in_form(curves_of(examples.inputs, points), form);
    });
  }

  // first: number of the first of these rows. throws: DataError
  void check(const data::Examples& read, std::int64_t first, const std::string& file) const {
    const std::int64_t there = read.inputs.flatten(1).size(1),
                       all = numbers() + material_parameters;
    const bool has_targets = read.targets.defined();
    if (there != all && (has_targets || there != numbers()))
      throw core::DataError(
          file, core::text("has rows of ", there, " numbers, and a curve has ", all, ": ", points_,
                           " points (data.points) of strain, stress and flag, then strength and "
                           "exponent. Set data.points to what the file has."));
    const torch::Tensor curves = curves_of(read.inputs, points_), strain = curves.select(2, 0),
                        flag = curves.select(2, 2);
    const auto refuse = [&](const torch::Tensor& wrong, const torch::Tensor& values,
                            const char* what) {
      if (!wrong.any().item<bool>()) return;
      const torch::Tensor place = wrong.nonzero()[0];
      throw core::DataError(file,
                            static_cast<std::size_t>(first + place[0].item<std::int64_t>() + 1),
                            core::text("point ", place[1].item<std::int64_t>() + 1, " has ",
                                       values[place[0]][place[1]].item<double>(), what));
    };
    refuse((flag != 0) & (flag != 1), flag, " as its flag, which is 0 or 1. Correct it.");
    refuse(strain < 0, strain, " as its strain, which is at least 0. Correct it.");
  }

  // A row for each curve, as it is read.
  void write(const std::string& path, const data::ExampleRows& rows) const {
    const data::Examples all = rows.first(rows.rows());
    // a form turned twice is the first one
    const torch::Tensor table =
        torch::cat({in_form(all.inputs, form_).flatten(1), all.targets}, 1).contiguous();
    core::write_npy(
        path, std::span(table.const_data_ptr<float>(), static_cast<std::size_t>(table.numel())),
        {static_cast<std::size_t>(table.size(0)), static_cast<std::size_t>(table.size(1))});
  }

  Kind kind_ = Kind::toys;
  Form form_ = Form::points;
  std::int64_t points_ = 200, rows_ = 20000, validation_rows_ = 5000;
  ToyCurves toys_;
  std::vector<std::string> files_, validation_files_;
  std::string hdf5_dataset_ = "curves";
  data::ExampleFiles limits_;  ///< of memory, and of copies
};

}  // namespace

problem::LearningEntry stress_strain_workload() {
  std::map<std::string, std::string> settings = stress_strain_settings();
  std::erase_if(settings, [](const auto& one) { return one.first.starts_with("curve"); });
  return {.name = "stress_strain",
          .summary = "a learning problem: two parameters of a material from stress-strain curves",
          .settings = settings,
          .make = [] { return std::make_unique<StressStrain>(); }};
}

}  // namespace sagips::workloads

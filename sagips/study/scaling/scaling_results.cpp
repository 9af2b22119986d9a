#include "sagips/study/scaling/scaling_results.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "sagips/analysis/convergence/variant.hpp"
#include "sagips/analysis/figures/scaling.hpp"
#include "sagips/analysis/lookup.hpp"
#include "sagips/analysis/statistics.hpp"
#include "sagips/core/csv.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/metrics.hpp"
#include "sagips/record/results.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/study/study_figure.hpp"

namespace sagips::study {

namespace {

namespace files = record::run_files;
using analysis::ScalingRow;
using core::text;
using Number = std::optional<double>;

constexpr double seconds_per_hour = 3600, bytes_per_megabyte = 1e6;

/// What one training says.
struct Measurement {
  record::Results results;
  std::vector<record::Event> metrics;
  std::vector<std::vector<std::string>> exchange;  ///< rows of exchange.csv, header first
};

// throws: DataError for a training on another number of ranks, which a launcher may have started
Measurement read_measurement(const std::string& folder, std::int64_t ranks) {
  Measurement one{record::read_results_json(text(folder, "/", files::results.name)),
                  record::read_metrics(text(folder, "/", files::metrics.name)),
                  {}};
  const std::string exchange = text(folder, "/", files::exchange.name);
  if (std::filesystem::exists(exchange)) one.exchange = core::read_csv_rows(exchange);
  const auto* trained = analysis::find_named(one.results.numbers, "ranks");
  if (trained && trained->value != static_cast<double>(ranks))
    throw core::DataError(folder,
                          text("was trained on ", trained->value, " ranks in place of ", ranks,
                               ". Let the launcher start as many: its word for them is {ranks}."));
  return one;
}

/// A column of exchange.csv, all ranks.
std::vector<double> column(const Measurement& one, const std::string& name) {
  std::vector<double> numbers;
  if (one.exchange.empty()) return numbers;
  const auto& header = one.exchange.front();
  const auto place =
      static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  for (std::size_t row = 1; row < one.exchange.size(); ++row) {
    double number = 0;
    if (place < one.exchange[row].size() && core::parse_number(one.exchange[row][place], number))
      numbers.push_back(number);
  }
  return numbers;
}

/// Numbers of the members of a way, of those that have them.
struct Numbers {
  std::vector<double> values{};

  void add(const Number& value) {
    if (value && std::isfinite(*value)) values.push_back(*value);
  }
  Number mean() const { return values.empty() ? Number() : Number(analysis::mean(values)); }
  Number deviation() const {
    return values.size() < 2 ? Number() : Number(analysis::standard_deviation(values));
  }
  Number largest() const {
    return values.empty() ? Number() : Number(*std::max_element(values.begin(), values.end()));
  }
};

/// The first epoch, and the mean of the others; of a single one the same.
struct EpochTimes {
  double first_s = 0, mean_s = 0;
};
std::optional<EpochTimes> epoch_times(const std::vector<record::Event>& metrics) {
  const auto epochs = analysis::events_of<record::EpochDone>(metrics);
  if (epochs.empty()) return std::nullopt;
  const record::EpochDone &first = *epochs.front(), &last = *epochs.back();
  EpochTimes times{first.time_s / static_cast<double>(first.epoch)};
  times.mean_s = last.epoch == first.epoch
                     ? times.first_s
                     : (last.time_s - first.time_s) / static_cast<double>(last.epoch - first.epoch);
  return times;
}

/// Where the time of an epoch went, as far as a training says it.
std::optional<analysis::TimeParts> parts_of(const record::Results& results, double epoch_s) {
  if (!results.time_split) return std::nullopt;
  const record::TimeSplit& split = *results.time_split;
  analysis::TimeParts parts{split.compute_s, split.exchange_s, split.idle_s,
                            split.update_s,  split.loading_s,  split.other_s};
  const double all = std::accumulate(parts.begin(), parts.end(), 0.0);
  for (double& part : parts) part *= all > 0 ? epoch_s / all : 0;
  return parts;
}

/// The metric at each evaluation behind the first epoch.
struct Course {
  std::vector<double> epochs, time_s, metric;
};
Course course_of(const std::vector<record::Event>& metrics, const std::string& name) {
  Course course;
  for (const auto* evaluated : analysis::events_of<record::Evaluated>(metrics)) {
    const record::NamedNumber* found = analysis::find_named(evaluated->metrics, name);
    const auto epoch = static_cast<double>(evaluated->epoch);
    if (found == nullptr || !std::isfinite(found->value) || epoch == 0) continue;
    if (!course.epochs.empty() && course.epochs.back() == epoch) continue;
    course.epochs.push_back(epoch);
    course.time_s.push_back(evaluated->time_s);
    course.metric.push_back(found->value);
  }
  return course;
}

/// Looks at all members of one way.
class Way {
 public:
  Way(const ScalingRow& planned, const analysis::ScalingWords& words, const ScalingConfig& config)
      : row_(planned), words_(words), config_(config) {}

  void look_at(const Measurement& one) {
    ++row_.members;
    time_.add(one.results.time_s);
    const auto epochs = static_cast<double>(std::max<std::int64_t>(1, one.results.epochs));
    if (const auto times = epoch_times(one.metrics)) {
      epoch_.add(times->mean_s);
      first_.add(times->first_s);
      if (const auto parts = parts_of(one.results, times->mean_s))
        for (std::size_t i = 0; i < parts->size(); ++i) parts_[i].add((*parts)[i]);
    }
    const auto* rate = analysis::find_named(one.results.numbers, "analysis_rate");
    if (rate) rate_.add(rate->value);
    const std::vector<double> rates = column(one, "events_per_second"),
                              times = column(one, "time_s");
    if (!rates.empty())
      rows_.add(std::inner_product(rates.begin(), rates.end(), times.begin(), 0.0) / epochs);
    else if (rate)
      rows_.add(rate->value * one.results.time_s / epochs);
    const auto sum = [&](const char* name) -> Number {
      const std::vector<double> all = column(one, name);
      if (all.empty()) return std::nullopt;
      return std::accumulate(all.begin(), all.end(), 0.0) / epochs;
    };
    messages_.add(sum("messages"));
    if (const Number bytes = sum("bytes")) megabytes_.add(*bytes / bytes_per_megabyte);
    look_at_steps(one.results);
    look_at_course(course_of(one.metrics, words_.metric));
  }

  std::int64_t members() const { return row_.members; }

  ScalingRow row() const {
    ScalingRow row = row_;
    row.time_s = time_.mean();
    row.time_s_deviation = time_.deviation();
    row.events_per_second = rate_.mean();
    row.events_per_second_deviation = rate_.deviation();
    row.epoch_s = epoch_.mean();
    row.epoch_s_deviation = epoch_.deviation();
    row.first_epoch_s = first_.mean();
    row.rows = rows_.mean();
    row.messages = messages_.mean();
    row.megabytes = megabytes_.mean();
    row.metric = metric_.mean();
    row.metric_deviation = metric_.deviation();
    row.target_s = target_s_.mean();
    row.target_epochs = target_epochs_.mean();
    row.at_target = static_cast<std::int64_t>(target_s_.values.size());
    row.step_s = step_.mean();
    row.step_s_spread = spread_.mean();
    row.step_s_maximum = longest_.largest();
    row.memory_MB = memory_.mean();
    row.memory_MB_maximum = largest_.largest();
    if (!parts_.front().values.empty()) {
      row.parts_s.emplace();
      for (std::size_t i = 0; i < parts_.size(); ++i) (*row.parts_s)[i] = *parts_[i].mean();
    }
    add_cost(row);
    return row;
  }

  /// Mean over the members that have been evaluated after the same epochs.
  analysis::MetricCurve curve() const {
    analysis::MetricCurve mean{row_.variant, row_.series.empty()};
    for (std::size_t k = 0; !courses_.empty() && k < courses_.front().epochs.size(); ++k) {
      double time = 0, metric = 0, count = 0;
      for (const Course& course : courses_)
        if (k < course.epochs.size() && course.epochs[k] == courses_.front().epochs[k])
          ++count, time += course.time_s[k], metric += course.metric[k];
      if (count < static_cast<double>(courses_.size())) continue;
      mean.epochs.push_back(courses_.front().epochs[k]);
      mean.time_s.push_back(time / count);
      mean.metric.push_back(metric / count);
    }
    return mean;
  }

 private:
  void look_at_steps(const record::Results& results) {
    if (results.steps) {
      step_.add(results.steps->mean_s);
      spread_.add(results.steps->spread_s);
      longest_.add(results.steps->maximum_s);
    }
    if (!results.memory_mb) return;
    memory_.add(results.memory_mb->mean);
    largest_.add(results.memory_mb->maximum);
  }

  void look_at_course(const Course& course) {
    if (course.metric.empty()) return;
    courses_.push_back(course);
    metric_.add(course.metric.back());
    for (std::size_t k = 0; words_.target && k < course.metric.size(); ++k) {
      const double away = course.metric[k] - *words_.target;
      if (words_.higher_is_better ? away < 0 : away > 0) continue;
      target_s_.add(course.time_s[k]);
      target_epochs_.add(course.epochs[k]);
      return;
    }
  }

  void add_cost(ScalingRow& row) const {
    if (!row.time_s) return;
    const double hours = static_cast<double>(row.ranks) * *row.time_s / seconds_per_hour;
    if (config_.price_per_hour > 0) row.cost = config_.price_per_hour * hours;
    if (config_.power_W > 0) row.energy_Wh = config_.power_W * hours;
  }

  ScalingRow row_;
  const analysis::ScalingWords& words_;
  const ScalingConfig& config_;
  Numbers time_, rate_, epoch_, first_, rows_, messages_, megabytes_, metric_, target_s_,
      target_epochs_, step_, spread_, longest_, memory_, largest_;
  std::array<Numbers, analysis::time_part_names.size()> parts_;
  std::vector<Course> courses_;
};

/// Those of simulated ranks. of_epoch: rows of a learning problem
std::vector<ScalingRow> rows_of(const SimulatedExchanges& simulated, const Number& of_epoch) {
  std::vector<ScalingRow> rows;
  for (const SimulatedWay& way : simulated.plan.ways) {
    const auto* result = simulated.outcome.result(way, Simulation::What::training);
    const auto* alone = simulated.outcome.alone(way);
    if (!way.fused || result == nullptr) continue;
    const auto steps = static_cast<double>(simulated.plan.step.steps(way.ranks));
    ScalingRow row{.variant = text(way.label(), ", ", way.ranks, " ranks"),
                   .series = way.label(),
                   .simulated = true,
                   .ranks = way.ranks};
    row.step_s = result->epoch_s;
    row.epoch_s = steps * result->epoch_s;
    row.rows =
        simulated.plan.step.of_rows ? of_epoch : steps * simulated.plan.step.events(way.ranks);
    const double exchange_s = std::min(alone ? alone->exchange_s : 0, result->exposed_s);
    row.parts_s = {steps * (result->epoch_s - result->exposed_s), steps * exchange_s,
                   steps * (result->exposed_s - exchange_s)};
    rows.push_back(std::move(row));
  }
  return rows;
}

void draw_all(const std::vector<ScalingRow>& rows, const std::vector<analysis::MetricCurve>& curves,
              const ScalingBeside& beside, const analysis::ScalingWords& words,
              Pictures& pictures) {
  const auto any = [&](const auto& has) { return std::any_of(rows.begin(), rows.end(), has); };
  pictures.draw(analysis::speed_up_over_ranks(rows, beside.published), "speed_up");
  pictures.draw(analysis::time_split(rows), "time_split");
  if (any([](const ScalingRow& row) { return row.step_s.has_value(); }))
    pictures.draw(analysis::step_times(rows), "step_times");
  if (!curves.empty()) pictures.draw(analysis::metric_curves(curves, words), "accuracy");
  if (any([](const ScalingRow& row) { return row.series.empty() && row.study.empty(); }))
    pictures.draw(analysis::batch_study(rows, words), "batches");
  if (any([](const ScalingRow& row) { return row.cost || row.energy_Wh; }))
    pictures.draw(analysis::cost_over_ranks(rows), "cost");
}

}  // namespace

analysis::ScalingWords words_of(const run::Job& job) {
  train::EarlyStopConfig watched = job.settings.early_stop;
  watched.metric = scaling_metric(job);
  return {job.problem->unit(), watched.metric, watched.higher_is_better(),
          job.of<ScalingConfig>().target};
}

MembersSeen look_at_members(const run::Job& job, const WaysPlan& plan, const record::Study& study,
                            const std::string& folder, core::Log& log) {
  const ScalingConfig& config = job.of<ScalingConfig>();
  const analysis::ScalingWords words = words_of(job);
  MembersSeen looked;
  for (std::size_t w = 0; w < plan.ways.size(); ++w) {
    Way way(plan.rows[w], words, config);
    for (const record::StudyMember* member : study.done(plan.ways[w].label)) try {
        way.look_at(read_measurement(text(folder, "/", member->folder), plan.ways[w].ranks));
      } catch (const core::Error& error) {  // others may still be compared
        log.warning("left-out", text(member->name, " cannot be looked at: ", error.what()));
      }
    if (way.members() == 0) {
      log.warning("left-out",
                  text(plan.ways[w].label, " is left out: none of its trainings is done"));
      continue;
    }
    looked.rows.push_back(way.row());
    if (analysis::MetricCurve curve = way.curve(); !curve.epochs.empty())
      looked.curves.push_back(std::move(curve));
  }
  return looked;
}

ScalingBeside read_beside(const ScalingConfig& config) {
  ScalingBeside beside;
  for (const std::string& folder : config.beside) {
    const std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
    for (ScalingRow& row : analysis::read_scaling_rows(text(folder, "/", files::scaling.name))) {
      if (!row.study.empty()) continue;  // what it was shown beside
      row.study = path.filename().empty() ? path.parent_path().filename().string()
                                          : path.filename().string();
      beside.others.push_back(std::move(row));
    }
  }
  for (const std::string& name : config.published)
    for (analysis::PublishedScaling& curve : analysis::published_scaling(name))
      beside.published.push_back(std::move(curve));
  return beside;
}

void write_scaling(const run::Job& job, const MembersSeen& seen,
                   const SimulatedExchanges* simulated, const ScalingBeside& beside, StudyEnd& end,
                   core::Log& log) {
  const analysis::ScalingWords words = words_of(job);
  std::vector<ScalingRow> rows = seen.rows;
  if (rows.empty()) return;
  double compute_s = 0;
  if (simulated != nullptr) {
    compute_s =
        simulated->outcome.compute.mean_s * static_cast<double>(simulated->plan.step.steps(1));
    for (ScalingRow& row : rows_of(*simulated, rows.front().rows)) rows.push_back(std::move(row));
  }
  analysis::compare_with_one_rank(rows, compute_s);
  analysis::write_scaling_rows(text(end.folder, "/", files::scaling.name), rows);
  rows.insert(rows.end(), beside.others.begin(), beside.others.end());
  const std::string tables = analysis::scaling_tables(rows, words);
  core::write_file(text(end.folder, "/", files::tables.name), tables);
  end.tables = "\n" + tables;
  Pictures pictures(job, end.folder, log);
  draw_all(rows, seen.curves, beside, words, pictures);
  end.figures = pictures.place();
}

}  // namespace sagips::study

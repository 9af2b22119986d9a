#include "sagips/analysis/report/gallery.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "sagips/analysis/report/html.hpp"
#include "sagips/analysis/report/inline_svg.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis::report {
namespace {

struct Known {
  const char* name;  ///< of the file; "observable_*" and "*_spread" stand for many
  const char* title;
  const char* text;
};
constexpr std::array known{
    Known{"residuals_over_time", "Parameters over time",
          "Where the truth is known: the residual (true − recovered) / true of eq. (6), and the "
          "Cramér-Rao floor, the smallest error that these data allow. Else the value and its fit. "
          "The band is the spread of the proposals over noise vectors; it is no error."},
    Known{
        "losses_over_time", "Losses",
        "Divided by the loss of an even match, so both networks are even at 1. Losses settle long "
        "before the parameters do."},
    Known{"distances_over_time", "Distance to held-out events",
          "Between measured events that were never trained on and synthetic ones."},
    Known{"observable_*", "data against model",
          "Above: measured events and the pipeline at the recovered parameters, scaled to the same "
          "total. Below: their ratio; the band is the model's own statistical error."},
    Known{"densities", "What the parameters stand for",
          "The functions behind the parameters, their band, and the truth where it is known, each "
          "with its ratio below."},
    Known{"deviations", "Recovered against the truth",
          "Deviation of each parameter from the true value in per cent of it, with its error; the "
          "band is the Cramér-Rao floor, the smallest error that these data allow."},
    Known{"error_ellipses", "Errors, pair by pair",
          "Regions that hold both true values with 68.3 and 95.4 %, from the covariance of the "
          "errors; dashed: the truth."},
    Known{"generator_samples", "Proposals of the generator, pair by pair",
          "How they scatter over noise vectors, which is no error; dashed: the truth."},
    Known{"solutions", "Solutions that the data allow",
          "Separate minima within 9 of the smallest chi2, with their errors; dashed: the truth."},
    Known{
        "made_examples", "Real and made examples",
        "Above: rows kept aside; below: what the generator makes for their conditions; all on one "
        "scale. Large images are shown in means."},
    Known{"made_examples_*", "real and made examples",
          "Above: rows kept aside; below: what the generator makes for their conditions; all on "
          "one scale. Large pictures are shown in means."},
    Known{"compared_correlations", "Correlations of real and made examples",
          "Below the diagonal those of rows kept aside, above it those of what the generator makes "
          "for their conditions."},
    Known{"compared_*", "real and made examples",
          "Points: rows kept aside, with statistical errors; curves: what the generator makes for "
          "their conditions. Where there are small panels: made / real."},
    Known{
        "learning_curves", "Learning curves",
        "Of the batches it learns from, with dropout, and of the rows kept aside. The state before "
        "the first epoch is in the table alone."},
    Known{
        "member_curves", "All members",
        "One curve a training. Of learning problems the metrics of the rows kept aside, with their "
        "mean and its band of one standard deviation over members."},
    Known{"confusion", "Confusion matrix",
          "Numbers of rows, or sums of their weights; the colour is the share of the true class."},
    Known{"roc", "ROC curves",
          "Each class against all others, as the threshold falls, with the area under the curve "
          "(AUC); on a logarithmic axis. What is found without a false positive stands at its low "
          "end. Dashed: chance."},
    Known{"residuals", "Residuals",
          "Found minus true value of the rows kept aside, with mean and standard deviation."},
    Known{"predicted_against_true", "Found against true", "Dashed: both are the same."},
    Known{"methods_over_time", "Methods against time",
          "How far each method was from the goal as time went on."},
    Known{"ensemble_size", "Residual and spread against the size of the ensemble",
          "Mean over sub-ensembles drawn from all members; the band is their standard deviation "
          "(figs. 9 and 10 of the SAGIPS paper)."},
    Known{"ensemble_variants", "Residual and spread of each variant",
          "One point a setting of the grid (fig. 8 of the SAGIPS paper)."},
    Known{"search_course", "The search", "The metric of each trial, and the best one so far."},
    Known{"search_importance", "How much each setting matters",
          "How much worse a Gaussian process foretells the rank of trials that it has not seen "
          "when a "
          "setting is exchanged between them: 0 for one that says nothing, 100 % for one that says "
          "all, with standard errors over trials. Of these trials, over these ranges."},
    Known{"search_slices", "The metric against each setting",
          "Every trial; where a setting does not count, it is left out."},
    Known{"search_pairs", "Trials by two settings",
          "Of those that matter most; in colour the best fifth."},
    Known{"closure_pulls", "Pulls over closure experiments",
          "(estimate − truth) / error; the curve is the normal distribution that correct errors "
          "give."},
    Known{"closure_coverage", "Coverage of the 68 % interval",
          "Share of the closure experiments whose interval holds the truth, with its statistical "
          "error."},
    Known{"*_distance", "distance to the truth over training time",
          "Residual and spread of all parameters together, root mean square, in units of their "
          "floors."},
    Known{"*_residuals", "residuals over training time",
          "Of the ensemble of each variant; the band is the spread over members, dashed the floor "
          "(figs. 13 to 15 of the SAGIPS paper)."},
    Known{"*_spread", "spread over members over training time",
          "Standard deviation over the members of each variant (figs. 15 and 16 of the SAGIPS "
          "paper)."},
    Known{"fig11_training_time", "Training time against ranks",
          "Simulated; dashed: the paper's curves as far as it states them, straight lines with its "
          "gains (fig. 11 of the SAGIPS paper). Families of exchanges have panels of their own."},
    Known{
        "fig12_analysis_rate", "Analysis rate against ranks",
        "Synthetic events per second of simulated training, eq. (9), with the ideal gain and lines "
        "that have the paper's gains (fig. 12 of the SAGIPS paper)."},
    Known{"exchange_over_ranks", "What an exchange takes alone",
          "Simulated time of an epoch's exchange, without computation, against ranks."},
    Known{"cost_against_simulated", "Simulated against predicted exchanges",
          "messages * latency + bytes / bandwidth of the rank that sends most, as cost() counts "
          "them, "
          "against the simulation; the band is 20 %."},
    Known{"straggler", "One slow rank",
          "What the others' epoch rates are while a leader or a follower is slow, relative to "
          "undisturbed."},
    Known{
        "residual_over_simulated_time", "A rank's residual against simulated time",
        "Root mean square over ranks and parameters, geometric mean over seeds, at the time of the "
        "median rank."},
    Known{"speed_up", "Speed-up and efficiency",
          "Against one rank of the same machine, of the time of an epoch without the first. Points "
          "on lines are measured, with their deviation over trainings; circles on dashed lines are "
          "simulated; triangles are published by others."},
    Known{"time_split", "Where the time goes",
          "Shares of the time of an epoch, mean over ranks. Simulated ranks compute as long as the "
          "measured one, with its loading and updates."},
    Known{
        "step_times", "Steps against ranks",
        "Without the first epoch. The longest is that of all steps of all trainings. Exchange and "
        "idle are what a rank spends on the others in a step; the rest is its own."},
    Known{"accuracy", "Accuracy against time and against epochs",
          "Mean over the trainings of each way; the grey line is the target."},
    Known{"batches", "Batches of one rank",
          "Relative to the batch of the config, by how the learning rate follows the batch."},
    Known{"cost", "Cost and energy of a training",
          "Price of a rank and power of a rank, as the config states them, times ranks and time."},
    Known{"time_over_ranks", "Training time against ranks", "Fig. 11 of the SAGIPS paper."},
    Known{"rate_over_ranks", "Analysis rate against ranks",
          "Synthetic events per second of training, eq. (9), with the ideal gain (fig. 12 of the "
          "SAGIPS paper)."}};

std::string pretty(const std::string& name) {
  std::string words = name;
  std::replace(words.begin(), words.end(), '_', ' ');
  words = core::trim(words);
  if (!words.empty() && words[0] >= 'a' && words[0] <= 'z')
    words[0] = static_cast<char>(words[0] - 'a' + 'A');
  return words;
}

void copy_files(const std::string& from, const std::string& to) {
  for (const char* ending : {".svg", ".png", ".pdf", ".csv"}) {
    std::error_code problem;
    if (!std::filesystem::exists(from + ending, problem)) continue;
    std::filesystem::copy_file(from + ending, to + ending,
                               std::filesystem::copy_options::overwrite_existing, problem);
    if (problem)
      throw core::StorageError(to + ending, core::text("cannot be written (", problem.message(),
                                                       "). Choose another folder for figures."));
  }
}

std::string absent(const Caption& caption, const std::string& why) {
  return element("p", "class=\"missing\"", escape(core::text(caption.title, ": ", why)));
}

}  // namespace

Gallery::Gallery(std::string folder, const FigureConfig& config)
    : folder_(std::move(folder)), config_(config) {
  std::error_code problem;
  if (!folder_.empty()) std::filesystem::create_directories(folder_, problem);
  if (problem)
    throw core::StorageError(folder_, core::text("cannot make this folder (", problem.message(),
                                                 "). Choose another one for figures."));
}

std::string Gallery::shown(const std::string& name, const std::string& svg,
                           const Caption& caption) {
  const std::string picture =
      inline_svg(svg, core::text("f", ++count_, "-"), caption.title + ". " + caption.text);
  if (picture.empty()) return absent(caption, "the file is no picture of gnuplot's.");
  const std::string words =
      element("strong", "", escape(caption.title + ".")) + escape(caption.text);
  return element(
      "figure", "id=\"figure-" + escape(name) + "\"",
      element("div", "class=\"plot\" tabindex=\"0\"", picture) + element("figcaption", "", words));
}

std::string Gallery::draw(const std::string& name, const Figure& figure, const Caption& caption) {
  std::string problem;
  try {
    if (!folder_.empty()) {
      if (!write_figure(sized(figure, config_), path(name), problem))
        return absent(caption, problem);
      return shown(name, core::read_file(path(name) + ".svg"), caption);
    }
    const auto svg = figure_svg(sized(figure, config_), problem);
    return svg ? shown(name, *svg, caption) : absent(caption, problem);
  } catch (const core::StorageError&) {
    throw;
  } catch (const core::Error& error) {  // one picture never costs a report
    return absent(caption, error.what());
  }
}

std::string Gallery::take(const std::string& name, const std::string& stem,
                          const Caption& caption) {
  try {
    const std::string svg = core::read_file(stem + ".svg");
    if (!folder_.empty()) copy_files(stem, path(name));
    return shown(name, svg, caption);
  } catch (const core::StorageError&) {
    throw;
  } catch (const core::Error& error) {
    return absent(caption, error.what());
  }
}

void Gallery::keep(const std::string& name, const Figure& figure) {
  std::string problem;  // without gnuplot the page says so at its figures
  if (!folder_.empty()) write_figure(sized(figure, config_), path(name), problem);
}

void Gallery::keep(const std::string& name, const std::string& csv) {
  if (!folder_.empty()) core::write_file(path(name) + ".csv", csv);
}

Caption caption_of(const std::string& name) {
  for (const Known& one : known) {
    const std::string pattern = one.name;
    const auto star = pattern.find('*');
    if (star == std::string::npos) {
      if (name == pattern) return {one.title, one.text};
      continue;
    }
    const std::string begin = pattern.substr(0, star), end = pattern.substr(star + 1);
    if (name.size() < begin.size() + end.size() || !name.starts_with(begin) || !name.ends_with(end))
      continue;
    // observables keep their own spelling, names of our own become words
    const std::string rest = name.substr(begin.size(), name.size() - begin.size() - end.size());
    const std::string subject = begin == "observable_" ? rest : pretty(rest);
    return {subject.empty() ? pretty(one.title) : subject + ": " + one.title, one.text};
  }
  if (name.rfind("densities_", 0) == 0) return caption_of("densities");
  return {pretty(name), ""};
}

}  // namespace sagips::analysis::report

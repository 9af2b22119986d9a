#include "sagips/run/figure_writer.hpp"

#include <cctype>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::run {

FigureWriter::FigureWriter(const record::RunDirectory& folder, const analysis::FigureConfig& config,
                           core::Log& log)
    : folder_(folder.folder(record::run_files::figures.name)), config_(config), log_(log) {}

void FigureWriter::operator()(analysis::Figure figure, std::string name) {
  if (missing_) return;
  const std::string called = name;
  for (char& letter : name)  // observables may be called "m/E"
    if (!std::isalnum(static_cast<unsigned char>(letter)) && letter != '-' && letter != '.')
      letter = '_';
  const std::string stem = name;
  for (int number = 2; figures_.try_emplace(name, called).first->second != called; ++number)
    name = core::text(stem, "_", number);
  // a picture takes a processor about a tenth of a second
  while (under_way_.size() >= static_cast<std::size_t>(nn::allowed_processors())) wait_for_oldest();
  auto draw = [this, path = folder_ + "/" + name, figure = std::move(figure)] {
    std::string problem;
    analysis::write_figure(analysis::sized(figure, config_), path, problem);
    return problem;
  };
  under_way_.push_back({name, std::async(std::launch::async, std::move(draw))});
}

void FigureWriter::wait_for_oldest() {
  Drawing oldest = std::move(under_way_.front());
  under_way_.pop_front();
  std::string picture;
  try {
    const std::string problem = oldest.problem.get();
    if (problem.empty()) picture = core::text(folder_, "/", oldest.name, ".png");
    if (!problem.empty() && !missing_) log_.warning("no-figure", "no figures: " + problem);
    missing_ = missing_ || !problem.empty();
  } catch (const core::Error& error) {
    log_.warning("no-figure", core::text("no figure ", oldest.name, ": ", error.what()));
  }
  if (!first_) first_ = picture;
}

std::string FigureWriter::finish() {
  while (!under_way_.empty()) wait_for_oldest();
  return first_.value_or("");
}

}  // namespace sagips::run

#include "sagips/study/study_figure.hpp"

#include <filesystem>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::study {

std::string draw_figure(const analysis::Figure& figure, const analysis::FigureConfig& config,
                        const std::string& folder, const std::string& name, core::Log& log) {
  const std::string figures = core::text(folder, "/", record::run_files::figures.name);
  std::error_code ignored;  // writing says what is wrong
  std::filesystem::create_directories(figures, ignored);
  std::string problem;
  try {
    if (analysis::write_figure(analysis::sized(figure, config), figures + "/" + name, problem))
      return core::text(figures, "/", name, ".png");
  } catch (const core::Error& error) {
    problem = error.what();
  }
  log.warning("no-figure", core::text("no figure ", name, ": ", problem));
  return {};
}

void Pictures::draw(const analysis::Figure& figure, const std::string& name) {
  if (!on_) return;
  on_ = !draw_figure(figure, config_, folder_, name, log_).empty();
  drawn_ = drawn_ || on_;
}

std::string Pictures::place() const {
  return drawn_ ? core::text(folder_, "/", record::run_files::figures.name) : std::string();
}

}  // namespace sagips::study

#include "sagips/run/figure_writer.hpp"

#include <cctype>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::run {

FigureWriter::FigureWriter(const record::RunDirectory& folder, const analysis::FigureConfig& config,
                           core::Log& log)
    : folder_(folder.folder(record::run_files::figures.name)), config_(config), log_(log) {}

std::string FigureWriter::operator()(const analysis::Figure& figure, std::string name) {
  if (missing_) return {};
  const std::string called = name;
  for (char& letter : name)  // observables may be called "m/E"
    if (!std::isalnum(static_cast<unsigned char>(letter)) && letter != '-' && letter != '.')
      letter = '_';
  const std::string stem = name;
  for (int number = 2; figures_.try_emplace(name, called).first->second != called; ++number)
    name = core::text(stem, "_", number);
  std::string problem;
  try {
    if (analysis::write_figure(analysis::sized(figure, config_), folder_ + "/" + name, problem))
      return folder_ + "/" + name + ".png";
  } catch (const core::Error& error) {
    log_.warning(core::text("no figure ", name, ": ", error.what()));
    return {};
  }
  missing_ = true;
  log_.warning("no figures: " + problem);
  return {};
}

}  // namespace sagips::run

#include "sagips/env/outside/outside_events.hpp"

#include <atomic>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::env {

namespace {

using core::ShapeError;
using core::text;

void check_values(const std::string& stage, const torch::Tensor& values, const char* beside) {
  if (values.dim() == 3) return;
  throw ShapeError(stage, text("gives ", beside, " beside values of shape ", values.sizes(),
                               ", expected [samples, events, observables]. One observable needs a "
                               "last dimension of 1, too."));
}

// [samples, rows, ...] -> [samples, events, ...]
torch::Tensor lengthened(const torch::Tensor& rows, std::int64_t events) {
  const std::int64_t missing = events - rows.size(1);
  if (missing == 0) return rows;
  std::vector<std::int64_t> shape = rows.sizes().vec();
  shape[1] = missing;
  return torch::cat({rows, torch::zeros(shape, rows.options())}, 1);
}

void join_mask(OutsideArrays& arrays, const torch::Tensor& exists) {
  const auto given = arrays.find("mask");
  if (given == arrays.end())
    arrays["mask"] = exists;
  else
    given->second = given->second.to(torch::kBool) & exists;
}

void use_counts(const std::string& stage, OutsideArrays& arrays, std::int64_t events) {
  const auto given = arrays.find("counts");
  if (given == arrays.end()) return;
  const torch::Tensor counts = given->second;
  torch::Tensor& values = arrays.at("values");
  check_values(stage, values, "counts");
  const std::int64_t rows = values.size(1);
  if (rows > events)
    throw ShapeError(stage, text("gives ", rows, " rows a sample where ", events,
                                 " events were asked for. Give at most as many."));
  if (counts.dim() != 1 || counts.size(0) != values.size(0) ||
      !((counts >= 0) & (counts <= rows) & (counts == counts.floor())).all().item<bool>())
    throw ShapeError(stage, text("gives counts that are no whole numbers from 0 to ", rows,
                                 ", the rows of its values, one a sample. Count the rows of each "
                                 "sample that exist."));
  const torch::Tensor exists =
      torch::arange(rows, counts.device()).unsqueeze(0) < counts.unsqueeze(1);
  values = torch::where(exists.unsqueeze(2), values, torch::zeros_like(values));
  join_mask(arrays, exists);
  for (const char* name : {"values", "mask", "weights"})
    if (const auto found = arrays.find(name); found != arrays.end())
      found->second = lengthened(found->second, events);
  arrays.erase("counts");
}

std::atomic<std::int64_t> cpu_ns{0};

}  // namespace

CpuTime::CpuTime(const torch::Tensor& events)
    : counts_(!events.is_cpu()), start_(std::chrono::steady_clock::now()) {}
CpuTime::~CpuTime() {
  if (counts_)
    cpu_ns += std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_).count();
}
double CpuTime::total_s() { return static_cast<double>(cpu_ns) * 1e-9; }

void fill_up(const std::string& stage, OutsideArrays& arrays, std::int64_t events,
             bool nan_is_lost) {
  for (const char* name : {"mask", "weights"}) {
    const auto found = arrays.find(name);
    if (found == arrays.end()) continue;
    check_values(stage, arrays.at("values"), name);
    const torch::Tensor& values = arrays.at("values");
    if (found->second.dim() != 2 || found->second.size(0) != values.size(0) ||
        found->second.size(1) != values.size(1))
      throw ShapeError(
          stage, text("gives ", name, " of shape ", found->second.sizes(),
                      " beside values of shape ", values.sizes(), ". Give one number an event."));
    const torch::Tensor& numbers = found->second;
    const bool is_mask = found->first == "mask";
    const torch::Tensor fits = is_mask ? (numbers == 0) | (numbers == 1) : numbers >= 0;
    if (!fits.all().item<bool>())
      throw ShapeError(stage, is_mask
                                  ? "gives a mask with other numbers than 0 and 1. Give 1 where "
                                    "the event exists."
                                  : "gives a weight that is negative or NaN. Weights are at "
                                    "least 0.");
  }
  if (nan_is_lost) {
    torch::Tensor& values = arrays.at("values");
    check_values(stage, values, "rows that may be lost");
    const torch::Tensor exists = torch::isfinite(values).all(2);
    values = torch::where(exists.unsqueeze(2), values, torch::zeros_like(values));
    join_mask(arrays, exists);
  }
  use_counts(stage, arrays, events);
}

Events events_behind(const std::string& stage, Events before, const OutsideArrays& arrays) {
  const torch::Tensor& values = arrays.at("values");
  const auto mask = arrays.find("mask"), weights = arrays.find("weights");
  const auto check_same = [&](const torch::Tensor& earlier, const torch::Tensor& own) {
    if (earlier.sizes() != own.sizes())
      throw ShapeError(stage, text("gives ", own.size(1), " rows a sample behind stages of ",
                                   earlier.size(1), ". Keep the number of rows."));
  };
  if (mask != arrays.end()) {
    const torch::Tensor exists = mask->second.to(values.device(), torch::kBool);
    if (before.mask) check_same(*before.mask, exists);
    before.mask = before.mask ? *before.mask & exists : exists;
  }
  if (weights != arrays.end()) {
    const torch::Tensor own = weights->second.to(values.device(), values.scalar_type());
    if (before.weights) check_same(*before.weights, own);
    before.weights = before.weights ? *before.weights * own : own;
  }
  before.values = values;
  return before;
}

}  // namespace sagips::env

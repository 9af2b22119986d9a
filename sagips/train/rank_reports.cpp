#include "sagips/train/rank_reports.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/data/numbers.hpp"
#include "sagips/train/collectives.hpp"

namespace sagips::train {

namespace {

torch::Tensor part_of(const std::vector<std::byte>& report, std::size_t first,
                      const torch::Tensor& like) {
  return torch::from_blob(const_cast<std::byte*>(report.data() + first), like.sizes());
}

}  // namespace

std::vector<record::NamedNumber> RankView::numbers(
    const std::vector<std::string>& parameters) const {
  std::vector<record::NamedNumber> numbers{{"consensus_distance", consensus_distance}};
  for (std::size_t i = 0; i < parameters.size(); ++i)
    numbers.push_back({"rank_spread " + parameters[i], rank_spread[i]});
  numbers.push_back({"ranks_heard", static_cast<double>(heard)});
  numbers.push_back({"oldest_report_epochs", static_cast<double>(oldest_epochs)});
  return numbers;
}

RankReports::RankReports(comm::Ranks& ranks, bool waits)
    : ranks_(ranks),
      waits_(waits),
      latest_(ranks.is_first() ? static_cast<std::size_t>(ranks.size()) : 0),
      outbox_(ranks, comm::ControlTag::report,
              [this](std::size_t rank, comm::Outbox::Message report) {
                latest_[rank] = std::move(report);
              }) {}

void RankReports::send(const torch::Tensor& predictions, const torch::Tensor& weights,
                       std::int64_t epoch, bool last) {
  // else rank 0 has not taken the one before
  if (waits_ || last || outbox_.is_empty())
    outbox_.send({epoch, last, bytes_of({predictions, weights})});
  if (last || waits_)  // nothing may be under way when this object goes
    outbox_.wait_until_empty("for a report");
}

RankView RankReports::meet(const torch::Tensor& predictions, const torch::Tensor& weights,
                           std::int64_t epoch) {
  if (!ranks_.is_first()) send(predictions, weights, epoch, false);
  for (std::size_t rank = 1; rank < latest_.size(); ++rank)
    if (waits_)
      outbox_.wait_for(rank, "with a report");
    else
      outbox_.take(rank);
  return view(predictions, weights, epoch);
}

RankView RankReports::close(const torch::Tensor& predictions, const torch::Tensor& weights,
                            std::int64_t epoch) {
  if (!ranks_.is_first()) send(predictions, weights, epoch, true);
  for (std::size_t rank = 1; rank < latest_.size(); ++rank)
    while (!latest_[rank].is_last) outbox_.wait_for(rank, "with its last report");
  return view(predictions, weights, epoch);
}

RankView RankReports::view(const torch::Tensor& predictions, const torch::Tensor& weights,
                           std::int64_t epoch) const {
  RankView view;
  std::vector<torch::Tensor> of_ranks{predictions.to(torch::kFloat64)};
  // distances to rank 0 first: sum |w_r - mean|^2 = sum |d_r|^2 - p |mean d|^2, d_r = w_r - w_0
  torch::Tensor sum = torch::zeros_like(weights, torch::kFloat64);
  double squares = 0;
  for (const comm::Outbox::Message& report : latest_) {
    if (report.content.empty()) continue;
    of_ranks.push_back(part_of(report.content, 0, predictions).to(torch::kFloat64));
    const torch::Tensor distance =
        part_of(report.content, predictions.nbytes(), weights).to(torch::kFloat64) -
        weights.to(torch::kFloat64);
    sum += distance;
    squares += distance.square().sum().item<double>();
    view.oldest_epochs = std::max(view.oldest_epochs, epoch - report.number);
  }
  view.heard = static_cast<int>(of_ranks.size());
  const double ranks = view.heard;
  view.consensus_distance =
      std::max(0.0, squares / ranks - (sum / ranks).square().sum().item<double>());
  const torch::Tensor all = torch::stack(of_ranks);
  view.predictions = all.mean(0).to(torch::kFloat32);
  view.rank_spread = data::numbers_of(all.std(0, false).mean(0));
  return view;
}

}  // namespace sagips::train

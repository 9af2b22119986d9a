#include "sagips/train/rank_reports.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/core/text.hpp"

namespace sagips::train {

namespace {

const int tag = comm::tag_of(comm::ControlTag::report);

// A report: epoch (two floats hold 48 bits), whether it is the last one, predictions, weights.
constexpr std::size_t header = 3;
constexpr std::int64_t half = std::int64_t{1} << 24;

std::int64_t epoch_of(const std::vector<float>& report) {
  return static_cast<std::int64_t>(report[0]) * half + static_cast<std::int64_t>(report[1]);
}

torch::Tensor part_of(const std::vector<float>& report, std::size_t first,
                      const torch::Tensor& like) {
  return torch::from_blob(const_cast<float*>(report.data() + first), like.sizes());
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

void RankReports::send(const torch::Tensor& predictions, const torch::Tensor& weights,
                       std::int64_t epoch, bool last) {
  if (!waits_ && !last && !sent_.ready()) return;  // rank 0 has not taken the one before
  ranks_.timeout().wait(sent_, {.partners = {0}, .what = "for a report", .however_long = true});
  const std::int64_t halves = epoch / half;
  outgoing_ = {static_cast<float>(halves), static_cast<float>(epoch % half), last ? 1.0F : 0.0F};
  for (const torch::Tensor& tensor : {predictions.contiguous(), weights.contiguous()})
    outgoing_.insert(outgoing_.end(), tensor.data_ptr<float>(),
                     tensor.data_ptr<float>() + tensor.numel());
  sent_ = ranks_.communicator().send(0, tag, comm::as_message(std::span(outgoing_)));
  if (last || waits_)  // nothing may be under way when this object goes
    ranks_.timeout().wait(sent_, {.partners = {0}, .what = "for a report", .however_long = true});
}

void RankReports::receive(std::size_t rank) {
  Incoming& from = incoming_[rank];
  from.values.resize(length_);
  from.request = ranks_.communicator().receive(static_cast<int>(rank), tag,
                                               comm::as_message(std::span(from.values)));
}

void RankReports::wait_for(std::size_t rank, const char* what) {
  ranks_.timeout().wait(incoming_[rank].request,
                        {.partners = {static_cast<int>(rank)}, .what = what, .however_long = true});
}

void RankReports::take(std::size_t rank) {
  Incoming& from = incoming_[rank];
  if (from.over || !from.request.ready()) return;
  from.latest.swap(from.values);
  from.over = from.latest[2] != 0;
  if (!from.over) receive(rank);
}

RankView RankReports::meet(const torch::Tensor& predictions, const torch::Tensor& weights,
                           std::int64_t epoch) {
  if (!ranks_.is_first()) send(predictions, weights, epoch, false);
  if (incoming_.empty() && ranks_.is_first()) {
    length_ = header + static_cast<std::size_t>(predictions.numel() + weights.numel());
    incoming_.resize(static_cast<std::size_t>(ranks_.size()));
    for (std::size_t rank = 1; rank < incoming_.size(); ++rank) receive(rank);
  }
  for (std::size_t rank = 1; rank < incoming_.size(); ++rank) {
    if (waits_) wait_for(rank, "with a report");
    take(rank);
  }
  return view(predictions, weights, epoch);
}

RankView RankReports::close(const torch::Tensor& predictions, const torch::Tensor& weights,
                            std::int64_t epoch) {
  if (!ranks_.is_first()) send(predictions, weights, epoch, true);
  for (std::size_t rank = 1; rank < incoming_.size(); ++rank)
    while (!incoming_[rank].over) {
      wait_for(rank, "with its last report");
      take(rank);
    }
  return view(predictions, weights, epoch);
}

RankView RankReports::view(const torch::Tensor& predictions, const torch::Tensor& weights,
                           std::int64_t epoch) const {
  RankView view;
  std::vector<torch::Tensor> of_ranks{predictions.to(torch::kFloat64)};
  // distances to rank 0 first: sum |w_r - mean|^2 = sum |d_r|^2 - p |mean d|^2, d_r = w_r - w_0
  torch::Tensor sum = torch::zeros_like(weights, torch::kFloat64);
  double squares = 0;
  for (const Incoming& from : incoming_) {
    if (from.latest.empty()) continue;
    of_ranks.push_back(part_of(from.latest, header, predictions).to(torch::kFloat64));
    const torch::Tensor distance =
        part_of(from.latest, header + static_cast<std::size_t>(predictions.numel()), weights)
            .to(torch::kFloat64) -
        weights.to(torch::kFloat64);
    sum += distance;
    squares += distance.square().sum().item<double>();
    view.oldest_epochs = std::max(view.oldest_epochs, epoch - epoch_of(from.latest));
  }
  view.heard = static_cast<int>(of_ranks.size());
  const double ranks = view.heard;
  view.consensus_distance =
      std::max(0.0, squares / ranks - (sum / ranks).square().sum().item<double>());
  const torch::Tensor all = torch::stack(of_ranks);
  view.predictions = all.mean(0).to(torch::kFloat32);
  const torch::Tensor spread = all.std(0, false).mean(0).contiguous();
  view.rank_spread.assign(spread.data_ptr<double>(), spread.data_ptr<double>() + spread.numel());
  return view;
}

}  // namespace sagips::train

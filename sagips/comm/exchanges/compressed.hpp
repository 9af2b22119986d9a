#pragma once
#include "sagips/comm/arithmetic.hpp"
#include "sagips/comm/group.hpp"
#include "sagips/core/config/config.hpp"

namespace sagips::comm {

/// The mean of what ranks send with fewer bytes, the same bits on all of them.
///
/// Halves: each rank sends each other one a piece of its array, rounded to 16 bits; who gets a piece of all adds
/// them up in float32, in the order of ranks, and sends the mean to all, rounded again. So a number is rounded
/// twice however many ranks there are. top_k: each rank sends all others its largest numbers with their places.
/// With error feedback a rank keeps what rounding and leaving out has cost, and adds it to its next array.
///
/// cost:    2 (n - 1) messages, 2 (n - 1) / n * 2 * shared bytes; top_k: n - 1 messages of 8 * share *
///          shared bytes
/// source:  Seide et al., Interspeech 2014 (what rounding leaves is added next time); Karimireddy et al.,
///          ICML 2019, arXiv 1901.09847 (error feedback converges); Tang et al., ICML 2021, arXiv
///          2102.02888 (halves: two roundings, both fed back); Aji, Heafield, EMNLP 2017, arXiv 1704.05021,
///          and Lin et al., ICLR 2018, arXiv 1712.01887 (top_k)
class Compressed final : public Exchange {
 public:
  enum class Form { float16, bfloat16, top_k };
  struct Config {
    Form form = Form::float16;
    double share = 0.01;
    bool error_feedback = true;
    void fields(core::FieldList& list);
  };
  Compressed(const Config& config, const Site& site, std::vector<int> ranks);

  Task gradients(ReplicaView replica, Step step) override;
  Cost cost(std::size_t floats, Step step) const override;
  Promise promise() const override { return {.exact = true, .waits = true, .rounds = true}; }
  std::vector<int> partners(Step) const override { return group_.ranks(); }
  std::string description() const override;
  void state(StateList& list) override;

 private:
  struct Entry {
    std::uint32_t place;
    float value;
  };
  bool is_alone() const { return group_.index() < 0 || group_.size() == 1; }
  HalfFormat format() const;
  std::size_t kept_of(std::size_t floats) const;
  Task mean_of_halves(std::span<float> values);
  void add_up_own_piece(std::span<float> values);
  Task mean_of_largest(std::span<float> values);
  void choose_largest(std::span<const float> values);

  Config config_;
  Group group_;                        ///< two tags: pieces on their way to be added up, and means
  std::vector<float> unsent_;          ///< what this rank has not sent yet; empty: it is forgotten
  std::vector<std::uint16_t> own_;     ///< of the whole array
  std::vector<std::uint16_t> pieces_;  ///< of all ranks, of the piece that this one adds up
  std::vector<float> wide_;
  std::vector<std::uint32_t> places_;
  std::vector<Entry> entries_;  ///< [ranks][kept]
};

}  // namespace sagips::comm

#include "workloads/jets/jet_forms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace sagips::workloads {

namespace {

constexpr std::size_t most_in_sums = 50;

// Between -pi and pi.
double turned(double phi) { return std::remainder(phi, 2 * std::numbers::pi); }

/// A jet as a whole.
struct Axis {
  double px = 0, py = 0, pz = 0, energy = 0;

  explicit Axis(const std::vector<Particle>& jet) {
    for (const Particle& each : jet) {
      px += each.pt * std::cos(each.phi), py += each.pt * std::sin(each.phi);
      pz += each.pt * std::sinh(each.eta), energy += each.pt * std::cosh(each.eta);
    }
  }
  double pt() const { return std::hypot(px, py); }
  double eta() const { return std::asinh(pz / pt()); }
  double phi() const { return std::atan2(py, px); }
  double mass() const {
    return std::sqrt(std::max(0.0, energy * energy - px * px - py * py - pz * pz));
  }
  double momentum() const { return std::hypot(px, py, pz); }
};

/// Cosine and sine of the direction in which transverse momenta scatter most.
std::array<double, 2> widest_direction(const std::vector<Particle>& jet, const Axis& axis) {
  double ee = 0, pp = 0, ep = 0;
  for (const Particle& each : jet) {
    const double eta = each.eta - axis.eta(), phi = turned(each.phi - axis.phi());
    ee += each.pt * eta * eta, pp += each.pt * phi * phi, ep += each.pt * eta * phi;
  }
  const double angle = std::atan2(2 * ep, ee - pp) / 2;
  return {std::cos(angle), std::sin(angle)};
}

/// Sums over pairs and triples of a jet's particles, by a power of their angles.
struct EnergySums {
  double pairs = 0, triples = 0;                          ///< e2, e3
  double least_of_triples = 0, least_two_of_triples = 0;  ///< 1e3, 2e3
};

EnergySums energy_sums(const std::vector<Particle>& jet, double beta) {
  const std::size_t count = std::min(jet.size(), most_in_sums);
  double all = 0;
  for (const Particle& each : jet) all += each.pt;
  std::vector<double> angles(count * count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < i; ++j)
      angles[i * count + j] =
          std::pow(std::hypot(jet[i].eta - jet[j].eta, turned(jet[i].phi - jet[j].phi)), beta);
  EnergySums sums;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const double both = jet[i].pt * jet[j].pt / (all * all), ij = angles[i * count + j];
      sums.pairs += both * ij;
      for (std::size_t k = 0; k < j; ++k) {
        const double three = both * jet[k].pt / all, ik = angles[i * count + k],
                     jk = angles[j * count + k];
        const double least = std::min({ij, ik, jk}), most = std::max({ij, ik, jk});
        sums.triples += three * ij * ik * jk;
        sums.least_of_triples += three * least;
        if (most > 0) sums.least_two_of_triples += three * (ij * ik * jk / most);
      }
    }
  return sums;
}

double ratio(double above, double below) { return below > 0 ? above / below : 0; }

}  // namespace

void write_particles(const std::vector<Particle>& jet, std::span<float> numbers) {
  std::fill(numbers.begin(), numbers.end(), 0.0F);
  const Axis axis(jet);
  const auto [cosine, sine] = widest_direction(jet, axis);
  const std::size_t most = numbers.size() / particle_numbers;
  for (std::size_t i = 0; i < std::min(most, jet.size()); ++i) {
    const Particle& each = jet[i];
    const double px = each.pt * std::cos(each.phi), py = each.pt * std::sin(each.phi),
                 pz = each.pt * std::sinh(each.eta), energy = each.pt * std::cosh(each.eta);
    const double eta = each.eta - axis.eta(), phi = turned(each.phi - axis.phi());
    const std::array<double, particle_numbers> row = {
        px / momentum_unit_GeV,
        py / momentum_unit_GeV,
        pz / momentum_unit_GeV,
        energy / momentum_unit_GeV,
        energy / axis.energy,
        each.pt / momentum_unit_GeV,
        each.pt / axis.pt(),
        each.eta,
        eta,
        cosine * eta + sine * phi,
        turned(each.phi),
        phi,
        cosine * phi - sine * eta,
        std::hypot(eta, phi),
        pz / energy,
        (px * axis.px + py * axis.py + pz * axis.pz) / (energy * axis.momentum())};
    std::copy(row.begin(), row.end(),
              numbers.begin() + static_cast<std::ptrdiff_t>(i * row.size()));
  }
}

void write_image(const std::vector<Particle>& jet, std::span<float> pixels) {
  constexpr double half_width = 0.8;
  std::fill(pixels.begin(), pixels.end(), 0.0F);
  const Axis axis(jet);
  const auto place = [](double from_axis) {
    return static_cast<std::int64_t>(
        std::floor((from_axis + half_width) / (2 * half_width) * static_cast<double>(image_side)));
  };
  for (const Particle& each : jet) {
    const std::int64_t row = place(each.eta - axis.eta()),
                       column = place(turned(each.phi - axis.phi()));
    if (std::min(row, column) < 0 || std::max(row, column) >= image_side) continue;
    pixels[static_cast<std::size_t>(row * image_side + column)] +=
        static_cast<float>(each.pt / momentum_unit_GeV);
  }
}

void write_numbers(const std::vector<Particle>& jet, std::span<float> numbers) {
  double all = 0, entropy = 0, squares = 0;  // of shares of the momentum
  for (const Particle& each : jet) all += each.pt;
  for (const Particle& each : jet) {
    const double share = each.pt / all;
    entropy -= share * std::log(share), squares += share * share;
  }
  const EnergySums counts = energy_sums(jet, 0), one = energy_sums(jet, 1),
                   two = energy_sums(jet, 2);
  const auto c2 = [](const EnergySums& s) { return ratio(s.triples, s.pairs * s.pairs); };
  const auto d2 = [](const EnergySums& s) { return ratio(s.triples, std::pow(s.pairs, 3)); };
  const auto m2 = [](const EnergySums& s) { return ratio(s.least_of_triples, s.pairs); };
  const auto n2 = [](const EnergySums& s) {
    return ratio(s.least_two_of_triples, s.pairs * s.pairs);
  };
  const std::array<double, jet_numbers> row = {entropy,
                                               counts.pairs,
                                               one.pairs,
                                               two.pairs,
                                               c2(one),
                                               c2(two),
                                               d2(one),
                                               d2(two),
                                               std::sqrt(squares),
                                               ratio(one.triples, std::pow(two.pairs, 1.5)),
                                               m2(one),
                                               m2(two),
                                               n2(one),
                                               n2(two),
                                               Axis(jet).mass() / momentum_unit_GeV,
                                               static_cast<double>(jet.size()) / 100};
  std::copy(row.begin(), row.end(), numbers.begin());
}

}  // namespace sagips::workloads

#include "workloads/jets/toy_jets.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sagips/core/error.hpp"
#include "sagips/core/random_numbers.hpp"
#include "sagips/core/text.hpp"

namespace sagips::workloads {

using core::RandomNumbers;

namespace {

constexpr double radius = 0.8, colour_of_quarks = 4.0 / 3, colour_of_gluons = 3;
constexpr double w_mass = 80.4, w_width = 2.1, z_mass = 91.2, z_width = 2.5, top_mass = 172.6,
                 top_width = 1.4;
constexpr double hadrons_a_decade = 2, hadron_kt_GeV = 0.3, least_hadron_GeV = 0.3;

struct Parton {
  Particle at;
  double colour;
  double widest;  ///< angle of what it radiates
};

// A particle moved by an angle in a direction around it.
Particle moved(const Particle& from, double pt, double angle, double around) {
  return {pt, from.eta + angle * std::cos(around), from.phi + angle * std::sin(around)};
}

// Breit and Wigner, cut at 10 widths.
double mass_of(double mean, double width, RandomNumbers& numbers) {
  const double edge = std::atan(20.0);
  return mean + width / 2 * std::tan(numbers.between(-edge, edge));
}

class Jet {
 public:
  Jet(const ToyJets& toy, RandomNumbers& numbers) : toy_(toy), numbers_(numbers) {}

  std::vector<Particle> particles(Origin origin) {
    const Particle axis{numbers_.between(toy_.lowest_pt_GeV, toy_.highest_pt_GeV),
                        numbers_.between(-1, 1),
                        numbers_.between(-std::numbers::pi, std::numbers::pi)};
    begin(origin, axis);
    for (const Parton& prong : prongs_) radiate(prong);
    std::erase_if(hadrons_, [&](const Particle& hadron) {
      return hadron.pt < least_hadron_GeV ||
             std::hypot(hadron.eta - axis.eta, hadron.phi - axis.phi) > radius;
    });
    std::sort(hadrons_.begin(), hadrons_.end(),
              [](const Particle& a, const Particle& b) { return a.pt > b.pt; });
    return std::move(hadrons_);
  }

 private:
  double around() { return numbers_.between(0, 2 * std::numbers::pi); }

  void begin(Origin origin, const Particle& axis) {
    switch (origin) {
      case Origin::gluon:
        return prongs_.push_back({axis, colour_of_gluons, radius});
      case Origin::quark:
        return prongs_.push_back({axis, colour_of_quarks, radius});
      case Origin::w:
        return to_quarks(axis, mass_of(w_mass, w_width, numbers_));
      case Origin::z:
        return to_quarks(axis, mass_of(z_mass, z_width, numbers_));
      case Origin::top:
        return to_w_and_bottom(axis);
    }
  }

  // Two massless prongs: mass^2 = z (1 - z) pt^2 angle^2. They radiate within their angle, as one colourless source.
  void to_quarks(const Particle& from, double mass) {
    const double z = numbers_.between(0, 1), kt = std::sqrt(z * (1 - z)) * mass;
    apart(from, z, kt, colour_of_quarks, colour_of_quarks);
  }
  void to_w_and_bottom(const Particle& from) {
    const double top = mass_of(top_mass, top_width, numbers_),
                 w = mass_of(w_mass, w_width, numbers_);
    const double least = w * w / (top * top), z = numbers_.between(least, 1),
                 kt = std::sqrt((1 - z) * (z * top * top - w * w));
    apart(from, z, kt, 0, colour_of_quarks);
    const Particle decays = prongs_.front().at;
    prongs_.erase(prongs_.begin());
    to_quarks(decays, w);
  }
  void apart(const Particle& from, double z, double kt, double first_colour, double second_colour) {
    const double direction = around(), first = kt / (z * from.pt),
                 second = kt / ((1 - z) * from.pt), widest = std::min(first + second, radius);
    prongs_.push_back({moved(from, z * from.pt, first, direction), first_colour, widest});
    prongs_.push_back({moved(from, (1 - z) * from.pt, second, direction + std::numbers::pi),
                       second_colour, widest});
  }

  // Emissions are even in ln(1 / angle) and ln(kt), between the least kt and all of the momentum.
  void radiate(Parton parton) {
    const double side = std::log(parton.at.pt * parton.widest / toy_.least_kt_GeV);
    if (side > 0) {
      const double mean =
          2 * toy_.strong_coupling * parton.colour / std::numbers::pi * side * side / 2;
      std::vector<std::pair<double, double>> emissions;  // angle, share of the momentum
      for (std::int64_t i = numbers_.poisson(mean); i > 0; --i) {
        const double part = std::sqrt(numbers_.between(0, 1)), angle = side * (1 - part),
                     above = side * part * numbers_.between(0, 1);
        const double ratio = std::exp(above - side * part);  // kt over its largest at that angle
        emissions.emplace_back(parton.widest * std::exp(-angle), ratio / (1 + ratio));
      }
      std::sort(emissions.rbegin(), emissions.rend());
      for (const auto& [angle, z] : emissions) {
        const double direction = around(), pt = parton.at.pt;
        radiate({moved(parton.at, z * pt, (1 - z) * angle, direction), colour_of_gluons, angle});
        parton.at = moved(parton.at, (1 - z) * pt, z * angle, direction + std::numbers::pi);
      }
    }
    to_hadrons(parton.at);
  }

  void to_hadrons(const Particle& parton) {
    const std::int64_t count =
        1 + numbers_.poisson(hadrons_a_decade * std::log10(1 + parton.pt / least_hadron_GeV));
    std::vector<double> cuts = {0, 1};
    for (std::int64_t i = 1; i < count; ++i) cuts.push_back(numbers_.between(0, 1));
    std::sort(cuts.begin(), cuts.end());
    for (std::size_t i = 1; i < cuts.size(); ++i) {
      const double pt = (cuts[i] - cuts[i - 1]) * parton.pt;
      const double angle =
          std::min(radius, hadron_kt_GeV * std::sqrt(-2 * std::log(numbers_.between(0, 1))) / pt);
      hadrons_.push_back(moved(parton, pt, angle, around()));
    }
  }

  const ToyJets& toy_;
  RandomNumbers& numbers_;
  std::vector<Parton> prongs_;
  std::vector<Particle> hadrons_;
};

}  // namespace

void ToyJets::fields(core::FieldList& list) {
  list.add("lowest_pt_GeV", lowest_pt_GeV, "drawn jets: evenly from this transverse momentum",
           core::Range::between(200, 1e5));
  list.add("highest_pt_GeV", highest_pt_GeV, "to this", core::Range::between(200, 1e5));
  list.add("strong_coupling", strong_coupling, "of drawn jets: how much they radiate",
           core::Range::between(0, 1));
  list.add("least_kt_GeV", least_kt_GeV, "transverse momentum that a radiated gluon has at least",
           core::Range::between(0.1, 100));
}

void ToyJets::check(const std::string& group) const {
  if (lowest_pt_GeV > highest_pt_GeV)
    throw core::ConfigError(
        group + ".lowest_pt_GeV",
        core::text("is ", lowest_pt_GeV, ", above highest_pt_GeV=", highest_pt_GeV, ". Lower it."));
}

std::vector<Particle> ToyJets::make(Origin origin, const core::RandomStream& random,
                                    std::int64_t number) const {
  RandomNumbers numbers(random, number);
  return Jet(*this, numbers).particles(origin);
}

}  // namespace sagips::workloads

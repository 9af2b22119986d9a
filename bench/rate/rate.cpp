#include "bench/rate/rate.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <new>
#include <thread>

namespace sagips::bench {

namespace {

constexpr double seconds_a_shape = 0.03;
constexpr double flop_between_looks =
    2e7;  // about 0.1 ms, so that looking at the clock costs nothing
constexpr std::size_t cache_line = 64;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// flop/s of one thread
double rate(const Product& product) {
  const int between_looks = std::max(1, static_cast<int>(flop_between_looks / product.flop));
  const double start = now();
  double end = start;
  long calls = 0;
  while (end - start < seconds_a_shape) {
    for (int i = 0; i < between_looks; ++i) product.multiply();
    calls += between_looks;
    end = now();
  }
  return product.flop * static_cast<double>(calls) / (end - start);
}

// Threads that all multiply the same shape at the same time, and sleep between turns.
class Workers {
 public:
  Workers(int threads, const MakeProducts& make_products)
      : rates_(threads), gate_(threads + 1), together_(threads) {
    for (int i = 0; i < threads; ++i)
      threads_.emplace_back([this, i, &make_products] { work(i, make_products); });
    gate_.arrive_and_wait();  // products are made, shapes_ can be read
  }

  ~Workers() {
    leaving_ = true;
    gate_.arrive_and_wait();
    for (std::thread& thread : threads_) thread.join();
  }

  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  const std::vector<std::string>& shapes() const { return shapes_; }

  /// GFLOP/s by shape
  std::vector<double> turn() {
    gate_.arrive_and_wait();
    gate_.arrive_and_wait();
    std::vector<double> sums(shapes_.size());
    for (const std::vector<double>& of_thread : rates_)
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += of_thread[k] / 1e9;
    return sums;
  }

 private:
  void work(int thread, const MakeProducts& make_products) {
    const Arrays arrays;
    const std::vector<Product> products = make_products(arrays);
    if (thread == 0)
      for (const Product& product : products) shapes_.push_back(product.shape);
    rates_[thread].resize(products.size());
    gate_.arrive_and_wait();
    for (;;) {
      gate_.arrive_and_wait();
      if (leaving_) return;
      for (std::size_t k = 0; k < products.size(); ++k) {
        products[k].multiply();  // brings the arrays into the cache
        together_.arrive_and_wait();
        rates_[thread][k] = rate(products[k]);
      }
      gate_.arrive_and_wait();
    }
  }

  std::vector<std::vector<double>> rates_;  // flop/s by thread and shape
  std::vector<std::string> shapes_;
  std::barrier<> gate_, together_;
  bool leaving_ = false;
  std::vector<std::thread> threads_;
};

double resident_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmRSS:", 0) == 0) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  return 0;
}

void print_turn(const std::vector<std::string>& shapes, const std::vector<double>& rates) {
  std::printf("{\"gflops\": {");
  for (std::size_t k = 0; k < rates.size(); ++k)
    std::printf("%s\"%s\": %.2f", k == 0 ? "" : ", ", shapes[k].c_str(), rates[k]);
  std::printf("}, \"best\": %.2f}\n", *std::max_element(rates.begin(), rates.end()));
  std::fflush(stdout);
}

int threads_wanted(int argc, char** argv) {
  if (argc == 1) return 1;
  const int threads = argc == 3 && std::string(argv[1]) == "--threads" ? std::atoi(argv[2]) : 0;
  if (threads < 1) std::fprintf(stderr, "usage: %s [--threads N]\n", argv[0]);
  return threads;
}

}  // namespace

void Arrays::Free::operator()(float* floats) const { std::free(floats); }

Arrays::Floats Arrays::allocate(std::size_t count) {
  const std::size_t bytes = count * sizeof(float);
  auto* floats = static_cast<float*>(std::aligned_alloc(cache_line, bytes));
  if (floats == nullptr) throw std::bad_alloc();
  // any numbers of both signs, so that sums stay small
  for (std::size_t i = 0; i < count; ++i)
    floats[i] = static_cast<float>((i * 7919) % 1000) / 1000.0F - 0.4995F;
  return Floats(floats);
}

Arrays::Arrays()
    : left_(allocate(std::size_t{large_size} * large_size)),
      right_(allocate(std::size_t{large_size} * large_size)),
      result_(allocate(std::size_t{large_size} * large_size)),
      gradient_(allocate(std::size_t{layer_width} * layer_width)) {}

double large_flop() { return 2.0 * large_size * large_size * large_size; }
double layer_flop(int rows) { return 2.0 * rows * layer_width * layer_width; }
std::string forward_shape(int rows) { return "forward " + std::to_string(rows); }
std::string weight_gradient_shape(int rows) { return "weight gradient " + std::to_string(rows); }

std::vector<Product> all_products(const Arrays& arrays, Multiply multiply) {
  float *left = arrays.left(), *right = arrays.right(), *result = arrays.result(),
        *gradient = arrays.gradient();
  std::vector<Product> all = {
      {"2048^3", large_flop(),
       [=] { multiply(false, large_size, large_size, large_size, left, right, 0, result); }}};
  for (const int rows : tile_rows) {
    all.push_back({forward_shape(rows), layer_flop(rows), [=] {
                     multiply(false, rows, layer_width, layer_width, left, right, 0, result);
                   }});
    all.push_back({weight_gradient_shape(rows), layer_flop(rows), [=] {
                     multiply(true, layer_width, layer_width, rows, left, right, 1, gradient);
                   }});
  }
  return all;
}

int rate_program(const std::string& library, const MakeProducts& make_products, int argc,
                 char** argv) {
  const int threads = threads_wanted(argc, argv);
  if (threads < 1) return 2;
  Workers workers(threads, make_products);
  workers.turn();
  std::printf("ready {\"name\": \"%s\", \"threads\": %d, \"resident_mb\": %.1f}\n", library.c_str(),
              threads, resident_mb());
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);)
    if (line.rfind("go", 0) == 0) print_turn(workers.shapes(), workers.turn());
  return 0;
}

}  // namespace sagips::bench

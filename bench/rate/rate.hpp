#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// How fast a library multiplies float32 matrices, measured alone: what an epoch is compared with.
namespace sagips::bench {

constexpr int layer_width = 128;
constexpr int large_size = 2048;
constexpr int tile_rows[] = {32, 64, 128, 256, 512, 1024, 3200, 6400};

/// One product of one library, as often as one likes.
struct Product {
  std::string shape;
  double flop;
  std::function<void()> multiply;
};

/// Arrays of one thread. Every shape begins at their first numbers, so that a small tile stays in
/// the cache as it would in training.
class Arrays {
 public:
  Arrays();

  float* left() const { return left_.get(); }
  float* right() const { return right_.get(); }
  float* result() const { return result_.get(); }
  /// 128 x 128, where weight gradients add up
  float* gradient() const { return gradient_.get(); }

 private:
  struct Free {
    void operator()(float* floats) const;
  };
  using Floats = std::unique_ptr<float[], Free>;
  static Floats allocate(std::size_t count);

  Floats left_, right_, result_, gradient_;
};

double large_flop();
/// of [rows, 128] x [128, 128] and of [128, rows] x [rows, 128]
double layer_flop(int rows);
/// "forward 256": outputs, and input gradients with a weight kept transposed
std::string forward_shape(int rows);
std::string weight_gradient_shape(int rows);

/// c = a b + beta c, or a^T b where `transposed`; row-major without gaps.
/// shape: a [m, k] (transposed: [k, m]), b [k, n], c [m, n]
using Multiply = void (*)(bool transposed, int m, int n, int k, const float* a, const float* b,
                          float beta, float* c);
/// 2048^3, and both products of a layer for each number of rows.
std::vector<Product> all_products(const Arrays& arrays, Multiply multiply);

/// Called by each thread for itself: tells the library to use one thread, gives all its products.
using MakeProducts = std::function<std::vector<Product>(const Arrays&)>;

/// The program: options, then the protocol of bench/README.md ("ready", one line for each "go").
///
/// `--threads N`: N threads multiply at once, each its own matrices, 2048^3 included; rates add up.
int rate_program(const std::string& library, const MakeProducts& make_products, int argc,
                 char** argv);

}  // namespace sagips::bench

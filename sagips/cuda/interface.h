#pragma once
#include <stdint.h>

/// SAGIPS' own passes on a GPU, as a C interface: libsagips_cuda is opened at run time, so that one
/// program serves machines with and without a GPU.
///
/// Pointers are to the device's memory unless said otherwise. Each call puts its work on `stream` (a
/// cudaStream_t) and returns at once: 0, or a cudaError_t. None allocates or waits, so that all may be
/// captured in a graph; what changes from one replay to the next (step, learning rate) is therefore
/// read from the device's memory.
// NOLINTBEGIN(modernize-use-using): it is C
#ifdef __cplusplus
extern "C" {
#endif

#define SAGIPS_CUDA_INTERFACE 3

/// The interface that the library was built with. Another number than SAGIPS_CUDA_INTERFACE: refuse it.
int sagips_cuda_interface(void);
/// A line about an error number that one of the calls returned.
const char* sagips_cuda_error(int error);

// ---- random numbers: those of core::RandomStream, bit by bit

/// A stream of core::RandomStream; its step is *step + step_offset.
typedef struct {
  uint32_t key[2];
  const uint32_t* step;  ///< a counter on the device; null: 0
  uint32_t step_offset;
} sagips_cuda_stream_name;

/// Uniform numbers in (0, 1) times `factor`, rounded once more.
/// shape: out [samples, dimensions, events], of samples first_sample, ..., dimensions first_dimension, ...
int sagips_cuda_uniform(sagips_cuda_stream_name name, uint32_t first_sample, int64_t samples,
                        uint32_t first_dimension, int64_t dimensions, int64_t events, float factor,
                        float* out, void* stream);
/// Rows drawn with replacement: row number e of RandomStream::integers(first_sample + s, dimension, rows)
/// of `table`, e from first_event on.
/// shape: table [rows, columns] -> out [samples, events, columns]
int sagips_cuda_draw_rows(sagips_cuda_stream_name name, uint32_t first_sample, int64_t samples,
                          uint32_t dimension, uint32_t first_event, int64_t events,
                          const float* table, int64_t rows, int64_t columns, float* out,
                          void* stream);

// ---- inverse-CDF sampler: kernels::draw_positions and kernels::pull_back_positions

typedef struct {
  double last, step;  ///< of the grid: position of its last point, distance of points
  int64_t points;     ///< 3 to 4096
  int trapezoid;      ///< 0: masses are the densities at left ends
} sagips_cuda_grid;
typedef struct {
  int64_t samples, observables, events;
} sagips_cuda_draws;
/// What the way back needs. shape: cells, shares, slopes [samples, observables, events]; masses
/// [samples, observables]
typedef struct {
  int32_t* cells;
  float *shares, *slopes;
  double* masses;
} sagips_cuda_trace;

/// shape: densities [samples, observables, points], uniform [samples, observables, events] -> positions
/// [samples, events, observables]. trace: members null when nobody asks for the way back
int sagips_cuda_draw_positions(sagips_cuda_grid grid, sagips_cuda_draws shape,
                               const float* densities, const float* uniform, float* positions,
                               sagips_cuda_trace trace, void* stream);
/// shape: gradient_positions [samples, events, observables] -> gradient_densities [samples, observables,
/// points], overwritten. The order of additions is fixed: a second call gives the same bits.
int sagips_cuda_pull_back_positions(sagips_cuda_grid grid, sagips_cuda_draws shape,
                                    sagips_cuda_trace trace, const float* uniform,
                                    const float* gradient_positions, float* gradient_densities,
                                    void* stream);

// ---- update rules over flat arrays, as optim::UpdateRule's (LibTorch's fused Adam; RMSprop)

/// Values of a rule that a run may change, on the device.
typedef struct {
  float rate;      ///< of this step
  uint32_t steps;  ///< steps made before this one; the call adds 1 if it moved the weights
  /// On the device: becomes 1 when a gradient is not finite; weights of all who share it stay until it is 0 again.
  uint32_t* not_finite;
} sagips_cuda_update;
int sagips_cuda_adam(float* weights, const float* gradients, float* mean, float* square,
                     int64_t count, double beta1, double beta2, double epsilon,
                     sagips_cuda_update* update, void* stream);
int sagips_cuda_rmsprop(float* weights, const float* gradients, float* square, int64_t count,
                        double decay, double epsilon, sagips_cuda_update* update, void* stream);

// ---- fused dense passes: kernels::MlpPasses

/// A chain of dense layers with LeakyReLU between them: 1 to 8 inputs, 1 to 4 hidden layers of up to 128,
/// 1 to 8 outputs.
typedef struct {
  int32_t inputs, outputs, hidden_layers;
  int32_t widths[4];
  float slope;  ///< of LeakyReLU below 0, 0 to 1
  /// Where the weight [outputs, inputs] and bias [outputs] of each layer start in an array of all weights.
  int32_t weight_at[5], bias_at[5];
} sagips_cuda_dense;

enum {
  SAGIPS_CUDA_FLOAT32 = 0,
  SAGIPS_CUDA_TF32 = 1,
  SAGIPS_CUDA_BFLOAT16 = 2
};  ///< FLOAT32: 3xTF32

/// d loss / d output of a row: what the CPU's passes ask a callback for. z: the output.
typedef struct {
  int kind;  ///< one of those below
  float label, factor;
  const float* given;  ///< [rows, outputs]
} sagips_cuda_slopes;
enum {
  SAGIPS_CUDA_GIVEN = 0,
  SAGIPS_CUDA_ONE = 1,            ///< 1: gradients of the output itself
  SAGIPS_CUDA_LEAST_SQUARES = 2,  ///< of factor (sigmoid(z) - label)^2
  SAGIPS_CUDA_CROSS_ENTROPY =
      3,                  ///< of factor times the binary cross-entropy of sigmoid(z) and label
  SAGIPS_CUDA_LINEAR = 4  ///< factor itself
};

/// Bytes of `packed` and of `work` for passes over so many rows (up to 2^30); 0 for a shape that the passes
/// do not take. Both start at multiples of 16 bytes.
int64_t sagips_cuda_dense_packed_bytes(sagips_cuda_dense shape, int precision);
int64_t sagips_cuda_dense_work_bytes(sagips_cuda_dense shape, int precision, int64_t rows);
/// Takes the weights that the following passes use.
int sagips_cuda_dense_pack(sagips_cuda_dense shape, int precision, const float* weights,
                           void* packed, void* stream);
/// shape: input [rows, inputs] -> output [rows, outputs], input_gradient [rows, inputs] (the output's
/// slopes by the input times d loss / d output; null: nobody asks)
/// weight_gradients: as the weights; the gradients are added to them; null: nobody asks. The order of
/// additions is fixed: a second call gives the same bits.
/// work: for weight gradients alone; null where nobody asks for them
int sagips_cuda_dense_passes(sagips_cuda_dense shape, int precision, const void* packed,
                             const float* input, int64_t rows, sagips_cuda_slopes slopes,
                             float* output, float* input_gradient, float* weight_gradients,
                             void* work, void* stream);
/// Outputs alone.
int sagips_cuda_dense_outputs(sagips_cuda_dense shape, int precision, const void* packed,
                              const float* input, int64_t rows, float* output, void* stream);

// ---- 3D convolutions of few channels, products rounded to tf32

/// A convolution with stride 1 and zeros around its input, then LeakyReLU. Images have their channels
/// last: input [samples, size, inputs], output [samples, size + before + after - kernel + 1, outputs];
/// up to 16 channels, kernels of up to 8 and zeros of up to 8 along each side.
typedef struct {
  int64_t samples;
  int32_t inputs, outputs;
  int32_t size[3], kernel[3];
  int32_t before[3], after[3];  ///< zeros
  float slope;                  ///< of LeakyReLU below 0, 0 to 1; 1: none
} sagips_cuda_conv3d;

/// Bytes of `work` for each of the calls below; 0 for a shape that they do not take. `work` and images
/// start at multiples of 16 bytes. What is in `work` need not stay from one call to the next.
int64_t sagips_cuda_conv3d_work_bytes(sagips_cuda_conv3d shape);
/// shape: weight [outputs, inputs, kernel], bias [outputs] (null: none)
int sagips_cuda_conv3d_outputs(sagips_cuda_conv3d shape, const float* input, const float* weight,
                               const float* bias, float* output, void* work, void* stream);
/// output_gradient: d loss / d output; output: what the call above gave (slope 1: not read)
/// input_gradient: overwritten
int sagips_cuda_conv3d_input_gradient(sagips_cuda_conv3d shape, const float* weight,
                                      const float* output, const float* output_gradient,
                                      float* input_gradient, void* work, void* stream);
/// weight_gradient, bias_gradient (null: nobody asks): the gradients are added to them. The order of
/// additions is fixed: a second call gives the same bits.
int sagips_cuda_conv3d_weight_gradient(sagips_cuda_conv3d shape, const float* input,
                                       const float* output, const float* output_gradient,
                                       float* weight_gradient, float* bias_gradient, void* work,
                                       void* stream);

// ---- fused pair passes: what all particles of an event tell each other

/// Messages of a network of pairs: sum over senders j != i of f(i, j), where f's first layer is
/// activation(a_i + b_j) and dense layers follow, each with the activation behind it.
typedef struct {
  int64_t events;
  int32_t particles;   ///< on an H100 up to some 800, or 280 where all layers are wider than 32
  int32_t layers;      ///< 1 to 3, the first included
  int32_t widths[3];   ///< 1 to 64
  int32_t activation;  ///< one of those below
  float slope;         ///< LeakyReLU's below 0, ELU's alpha; not negative
} sagips_cuda_pairs;
enum { SAGIPS_CUDA_LEAKY_RELU = 0, SAGIPS_CUDA_ELU = 1, SAGIPS_CUDA_SELU = 2 };

/// Bytes of `work`, which starts at a multiple of 16 bytes; 0 for a shape that the passes do not take.
/// precision: SAGIPS_CUDA_FLOAT32 or SAGIPS_CUDA_TF32
int64_t sagips_cuda_pairs_work_bytes(sagips_cuda_pairs shape, int precision);
/// shape: halves [events, particles, 2, widths[0]] (a, then b), present [events, particles] -> messages
/// [events, particles, width of the last layer]
/// present: 0 for a particle that neither sends nor receives, whatever its numbers; null: all are present
/// weights: of each layer but the first weight [outputs, inputs] and bias [outputs], in order, without gaps
int sagips_cuda_pairs_forward(sagips_cuda_pairs shape, int precision, const float* halves,
                              const uint8_t* present, const float* weights, float* messages,
                              void* stream);
/// slopes: d loss / d messages
/// shape: slopes as messages -> halves_gradient as halves, overwritten; weight_gradients as weights, added to
/// The order of additions is fixed: a second call gives the same bits.
int sagips_cuda_pairs_backward(sagips_cuda_pairs shape, int precision, const float* halves,
                               const uint8_t* present, const float* weights, const float* slopes,
                               float* halves_gradient, float* weight_gradients, void* work,
                               void* stream);

// ---- graphs: what is put on LibTorch's stream between begin and end, by LibTorch or by a call above, runs at each
// replay and not before. Answers: 0, or 1 and a line in graph_error.

/// beside: a graph that is there, whose memory it shares: neither runs while the other does, and what one leaves for
/// the other is held by a tensor while both are made. null: it has memory of its own
int sagips_cuda_graph_begin(void** graph, const void* beside);
int sagips_cuda_graph_end(void* graph);
int sagips_cuda_graph_replay(void* graph);
void sagips_cuda_graph_free(void* graph);
const char* sagips_cuda_graph_error(void);

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-use-using)

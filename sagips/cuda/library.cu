// What the library says about itself.
#include "sagips/cuda/device.cuh"
#include "sagips/cuda/interface.h"

int sagips_cuda_interface(void) { return SAGIPS_CUDA_INTERFACE; }

const char* sagips_cuda_error(int error) { return sagips::cuda::error_text(error); }

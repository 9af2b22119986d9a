#pragma once

// What the code uses of LibTorch: tensors, operations, gradients. <torch/torch.h> adds its layers,
// optimizers and data loaders, whose templates every source that includes it would instantiate anew
// (2.5 s more, precompiled or not).

#include <torch/autograd.h>
#include <torch/types.h>
#include <torch/utils.h>

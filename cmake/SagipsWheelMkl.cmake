# SAGIPS_WHEEL_MKL: LibTorch's wheel carries MKL and exports what sagips/kernels/products_mkl.cpp declares.
set(SAGIPS_WHEEL_MKL FALSE)
if(TARGET SlimTorch::libraries)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES SlimTorch::libraries)
  check_cxx_source_compiles("
    extern \"C\" {
    void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*,
                const float*, const int*, const float*, float*, const int*);
    int MKL_Set_Num_Threads_Local(int);
    }
    int main() {
      sgemm_(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
      return MKL_Set_Num_Threads_Local(1);
    }" SAGIPS_HAS_WHEEL_MKL)
  unset(CMAKE_REQUIRED_LIBRARIES)
  set(SAGIPS_WHEEL_MKL ${SAGIPS_HAS_WHEEL_MKL})
endif()

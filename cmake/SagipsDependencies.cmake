# sagips_find(PACKAGE DEBIAN-PACKAGE [arguments of find_package])
#   find_package that says, when it fails, which Debian package holds what is missing.
macro(sagips_find package debian_package)
  find_package(${package} QUIET ${ARGN})
  if(NOT ${package}_FOUND)
    list(APPEND SAGIPS_MISSING "${package} (Debian: ${debian_package})")
  endif()
endmacro()

set(SAGIPS_MISSING)
find_package(Threads REQUIRED)
sagips_find(yaml-cpp libyaml-cpp-dev)
sagips_find(nlohmann_json nlohmann-json3-dev)
sagips_find(spdlog libspdlog-dev)
sagips_find(Random123 librandom123-dev)
if(NOT SAGIPS_COMM_ONLY)
  sagips_find(CLI11 libcli11-dev)
  sagips_find(NLopt "libnlopt-dev libnlopt-cxx-dev")
  sagips_find(HDF5 libhdf5-dev COMPONENTS C)
  sagips_find(ZLIB zlib1g-dev)
endif()
if(SAGIPS_BUILD_TESTS)
  sagips_find(GTest libgtest-dev)
endif()

include(SagipsOptional)
# Only the C interface is used; another library is chosen with -DMPI_C_COMPILER=mpicc.mpich.
set(MPI_FOUND FALSE)
if(NOT SAGIPS_MPI STREQUAL "OFF")
  sagips_find_optional(MPI COMPONENTS C TARGETS MPI::MPI_C
    DEBIAN "libopenmpi-dev openmpi-bin" WITHOUT "there is no training on several ranks")
  if(SAGIPS_MPI STREQUAL "ON" AND NOT MPI_FOUND)
    list(APPEND SAGIPS_MISSING "MPI (Debian: libopenmpi-dev openmpi-bin)")
  endif()
endif()
set(SAGIPS_MPI_FOUND ${MPI_FOUND})
if(SAGIPS_MISSING)
  list(JOIN SAGIPS_MISSING "\n    " _missing)
  message(FATAL_ERROR "SAGIPS cannot be built without:\n    ${_missing}\n"
    "tools/setup.sh installs them. Copies outside the system's folders are found through CMAKE_PREFIX_PATH.")
endif()
if(NOT SAGIPS_COMM_ONLY)
  find_package(SlimTorch REQUIRED)
endif()

sagips_find_optional(Libxsmm TARGETS Libxsmm::Libxsmm Libxsmm::NoBlas
  DEBIAN libxsmm-dev WITHOUT "matrix products come from LibTorch's MKL or plain loops")
include(SagipsWheelMkl)
if(NOT SAGIPS_COMM_ONLY)
  sagips_find_optional(pagmo TARGETS Pagmo::pagmo
    DEBIAN libpagmo-dev WITHOUT "there is no evolutionary search")
endif()
sagips_find_optional(SimGrid TARGETS SimGrid::SimGrid
  DEBIAN libsimgrid-dev WITHOUT "there are no simulated clusters")
if(SAGIPS_BUILD_BENCHMARKS)
  sagips_find_optional(OpenMP COMPONENTS CXX TARGETS OpenMP::OpenMP_CXX
    DEBIAN g++ WITHOUT "the rate of oneDNN is not measured")
  sagips_find_optional(OneDnn TARGETS OneDnn::OneDnn
    DEBIAN libdnnl-dev WITHOUT "its rate is not measured")
endif()

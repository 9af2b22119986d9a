# libxsmm brings static libraries and no package file. Gives: Libxsmm::Libxsmm, Libxsmm::NoBlas.
#
# libxsmm refers to a BLAS it would fall back to; the code it generates needs none. Where nobody gives one, NoBlas does:
# empty functions of the same names, hidden, because a shared library (LibTorch) would otherwise find those first.
find_path(LIBXSMM_INCLUDE_DIR libxsmm.h)
find_library(LIBXSMM_LIBRARY xsmm)
find_library(LIBXSMM_NOBLAS_LIBRARY xsmmnoblas)
mark_as_advanced(LIBXSMM_INCLUDE_DIR LIBXSMM_LIBRARY LIBXSMM_NOBLAS_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libxsmm REQUIRED_VARS LIBXSMM_LIBRARY LIBXSMM_NOBLAS_LIBRARY LIBXSMM_INCLUDE_DIR)
if(Libxsmm_FOUND AND NOT TARGET Libxsmm::Libxsmm)
  find_package(Threads REQUIRED)
  add_library(Libxsmm::Libxsmm INTERFACE IMPORTED)
  target_include_directories(Libxsmm::Libxsmm SYSTEM INTERFACE "${LIBXSMM_INCLUDE_DIR}")
  target_link_libraries(Libxsmm::Libxsmm INTERFACE "${LIBXSMM_LIBRARY}" Threads::Threads ${CMAKE_DL_LIBS} m)
  add_library(Libxsmm::NoBlas INTERFACE IMPORTED)
  target_link_libraries(Libxsmm::NoBlas INTERFACE "${LIBXSMM_NOBLAS_LIBRARY}")
  get_filename_component(_archive "${LIBXSMM_NOBLAS_LIBRARY}" NAME)
  target_link_options(Libxsmm::NoBlas INTERFACE "LINKER:--exclude-libs,${_archive}")
endif()

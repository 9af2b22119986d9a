# oneDNN by header and library: its own files for CMake demand OpenCL's headers where Debian built it with OpenCL, and
# what is used here needs none. Gives OneDnn::OneDnn.
find_path(OneDnn_INCLUDE_DIR dnnl.hpp)
find_library(OneDnn_LIBRARY dnnl)
mark_as_advanced(OneDnn_INCLUDE_DIR OneDnn_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OneDnn REQUIRED_VARS OneDnn_LIBRARY OneDnn_INCLUDE_DIR)
if(OneDnn_FOUND AND NOT TARGET OneDnn::OneDnn)
  add_library(OneDnn::OneDnn INTERFACE IMPORTED)
  target_include_directories(OneDnn::OneDnn SYSTEM INTERFACE "${OneDnn_INCLUDE_DIR}")
  target_link_libraries(OneDnn::OneDnn INTERFACE "${OneDnn_LIBRARY}")
endif()

# Install rules: headers, libraries, the program, configs, find_package(sagips), and LibTorch where it would be lost.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A LibTorch inside the checkout dies with the checkout, so an installed copy takes it along; the user's own stays
# where it is. The copy keeps the wheels' two neighbouring folders: the libraries find each other by $ORIGIN.
set(SAGIPS_TORCH_COPY_DIR "${CMAKE_INSTALL_LIBDIR}/sagips/libtorch")
string(FIND "${SAGIPS_TORCH_ROOT}/" "${PROJECT_SOURCE_DIR}/" _place)
if(_place EQUAL 0)
  set(SAGIPS_COPY_TORCH ON)
  file(RELATIVE_PATH _up "/${CMAKE_INSTALL_BINDIR}" "/${SAGIPS_TORCH_COPY_DIR}/torch/lib")
  set(CMAKE_INSTALL_RPATH "$ORIGIN/${_up}")
else()
  set(SAGIPS_COPY_TORCH OFF)
  set(CMAKE_INSTALL_RPATH "${SAGIPS_TORCH_ROOT}/lib")
endif()

function(sagips_install)
  get_property(layers GLOBAL PROPERTY SAGIPS_LAYERS)
  list(TRANSFORM layers PREPEND sagips_ OUTPUT_VARIABLE targets)
  install(TARGETS ${targets} EXPORT sagipsTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  sagips_install_headers()
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/workloads/" DESTINATION "${CMAKE_INSTALL_DATADIR}/sagips/workloads"
    FILES_MATCHING PATTERN "*.yaml" PATTERN "README.md")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/sagips/simulate/platforms/"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/sagips/platforms" FILES_MATCHING PATTERN "*.yaml")
  install(FILES "${PROJECT_SOURCE_DIR}/share/sagips_serve.py" DESTINATION "${CMAKE_INSTALL_DATADIR}/sagips")
  foreach(program sagips sagips-simulator sagips-simulator-train)
    if(TARGET ${program})
      install(TARGETS ${program} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
    endif()
  endforeach()
  sagips_install_package("${layers}")
  if(SAGIPS_COPY_TORCH)
    sagips_install_torch()
  endif()
endfunction()

# All headers but those that show an outside library: they are their layer's own (tools/check_layers.py sees to that).
function(sagips_install_headers)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/sagips/*.hpp")
  foreach(header IN LISTS headers)
    file(STRINGS "${header}" private LIMIT_COUNT 1 REGEX "#include <(yaml-cpp|nlohmann|spdlog|fmt|Random123|nlopt|hdf5|zlib)")
    if(NOT private)
      get_filename_component(folder "${header}" DIRECTORY)
      install(FILES "${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}")
    endif()
  endforeach()
endfunction()

function(sagips_install_package layers)
  set(SAGIPS_LAYERS "${layers}")
  set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/sagips")
  if(SAGIPS_COPY_TORCH)
    set(SAGIPS_INSTALLED_TORCH "${SAGIPS_TORCH_COPY_DIR}/torch")
  else()
    set(SAGIPS_INSTALLED_TORCH "${SAGIPS_TORCH_ROOT}")
  endif()
  install(EXPORT sagipsTargets NAMESPACE sagips:: DESTINATION "${package_dir}")
  configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/sagipsConfig.cmake.in" "${PROJECT_BINARY_DIR}/sagipsConfig.cmake"
    INSTALL_DESTINATION "${package_dir}" PATH_VARS SAGIPS_INSTALLED_TORCH)
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/sagipsConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
  install(FILES
    "${PROJECT_BINARY_DIR}/sagipsConfig.cmake" "${PROJECT_BINARY_DIR}/sagipsConfigVersion.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/SagipsPlugin.cmake" "${PROJECT_BINARY_DIR}/generated/sagips_plugin_build.h"
    "${PROJECT_SOURCE_DIR}/cmake/SlimTorchTarget.cmake" "${PROJECT_SOURCE_DIR}/cmake/FindRandom123.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/FindLibxsmm.cmake"
    DESTINATION "${package_dir}")
endfunction()

# Which libraries are taken along is asked of the libraries themselves, when installing.
function(sagips_install_torch)
  install(DIRECTORY "${SAGIPS_TORCH_ROOT}/include/" DESTINATION "${SAGIPS_TORCH_COPY_DIR}/torch/include")
  install(CODE "
    set(SAGIPS_TORCH_ROOT \"${SAGIPS_TORCH_ROOT}\")
    set(SAGIPS_TORCH_COPY_DIR \"${SAGIPS_TORCH_COPY_DIR}\")
    include(\"${PROJECT_SOURCE_DIR}/cmake/InstallTorch.cmake\")")
endfunction()

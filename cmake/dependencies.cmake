# SPDX-License-Identifier: Apache-2.0
# Every library the project uses. Debian packages, but for Halide, which comes with the venv.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(SQLite3 REQUIRED)
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
find_package(benchmark REQUIRED)

# SQLiteCpp's package names targets that its own Find module would have made.
if(NOT TARGET SQLite::SQLite3)
  add_library(SQLite::SQLite3 ALIAS SQLite3::SQLite3)
endif()

# Debian's libxxhash-dev has no CMake package.
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_library(XXHASH_LIBRARY xxhash REQUIRED)
if(NOT TARGET xxhash::xxhash)
  add_library(xxhash::xxhash UNKNOWN IMPORTED)
  set_target_properties(xxhash::xxhash PROPERTIES
    IMPORTED_LOCATION "${XXHASH_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${XXHASH_INCLUDE_DIR}")
endif()

# Halide is a Python wheel: look into the repository's venv, then beside the cmake that runs (itself
# such a wheel). The folder below halide/ is lib or lib64, so it is searched for.
if(NOT EXISTS "${Halide_DIR}/HalideConfig.cmake")
  file(GLOB candidates
    "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/halide/lib*/cmake/Halide"
    "${CMAKE_ROOT}/../../../../halide/lib*/cmake/Halide")
  if(candidates)
    list(GET candidates 0 found)
    file(REAL_PATH "${found}" found)
    set(Halide_DIR "${found}" CACHE PATH "Folder of HalideConfig.cmake" FORCE)
  else()
    message(FATAL_ERROR "Halide 21 not found: run scripts/setup, or pass -DHalide_DIR=<folder of HalideConfig.cmake>")
  endif()
endif()
set(CMAKE_DISABLE_FIND_PACKAGE_Python ON)  # Halide's Python binding is not used
find_package(Halide 21 CONFIG REQUIRED QUIET COMPONENTS Halide shared)

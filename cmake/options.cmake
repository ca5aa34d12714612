# SPDX-License-Identifier: Apache-2.0
# Language level, warnings and sanitizers, carried by the interface target tilewright_options.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)  # clang-tidy reads it
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or Sanitize" FORCE)
endif()

# -O2 compiles about a quarter faster than -O3, and no hot loop of the tool itself gains from more:
# the kernels are compiled by Halide. No -march: the tool runs on any x86-64.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all")
set(CMAKE_C_FLAGS_SANITIZE "${CMAKE_CXX_FLAGS_SANITIZE}")
# Imported targets of the distribution know only the configuration "None".
set(CMAKE_MAP_IMPORTED_CONFIG_SANITIZE None Release "")

add_library(tilewright_options INTERFACE)
target_include_directories(tilewright_options INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(tilewright_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 reports overlaps inside std::string operator+ that do not exist (GCC bug 105651).
  target_compile_options(tilewright_options INTERFACE -Wno-restrict)
endif()

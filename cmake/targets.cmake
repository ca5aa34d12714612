# SPDX-License-Identifier: Apache-2.0
# Libraries and programs of the project, with the project's options.

# All that a user runs: every tilewright_program, no tests.
add_custom_target(product)

# tilewright_library(<name> SOURCES <files>... [LINKS <targets>...] [PRIVATE_LINKS <targets>...])
# A static library tilewright_<name>, alias tilewright::<name>. Without sources it becomes an
# interface library, so that a folder can start empty.
function(tilewright_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS;PRIVATE_LINKS")
  set(target tilewright_${name})
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    target_link_libraries(${target} PUBLIC tilewright_options ${arg_LINKS} PRIVATE ${arg_PRIVATE_LINKS})
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE tilewright_options ${arg_LINKS})
  endif()
  add_library(tilewright::${name} ALIAS ${target})
endfunction()

# tilewright_program(<target> FOLDER <folder below the build tree, may be "."> SOURCES <files>...
#                    [LINKS <targets>...])
# An executable; nothing is made while the list of sources is empty.
function(tilewright_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER" "SOURCES;LINKS")
  if(NOT arg_SOURCES)
    return()
  endif()
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE tilewright_options ${arg_LINKS})
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${arg_FOLDER}")
  add_dependencies(product ${target})
endfunction()

# tilewright_link_folder(<source folder> <path below the build tree>)
# A symbolic link, relative where the build tree lies inside the repository.
function(tilewright_link_folder source destination)
  set(link "${PROJECT_BINARY_DIR}/${destination}")
  get_filename_component(parent "${link}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  set(to "${source}")
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${PROJECT_BINARY_DIR}" NORMALIZE inside)
  if(inside)
    file(RELATIVE_PATH to "${parent}" "${source}")
  endif()
  file(CREATE_LINK "${to}" "${link}" SYMBOLIC)
endfunction()

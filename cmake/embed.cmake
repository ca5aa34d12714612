# SPDX-License-Identifier: Apache-2.0
# tilewright_embed(TARGET <target> SYMBOL <name> FILE <file>)
#
# Adds to <target> a generated source that defines the text of <file> as
#   extern const std::string_view <name>;   in namespace tilewright::embedded
# Declare it where it is used: namespace tilewright::embedded { extern const std::string_view <name>; }

function(tilewright_embed)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;SYMBOL;FILE" "")
  cmake_path(ABSOLUTE_PATH arg_FILE BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE input)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded_${arg_SYMBOL}.cc")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" -D "INPUT=${input}" -D "OUTPUT=${output}" -D "SYMBOL=${arg_SYMBOL}"
            -P "${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake"
    DEPENDS "${input}" "${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake"
    COMMENT "Embedding ${arg_FILE}"
    VERBATIM)
  target_sources(${arg_TARGET} PRIVATE "${output}")
endfunction()

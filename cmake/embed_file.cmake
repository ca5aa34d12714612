# SPDX-License-Identifier: Apache-2.0
# Run by tilewright_embed: writes INPUT's text as a C++ definition of SYMBOL to OUTPUT.
# Bytes are written as numbers: any content survives, and no literal exceeds a compiler's limit.

file(READ "${INPUT}" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
string(REGEX REPLACE "(('\\\\x..',)('\\\\x..',)?('\\\\x..',)?('\\\\x..',)?('\\\\x..',)?('\\\\x..',)?('\\\\x..',)?('\\\\x..',)?)" "\\1\n    " bytes "${bytes}")
get_filename_component(name "${INPUT}" NAME)
file(WRITE "${OUTPUT}" "// Generated from ${name}; do not edit.
#include <string_view>

namespace tilewright::embedded {
namespace {
constexpr char bytes[] = {
    ${bytes}'\\0'};
}  // namespace

extern const std::string_view ${SYMBOL};
const std::string_view ${SYMBOL}{bytes, sizeof(bytes) - 1};
}  // namespace tilewright::embedded
")

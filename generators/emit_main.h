// SPDX-License-Identifier: Apache-2.0
// Command line of the emitters, one program per operator.
#pragma once

#include <string_view>

#include "generators/emit.h"

namespace tilewright {

struct Emitter {
  std::string_view program;        // tilewright-emit-OP
  std::string_view operator_name;  // the only one that its workloads may have
  KernelBuilder build = nullptr;
};

// Exit code: 0 ok (one JSON object on stdout), 1 failed, 2 usage (one line on stderr).
int emit_main(int argc, char** argv, const Emitter& emitter);

}  // namespace tilewright

// SPDX-License-Identifier: Apache-2.0
// Ctrl-C (and SIGTERM) as a flag that loops ask. The first one asks for an orderly end: children
// are stopped, what was found is stored; the second ends the process at once. A signal handler
// needs one global flag: it lives here only.
#pragma once

namespace tilewright {

void catch_interrupts();
bool interrupted();

}  // namespace tilewright

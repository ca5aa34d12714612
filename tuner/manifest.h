// SPDX-License-Identifier: Apache-2.0
// The manifest of a generated kernel: NAME.json beside NAME.a, NAME.h and NAME.so. File names are
// relative to it.
#pragma once

#include <map>
#include <string>

#include "schedules/records.h"
#include "schedules/result.h"
#include "tuner/json.h"

namespace tilewright {

struct Manifest {
  std::string name;      // also the C function's
  std::string workload;  // canonical key
  std::string schedule;  // canonical text
  std::string kind;      // of device: host (production kernel) or npu (functional twin)
  std::string device_name, device_hash;
  std::string target;  // Halide target, resolved
  std::string halide_version, generator_version, tool_version;
  bool unscheduled = false;
  std::string library, header, shared, runtime;  // file names
  std::string link;  // the command that made `shared`, run in the folder
  std::map<std::string, std::string> artefacts;  // file name -> XXH3-128
  std::string folder;                            // where it lies; not part of the file

  KernelRecord record() const;
};

Json to_json(const Manifest& manifest);
// `path`: the manifest, or one of the files it names, or NAME in the folder `out`.
Result<Manifest> read_manifest(const std::string& path);
// Empty if all artefacts are there with the stored digests, else what is wrong with the first that
// is not.
std::string damage(const std::string& folder, const std::map<std::string, std::string>& artefacts);

}  // namespace tilewright

// SPDX-License-Identifier: Apache-2.0
#include "generators/harness_inputs.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "generators/npy.h"

namespace tilewright {
namespace {

Result<Array> make_array(const Workload& workload, const ArrayShape& shape,
                         const InputSource& source) {
  if (!source.npy.empty()) return read_npy(source.npy, dtype_of(workload), shape.extents);
  return make_input(workload, shape, source.signal, source.seed);
}

}  // namespace

std::vector<ArrayView> GuardedInputs::views() const {
  std::vector<ArrayView> result;
  for (std::size_t i = 0; i < buffers.size(); ++i)
    result.push_back({dtype, shapes[i].extents, buffers[i].data()});
  return result;
}

std::vector<KernelArgument> GuardedInputs::arguments() const {
  std::vector<KernelArgument> result;
  for (std::size_t i = 0; i < buffers.size(); ++i)
    result.push_back({dtype, shapes[i].extents, buffers[i].data()});
  return result;
}

Result<GuardedInputs> make_guarded_inputs(const Workload& workload,
                                          const std::map<std::string, InputSource>& sources) {
  GuardedInputs inputs{dtype_of(workload), input_shapes(workload), {}};
  for (const ArrayShape& shape : inputs.shapes) {
    const auto array = make_array(workload, shape, sources.at(shape.name));
    if (!array) return pass_error(array);
    auto buffer = GuardedBuffer::make(shape.name, array->storage.size());
    if (!buffer) return pass_error(buffer);
    std::memcpy(buffer->data(), array->storage.data(), array->storage.size());
    buffer->make_read_only();
    inputs.buffers.push_back(*std::move(buffer));
  }
  return inputs;
}

bool all_integers(const std::map<std::string, InputSource>& sources) {
  return std::all_of(sources.begin(), sources.end(), [](const auto& entry) {
    const InputSource& source = entry.second;
    return source.npy.empty() &&
           (source.signal == SignalClass::integers || source.signal == SignalClass::zeros);
  });
}

std::map<std::string, InputSource> as_integers(std::map<std::string, InputSource> sources) {
  for (auto& [name, source] : sources) {
    source.npy.clear();
    source.signal = SignalClass::integers;
  }
  return sources;
}

}  // namespace tilewright

// SPDX-License-Identifier: Apache-2.0
#include "generators/kernel_library.h"

#include <HalideRuntime.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include "generators/npy.h"

namespace tilewright {
namespace {

// A copy, because Halide's own constant has no definition to bind a reference to.
constexpr std::int32_t kMetadataVersion = halide_filter_metadata_t::VERSION;

// Halide calls the handler from any of its threads. The first message is the cause, later ones are
// its consequences.
std::mutex error_mutex;
std::string error_message;

void remember_error(void*, const char* message) {
  const std::lock_guard lock(error_mutex);
  if (error_message.empty() && message != nullptr) error_message = message;
}

std::string take_error() {
  const std::lock_guard lock(error_mutex);
  std::string message = std::exchange(error_message, {});
  std::replace(message.begin(), message.end(), '\n', ' ');
  while (!message.empty() && message.back() == ' ') message.pop_back();
  return message;
}

template <class Function>
Function* symbol(void* handle, const std::string& name) {
  return reinterpret_cast<Function*>(::dlsym(handle, name.c_str()));
}

using ArgvFunction = int(void**);
using MetadataFunction = const halide_filter_metadata_t*();
using SetErrorHandler = halide_error_handler_t(halide_error_handler_t);
using SetThreads = int(int);
using ShutDown = void();

halide_type_t halide_type(DType dtype) {
  return {halide_type_float, static_cast<std::uint8_t>(8 * bytes_of(dtype)), 1};
}

// A halide_buffer_t with the dimensions it points to.
struct Buffer {
  std::vector<halide_dimension_t> dimensions;
  halide_buffer_t buffer{};

  Buffer(const Buffer&) = delete;
  Buffer(Buffer&&) = default;
  Buffer& operator=(Buffer&&) = delete;
  explicit Buffer(const KernelArgument& argument) {
    dimensions.reserve(argument.extents.size());
    std::int32_t stride = 1;
    for (std::size_t i = argument.extents.size(); i-- > 0;) {
      const auto extent = static_cast<std::int32_t>(argument.extents[i]);
      dimensions.push_back({0, extent, stride});
      stride *= extent;
    }
    buffer.host = reinterpret_cast<std::uint8_t*>(argument.data);
    buffer.type = halide_type(argument.dtype);
    buffer.dimensions = static_cast<std::int32_t>(dimensions.size());
    buffer.dim = dimensions.data();
  }
};

std::string describe(const halide_filter_argument_t& argument) {
  return fmt::format("{} '{}' of {} bits, {} dimensions",
                     argument.kind == halide_argument_kind_input_buffer    ? "input"
                     : argument.kind == halide_argument_kind_output_buffer ? "output"
                                                                           : "scalar",
                     argument.name == nullptr ? "?" : argument.name, argument.type.bits,
                     argument.dimensions);
}

}  // namespace

Result<KernelLibrary> KernelLibrary::open(const std::string& path, const std::string& function,
                                          const Workload& workload) {
  KernelLibrary library;
  library.path_ = path;
  library.function_ = function;
  // A name without a slash would be searched for in the system's folders.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  library.handle_ = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library.handle_ == nullptr) {
    const char* const reason = ::dlerror();
    return failure(
        fmt::format("kernel library can not be loaded: {}", reason == nullptr ? path : reason));
  }
  for (const std::string& name :
       {function, function + "_argv", function + "_metadata",
        std::string("halide_set_error_handler"), std::string("halide_set_num_threads")}) {
    if (::dlsym(library.handle_, name.c_str()) == nullptr) {
      return failure(
          fmt::format("{}: no symbol {}: not a kernel library, or of another name", path, name));
    }
  }
  if (auto checked = library.check_arguments(workload); !checked) return pass_error(checked);
  const char* const target =
      symbol<MetadataFunction>(library.handle_, function + "_metadata")()->target;
  if (target != nullptr) library.target_ = target;
  symbol<SetErrorHandler>(library.handle_, "halide_set_error_handler")(remember_error);
  return library;
}

Result<void> KernelLibrary::check_arguments(const Workload& workload) const {
  const halide_filter_metadata_t* const metadata =
      symbol<MetadataFunction>(handle_, function_ + "_metadata")();
  if (metadata == nullptr || metadata->version != kMetadataVersion) {
    return failure(fmt::format("{}: {}_metadata gives no metadata of version {}", path_, function_,
                               kMetadataVersion));
  }
  std::vector<ArrayShape> shapes = input_shapes(workload);
  shapes.push_back(output_shape(workload));
  if (metadata->num_arguments != static_cast<std::int32_t>(shapes.size())) {
    return failure(fmt::format("{}: {} takes {} arguments, but {} has {} arrays", path_, function_,
                               metadata->num_arguments, to_key(workload), shapes.size()));
  }
  const halide_type_t type = halide_type(dtype_of(workload));
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const halide_filter_argument_t& argument = metadata->arguments[i];
    const bool output = i + 1 == shapes.size();
    const std::int32_t kind =
        output ? halide_argument_kind_output_buffer : halide_argument_kind_input_buffer;
    const auto dimensions = static_cast<std::int32_t>(shapes[i].extents.size());
    if (argument.kind != kind || argument.dimensions != dimensions || argument.type != type) {
      return failure(
          fmt::format("{}: {}: argument {} should be {} {}, found {}", path_, function_, i,
                      output ? "output" : "input",
                      shapes[i].name + " " + describe_array(dtype_of(workload), shapes[i].extents),
                      describe(argument)));
    }
    if (element_count(shapes[i].extents) > std::numeric_limits<std::int32_t>::max()) {
      return failure(fmt::format("{} has {} elements; kernels count them with 31 bits",
                                 shapes[i].name, element_count(shapes[i].extents)));
    }
  }
  return {};
}

void KernelLibrary::set_threads(int threads) const {
  symbol<SetThreads>(handle_, "halide_set_num_threads")(threads);
}

Result<void> KernelLibrary::call(std::span<const KernelArgument> arguments) const {
  std::vector<Buffer> buffers;
  buffers.reserve(arguments.size());
  for (const KernelArgument& argument : arguments) buffers.emplace_back(argument);
  std::vector<void*> pointers;
  pointers.reserve(buffers.size());
  for (Buffer& buffer : buffers) pointers.push_back(&buffer.buffer);
  take_error();
  const int code = symbol<ArgvFunction>(handle_, function_ + "_argv")(pointers.data());
  const std::string message = take_error();
  if (code != 0 || !message.empty()) {
    return failure(fmt::format("{} returned error code {}{}{}", function_, code,
                               message.empty() ? "" : ": ", message));
  }
  return {};
}

void KernelLibrary::shut_down() const {
  if (auto* const function = symbol<ShutDown>(handle_, "halide_shutdown_thread_pool")) function();
}

}  // namespace tilewright

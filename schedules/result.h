// SPDX-License-Identifier: Apache-2.0
// Errors are values. A Result is either a value or one Error whose message is a single clear line:
// what is wrong, where (file:line), the nearest valid name or value, and what to do. Only main()
// prints errors and picks exit codes.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace tilewright {

enum class ErrorKind {
  usage,  // the question itself can not be asked: unknown name, malformed text, impossible workload
          // (exit code 2)
  failed,  // a good question with a bad end: infeasible, mismatch, I/O, child process (exit code 1)
};

struct Error {
  ErrorKind kind = ErrorKind::failed;
  std::string message;
  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

inline tl::unexpected<Error> usage_error(std::string message) {
  return tl::unexpected<Error>(Error{ErrorKind::usage, std::move(message)});
}
inline tl::unexpected<Error> failure(std::string message) {
  return tl::unexpected<Error>(Error{ErrorKind::failed, std::move(message)});
}
// Passes an error of one Result on as the error of another.
template <class T>
tl::unexpected<Error> pass_error(const Result<T>& result) {
  return tl::unexpected<Error>(result.error());
}

}  // namespace tilewright

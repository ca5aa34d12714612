# SPDX-License-Identifier: Apache-2.0
# Sourced by the other scripts: the repository's root, one way to fail, and the time of phases.
# shellcheck shell=bash

set -euo pipefail
export LC_ALL=C.UTF-8

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
script=$(basename "$0")

# die MESSAGE...: one line on stderr that says what failed and what to do.
die() {
  printf '%s: %s\n' "$script" "$*" >&2
  exit 1
}

say() {
  printf '%s: %s\n' "$script" "$*" >&2
}

now_ms() {
  local t=$EPOCHREALTIME
  t=${t/[.,]/}
  echo $((t / 1000))
}

# seconds_since MS: with one decimal.
seconds_since() {
  local ms=$(($(now_ms) - $1))
  printf '%d.%d' $((ms / 1000)) $((ms % 1000 / 100))
}

# phase NAME COMMAND...: runs the command and prints how long it took.
phase() {
  local name=$1 start
  shift
  start=$(now_ms)
  "$@"
  say "$name took $(seconds_since "$start") s"
}

# configure PRESET: only when there is no build tree yet (ninja reconfigures by itself afterwards)
# or when the repository was moved since.
configure() {
  local preset=$1 tree=$root/build/$1 log=$root/build/configure-$1.log
  if [[ -f $tree/build.ninja ]] &&
    grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$tree/CMakeCache.txt"; then
    return 0
  fi
  mkdir -p "$root/build"
  (cd "$root" && cmake --fresh --preset "$preset") >"$log" 2>&1 || {
    grep -A 8 'CMake Error' "$log" >&2 || true
    die "configuring preset '$preset' failed; the whole output is in build/configure-$preset.log"
  }
}

# configure_and_build PRESET [TARGET...]
configure_and_build() {
  local preset=$1 target
  local -a targets=()
  shift
  for target in "$@"; do targets+=(--target "$target"); done
  configure "$preset"
  cmake --build "$root/build/$preset" "${targets[@]}" >&2 ||
    die "building preset '$preset' failed; the first message above that says 'error' names the cause"
}

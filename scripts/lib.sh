# Sourced by the scripts beside it: where things are, and how to say what happens.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

# Newer Trunks want a newer Rust than rust-toolchain.toml pins.
trunk_version=0.21.14
# The CLI must be exactly the version of the library that the page links.
bindgen_version=$(sed -n '/^name = "wasm-bindgen"$/{n;s/^version = "\(.*\)"$/\1/p;}' Cargo.lock)

# Built tools outlive a checkout: they take minutes to build.
tools=${ROOFLIGHT_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/rooflight/tools}
target=${CARGO_TARGET_DIR:-$root/target}

# Trunk finds wasm-bindgen and wasm-opt on PATH, and must never download its own.
export PATH="$tools/bin:$root/node_modules/.bin:$PATH"
export TRUNK_OFFLINE=true
# Trunk takes only `true` or `false` for what elsewhere is any text.
[ -z "${NO_COLOR:-}" ] || export NO_COLOR=true

say() { printf '%s\n' "$*" >&2; }
die() {
  say "error: $*"
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# The browser the tests drive: $CHROME, or the first one on PATH.
find_chrome() {
  local name
  for name in "${CHROME:-}" chromium chromium-browser google-chrome google-chrome-stable; do
    if [ -n "$name" ] && have "$name"; then
      command -v "$name"
      return
    fi
  done
  return 1
}

# Sourced by the other scripts: paths, versions and messages.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

# Newer releases of Trunk need a newer Rust than rust-toolchain.toml pins.
trunk_version=$(awk '$1 == "trunk" { print $2; exit }' scripts/tools.txt)
# The command must be of exactly the version of the library that the page links.
bindgen_version=$(sed -n '/^name = "wasm-bindgen"$/{n;s/^version = "\(.*\)"$/\1/p;}' Cargo.lock)

# Installed tools outlive a checkout, each version in a folder of its own.
tools=${ROOFLIGHT_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/rooflight/tools}
target=${CARGO_TARGET_DIR:-$root/target}

# Panics name source files as the compiler saw them: what is published does not name a folder of the machine that built it.
export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src/="

# Trunk finds wasm-bindgen and wasm-opt on PATH, and must never download its own.
export PATH="$tools/trunk-$trunk_version/bin:$tools/wasm-bindgen-$bindgen_version/bin:$root/node_modules/.bin:$PATH"
export TRUNK_OFFLINE=true
# Trunk accepts only `true` or `false` here; elsewhere any text counts.
[ -z "${NO_COLOR:-}" ] || export NO_COLOR=true

say() { printf '%s\n' "$*" >&2; }
die() {
  say "error: $*"
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# The browser for the tests: $CHROME, or the first one on PATH.
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

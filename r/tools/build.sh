#!/bin/sh
# Builds the Rust half of the package from the sources beside this script, without a network.
set -eu
cd "$(dirname "$0")"
PATH="$PATH:${HOME:-}/.cargo/bin"

case "$1" in
    debug) profile=dev ;;
    *) profile="$1" ;;
esac
rm -rf vendor
tar -xJf vendor.tar.xz
mkdir -p .cargo
cat > .cargo/config.toml <<'TOML'
[source.crates-io]
replace-with = "vendored-sources"

[source.vendored-sources]
directory = "vendor"
TOML
# R forbids packages to use more than two cores while they are checked, and to write outside of their folder.
CARGO_HOME="$PWD/.cargo" CARGO_TARGET_DIR="$PWD/target" \
    cargo build --quiet --profile "$profile" --package dpglm-r --features r --offline --locked --jobs "${DPGLM_R_JOBS:-2}"
rm -rf vendor

#!/bin/sh

# Installs into build/node what t/package.json names: real peers of some tests.
# Where there is no npm, or npm has no way out, those tests say so and are
# skipped.

set -eu

node=${BUILD:-build}/node

if cmp -s t/package.json "$node/package.json" && [ -d "$node/node_modules" ]
then
    exit 0
fi

if ! command -v npm > /dev/null; then
    echo "npm is not installed: tests with its packages are skipped" >&2
    exit 0
fi

rm -rf "$node"
mkdir -p "$node"
cp t/package.json "$node/"

if ! (cd "$node" && npm install --no-audit --no-fund --no-package-lock \
        --ignore-scripts --loglevel=error --cache .npm) > "$node/npm.log" 2>&1
then
    tail -n 3 "$node/npm.log" >&2
    echo "npm failed: tests with its packages are skipped" >&2
    rm -rf "$node"
fi

#!/bin/sh

# Installs what the tests and the bench need of npm, as t/package-lock.json pins
# it, into build/node/: real peers.  Exit code 1: they are not there, and the
# tests that need them say so.

set -eu

dir=build/node

if cmp -s t/package-lock.json $dir/.installed; then
    exit 0
fi

if ! command -v npm > /dev/null; then
    echo "npm is not installed: tests with its packages are skipped" >&2
    exit 1
fi

rm -rf $dir
mkdir -p $dir
cp t/package.json t/package-lock.json t/.npmrc $dir/

if ! (cd $dir && npm ci --ignore-scripts --no-audit --no-fund \
        --loglevel=error --cache .npm) > $dir/npm.log 2>&1
then
    tail -n 3 $dir/npm.log >&2
    echo "npm failed: tests with its packages are skipped" >&2
    exit 1
fi

cp t/package-lock.json $dir/.installed

#!/bin/sh

# Looks for every token that the tests minted (build/t/tokens) in all that they
# left behind: logs of nginx and Redis, what Redis held, what programs said.
# Exit code 1 when one is there, or when there was nothing to look for.

set -u

tokens=build/t/tokens
logs=build/t/logs

if [ ! -s $tokens ]; then
    echo "tokens: none was minted, so nothing was looked for"
    exit 1
fi

if [ -n "${RELAY_DEBUG:-}" ]; then
    echo "tokens: not looked for: debug logs hold what clients sent"
    exit 0
fi

n=$(sort -u $tokens | wc -l)
files=$(find $logs -type f | wc -l)

# configurations and key sets are what a test wrote, not what was logged

found=$(grep -rFac -f $tokens $logs --exclude='*.conf' --exclude='*.json' \
        --exclude-dir=html \
        | grep -v ':0$')

if [ -n "$found" ]; then
    echo "tokens: lines that hold one of them, by file:"
    echo "$found" | sed 's/^/    /'
    exit 1
fi

echo "tokens: none of $n is in any of $files files of logs and receipts"

#!/bin/sh

# Runs the fuzz targets under libFuzzer, AddressSanitizer and UBSan, one after
# the other, and says what came of it.
#
#   TARGET=json TIME=600 sh t/tools/fuzz.sh
#
# environment: TARGET (all), TIME (60, seconds for each), CLANG (clang), JOBS.
# What a target has found to be of interest is kept in build/fuzz/corpus/NAME
# and is where the next run starts; an input at fault in build/fuzz/found.

set -u

build=build/fuzz
seconds=${TIME:-60}
faults=0

case $seconds in
*[!0-9]*|'')
    echo "TIME is a number of seconds" >&2
    exit 2
    ;;
esac


# targets, from their names or from the files

names=${TARGET:-}

if [ -z "$names" ]; then
    for source in t/fuzz/fuzz_*.c; do
        name=$(basename "$source" .c)
        names="$names ${name#fuzz_}"
    done
fi

binaries=''

for name in $names; do
    if [ ! -f "t/fuzz/fuzz_$name.c" ]; then
        echo "there is no target \"$name\" in t/fuzz/" >&2
        exit 2
    fi

    binaries="$binaries $build/fuzz_$name"
done


# no report is only printed: each is a fault

flags='-fsanitize=address,undefined,fuzzer-no-link -fno-omit-frame-pointer'
flags="$flags -fno-sanitize-recover=all"

mkdir -p $build/found

echo "building with clang, libFuzzer and sanitizers"

# shellcheck disable=SC2086
make -s -j "${JOBS:-2}" BUILD=$build CC="${CLANG:-clang}" CFLAGS='-g -O1' \
    SANITIZE="$flags -DRELAY_FUZZ" $binaries > $build/make.out 2>&1 || {
    cat $build/make.out
    exit 1
}

ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1
LSAN_OPTIONS=suppressions=$(pwd)/t/tools/lsan.supp:print_suppressions=0
UBSAN_OPTIONS=print_stacktrace=1
export ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS


# stat LOG NAME: a figure of libFuzzer's

stat() {
    sed -n "s/^stat::$2: *//p" "$1"
}


: > $build/summary

for name in $names; do
    corpus=$build/corpus/$name
    log=$build/$name.log

    mkdir -p "$corpus"

    # where it starts: the committed inputs, and what NAME.seeds says

    set -- "$corpus"
    [ ! -d "t/fuzz/corpus/$name" ] || set -- "$@" "t/fuzz/corpus/$name"

    if [ -f "t/fuzz/$name.seeds" ]; then
        while read -r folder; do
            [ ! -d "$folder" ] || set -- "$@" "$folder"
        done < "t/fuzz/$name.seeds"
    fi

    [ ! -f "t/fuzz/$name.dict" ] || set -- "-dict=t/fuzz/$name.dict" "$@"

    options=''
    [ ! -f "t/fuzz/$name.options" ] || options=$(cat "t/fuzz/$name.options")

    echo "$name: $seconds seconds"

    # shellcheck disable=SC2086
    "$build/fuzz_$name" $options -max_total_time="$seconds" -timeout=20 \
        -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1 \
        -artifact_prefix="$build/found/$name-" "$@" > "$log" 2>&1
    rc=$?

    runs=$(stat "$log" number_of_executed_units)
    covered=$(sed -n 's/.* cov: \([0-9]*\) ft: \([0-9]*\) .*/\1/p' "$log" \
              | tail -n 1)
    took=$(sed -n 's/^Done [0-9]* runs in \([0-9]*\) second.*/\1/p' "$log")
    found=nothing

    if [ $rc -ne 0 ]; then
        faults=$((faults + 1))

        # libFuzzer names the input last

        input=$(sed -n 's/.*Test unit written to \(.*\)/\1/p' "$log" \
                | tail -n 1)
        found="FAULT ${input:-see $log}"

        grep -aE 'does not hold|ERROR: |runtime error|SUMMARY' "$log" \
            | head -n 5
    fi

    printf '%-10s %10s %8s %8s  %s\n' "$name" "${runs:--}" "${took:--}" \
        "${covered:--}" "$found" >> $build/summary
done


echo
printf '%-10s %10s %8s %8s  %s\n' target runs seconds edges found
cat $build/summary
echo

[ $faults -eq 0 ] || {
    cat <<END
To see a fault again:   $build/fuzz_NAME INPUT
To make it smaller:     $build/fuzz_NAME -minimize_crash=1 -runs=100000 INPUT
When it is mended, the input becomes a test in t/fuzz/corpus/NAME.
END
    exit 1
}

#!/bin/sh

# All tests, one after the other, and what came of them.
#
#   sh t/tools/test.sh
#
# environment: BUILD (build) and JOBS (2); UNIT, a folder with unit tests that
# are built already; PROVE, the .t files or folders, where not all are meant.

set -u

build=${BUILD:-build}
unit=${UNIT:-$build}
prove=${PROVE:-t/schema t/redis t/ctl t/http}
out=build/t

mkdir -p $out
rm -rf $out/logs $out/tokens $out/summary $out/skipped
mkdir -p $out/logs
: > $out/skipped

passed=0
failed=0


say() {
    printf '%s\n' "$*" >> $out/summary
}


# count NAME HOW-MANY-PASSED HOW-MANY-FAILED WHAT

count() {
    passed=$((passed + $2))
    failed=$((failed + $3))

    if [ "$3" -eq 0 ]; then
        say "$(printf '%-8s ok      %s' "$1" "$4")"
    else
        say "$(printf '%-8s FAILED  %s' "$1" "$4")"
    fi
}


echo "== style"

if sh t/style.sh; then
    count style 1 0 "layout and code style"
else
    count style 0 1 "see above"
fi


echo "== unit tests"

if [ "$unit" != "$build" ] || make -s BUILD="$unit" unit; then
    good=0
    bad=0
    programs=0

    for source in t/unit/test_*.c; do
        [ -f "$source" ] || continue

        name=$(basename "$source" .c)
        programs=$((programs + 1))

        "$unit/t/$name" > $out/unit.out 2>&1
        rc=$?

        ok=$(grep -ac '^\[       OK \]' $out/unit.out)
        nok=$(grep -ac '^\[  FAILED  \] [a-z_]*$' $out/unit.out)

        # UBSan's reports do not change the exit code

        if grep -aq 'runtime error:' $out/unit.out; then
            rc=1
        fi

        # what a test passes over it says in a line of its own

        passed_over=$(grep -ac '^\[  SKIPPED \] [a-z_]*$' $out/unit.out)

        if [ "$passed_over" -ne 0 ]; then
            grep -a 'is not there' $out/unit.out \
                | sed "s/^/$name.c: skipped: /" >> $out/skipped
        fi

        if [ $rc -ne 0 ] || [ $((ok + passed_over)) -eq 0 ]; then
            cat $out/unit.out
            echo "$name: exit code $rc"
            [ "$nok" -gt 0 ] || nok=1
        else
            echo "$name: $ok"
        fi

        good=$((good + ok))
        bad=$((bad + nok))
    done

    count unit $good $bad "$good of $((good + bad)) tests, $programs programs"

    # each input that is kept, through the fuzz target that it is for

    good=0
    bad=0
    targets=0

    for source in t/fuzz/fuzz_*.c; do
        [ -f "$source" ] || continue

        name=$(basename "$source" .c)
        targets=$((targets + 1))

        set -- "t/fuzz/corpus/${name#fuzz_}"

        if [ -f "t/fuzz/${name#fuzz_}.seeds" ]; then
            while read -r folder; do
                [ ! -d "$folder" ] || set -- "$@" "$folder"
            done < "t/fuzz/${name#fuzz_}.seeds"
        fi

        if "$unit/t/$name" "$@" > $out/fuzz.out 2>&1 \
            && ! grep -aq 'runtime error:' $out/fuzz.out
        then
            inputs=$(sed -n 's/^\([0-9]*\) inputs$/\1/p' $out/fuzz.out)
            good=$((good + inputs))
            echo "$name: $inputs"
        else
            bad=$((bad + 1))
            tail -n 30 $out/fuzz.out
            echo "$name: FAILED"
        fi
    done

    count replay $good $bad "$good inputs, $targets fuzz targets"
else
    count unit 0 1 "they do not compile"
fi


echo "== tests against nginx and Redis"

folders=''

for folder in $prove; do
    [ -e "$folder" ] && folders="$folders $folder"
done

# shellcheck disable=SC2086
{
    prove -r -It/lib --directives -j "${JOBS:-2}" $folders 2>&1
    echo $? > $out/prove.rc
} | tee $out/prove.out

rc=$(cat $out/prove.rc)
tests=$(sed -n 's/^Files=.*Tests=\([0-9]*\),.*/\1/p' $out/prove.out)
files=$(sed -n 's/^Files=\([0-9]*\),.*/\1/p' $out/prove.out)
tests=${tests:-0}

# "Failed tests:  3, 5-7" of each file, or a file that ended early

bad=$(sed -n 's/.*(Wstat: .* Tests: [0-9]* Failed: \([0-9]*\)).*/\1/p' \
      $out/prove.out | awk '{ n += $1 } END { print n + 0 }')

if [ "$rc" -ne 0 ] && [ "$bad" -eq 0 ]; then
    bad=1
fi

if [ "$tests" -eq 0 ]; then
    bad=1
fi

good=$((tests - bad))
[ $good -ge 0 ] || good=0

count prove $good "$bad" "$good of $tests tests, ${files:-0} files"

grep -aE '\. skipped: |# skip ' $out/prove.out >> $out/skipped || :


echo "== tokens"

# not every selection of tests mints one

if [ -s $out/tokens ] || [ -z "${PROVE:-}" ]; then

    if line=$(sh t/tools/leaks.sh); then
        count tokens 1 0 "${line#tokens: }"
    else
        count tokens 0 1 "see above"
    fi

    echo "$line"
fi


echo
echo "== summary"

cat $out/summary

if [ -s $out/skipped ]; then
    echo "skipped:"
    sed 's/^/    /' $out/skipped
else
    echo "skipped  none"
fi

echo "logs     $out/logs/"
echo
echo "$passed passed, $failed failed, $(wc -l < $out/skipped) skipped"

[ $failed -eq 0 ]

#!/bin/sh

# Prints relay_embedded.h, the part of lib/relay_data.c that is made of the
# files in this folder: redis/*.lua, views/*.json and *.json.
#
#   sh schema/embed.sh > build/relay_embedded.h

set -eu

LC_ALL=C
export LC_ALL

cd "$(dirname "$0")"


bytes() {
    printf 'static const unsigned char  %s[] = {\n' "$1"
    od -An -v -tx1 "$2" | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g; s/^/    /'

    # a NUL after the text, which no length counts
    printf '    0x00\n};\n\n'
}


string() {
    printf '{ %s, (unsigned char *) %s }' "$1" "$2"
}


name_of() {
    n=${1##*/}
    n=${n%.*}

    case $n in
    *[!A-Za-z0-9._-]* | "")
        echo "$0: $1: not a name that can be embedded" >&2
        exit 1
        ;;
    esac
}


printf '/* made by schema/embed.sh, not to be edited */\n\n'

table=''
i=0

for file in redis/*.lua; do
    [ -f "$file" ] || continue

    name_of "$file"
    len=$(wc -c < "$file" | tr -d ' ')

    sum=$(sha1sum < "$file")
    sum=${sum%% *}

    if [ ${#sum} -ne 40 ]; then
        echo "$0: $file: sha1sum failed" >&2
        exit 1
    fi

    bytes "relay_data_script_$i" "$file"

    table="$table    { $(string ${#n} "\"$n\""),
      $(string "$len" "relay_data_script_$i"),
      $(string 40 "\"$sum\"") },
"
    i=$((i + 1))
done

printf 'static const relay_script_t  relay_data_scripts[] = {\n%s' "$table"
printf '    { { 0, NULL }, { 0, NULL }, { 0, NULL } }\n};\n\n'

# documents TABLE NAME FILE...: JSON texts by the document type that they are of

documents() {
    list=$1
    prefix=$2
    shift 2

    table=''
    i=0

    for file in "$@"; do
        [ -f "$file" ] || continue

        name_of "$file"
        len=$(wc -c < "$file" | tr -d ' ')

        bytes "${prefix}_$i" "$file"

        table="$table    { $(string ${#n} "\"$n\""),
      $(string "$len" "${prefix}_$i") },
"
        i=$((i + 1))
    done

    printf 'static const relay_data_file_t  %s[] = {\n' "$list"
    printf '%s' "$table"
    printf '    { { 0, NULL }, { 0, NULL } }\n};\n'
}


documents relay_data_policies relay_data_policy views/*.json
printf '\n'
documents relay_data_schemas relay_data_schema ./*.json

#!/bin/sh

# What a machine can see of the layout (which way the arrows point) and of the
# code style.  Prints each fault as file:line; exit code 1 when there is one.
#
#   sh t/style.sh [a folder, to look at another tree than this one]

set -u

LC_ALL=C
export LC_ALL

cd "${1:-$(dirname "$0")/..}" || exit 2

# fault WHAT: its standard input are the places

fault() {
    places=$(cat)

    [ -z "$places" ] || printf '%s:\n%s\n\n' "$1" "$places"
}


# the files among those named that are there

files() {
    for file in "$@"; do
        [ -f "$file" ] && printf '%s\n' "$file"
    done

    return 0
}


# lines of the files on standard input that match, comments taken out

code() {
    while read -r file; do
        awk -v pattern="$1" '
            {
                line = $0

                if (comment) {
                    if (!match(line, /\*\//)) {
                        next
                    }

                    line = substr(line, RSTART + 2)
                    comment = 0
                }

                while (match(line, /\/\*/)) {
                    head = substr(line, 1, RSTART - 1)
                    tail = substr(line, RSTART + 2)

                    if (match(tail, /\*\//)) {
                        line = head " " substr(tail, RSTART + 2)

                    } else {
                        line = head
                        comment = 1
                        break
                    }
                }

                if (line ~ pattern) {
                    print FILENAME ":" FNR ": " $0
                }
            }' "$file"
    done
}


lib=$(files lib/*.c lib/*.h)
pure=$(printf '%s\n' "$lib" | grep -v '^lib/relayctl')
glue=$(files ngx_relay_module/*.c ngx_relay_module/*.h)


checks() {

# the arrows: ngx_relay_module -> lib -> libraries

printf '%s\n' "$lib" \
    | code '(^|[^A-Za-z0-9_])(ngx_|NGX_)' \
    | fault 'lib/ names nginx'

printf '%s\n' "$pure" \
    | code '(^|[^A-Za-z0-9_])(socket|connect|bind|listen|accept|recv|send|poll|select|open|fopen|read|write)[ ]*\(' \
    | fault 'lib/ opens, reads or writes a descriptor'

printf '%s\n' "$pure" \
    | code '#[ ]*include[ ]*<(sys/socket|netinet/|arpa/|sys/time|netdb|unistd|fcntl|poll)' \
    | fault 'lib/ includes what descriptors and clocks need'

printf '%s\n' "$pure" \
    | code '(^|[^A-Za-z0-9_])(time|gettimeofday|clock_gettime|clock|localtime|getrandom|rand|random)[ ]*\(' \
    | fault 'lib/ asks a clock or the system'

# a global is what is defined at the left margin and is neither a constant, nor
# a function, nor a type

printf '%s\n' "$pure" \
    | code '^(static[ ]+)?(unsigned |struct |enum |union )?[a-z_0-9]+[ ]+[*]*[a-z_0-9]+(\[[^]]*\])*[ ]*(=|;)' \
    | grep -vE ':[0-9]+: *(static +)?const |:[0-9]+: *(typedef|struct|enum|union|return|extern) ' \
    | fault 'lib/ has a global that is not a constant'


# each library is named in its one or two files

library() {
    name=$1
    header=$2
    shift 2

    printf '%s\n' "$lib" "$glue" \
        | code "#[ ]*include[ ]*<($header)" \
        | while IFS= read -r place; do
            for file in "$@"; do
                case $place in
                "$file":*) continue 2 ;;
                esac
            done

            printf '%s\n' "$place"
        done \
        | fault "$name is named outside of: $*"
}

library jansson 'jansson' \
    lib/relay_jwt.c
library hiredis 'hiredis/' \
    lib/relay_resp.c lib/relayctl_redis.c
library cjose 'cjose/' \
    lib/relay_jwt.c
library openssl 'openssl/' \
    lib/relay_link.c lib/relay_jwt.c
library utf8proc 'utf8proc' \
    lib/relay_text.c lib/relay_packet_text.c

library pcre2 'pcre2' \
    lib/relay_schema_pattern.c


# the look of a file

sources=$(files lib/*.[ch] ngx_relay_module/*.[ch] t/unit/*.[ch] \
                t/bench/*.[ch] t/fuzz/*.[ch] t/schema/*.[ch])
texts=$(files config t/*.sh t/*/*.sh t/*/*.js schema/*.sh schema/redis/*.lua \
              .ci/run
        find t -name '*.t' -o -name '*.pm' 2>/dev/null)

# the one line that may be longer is a pattern

printf '%s\n' "$sources" "$texts" | grep -vx 't/style.sh' \
    | while read -r file; do
        [ -n "$file" ] || continue
        awk 'length > 80 { print FILENAME ":" FNR ": " length " columns" }' \
            "$file"
    done | fault 'longer than 80 columns'

printf '%s\n' "$sources" "$texts" | while read -r file; do
    [ -n "$file" ] || continue
    awk '/\t/ { print FILENAME ":" FNR }' "$file"
done | fault 'a tab'

printf '%s\n' "$sources" "$texts" Makefile README.md | while read -r file; do
    [ -f "$file" ] || continue
    awk '/[ \t\r]$/ { print FILENAME ":" FNR }
         END { if (NR && last == "") print FILENAME ": ends in an empty line" }
         { last = $0 "" }' "$file"
    [ -z "$(tail -c 1 "$file")" ] || echo "$file: its last line does not end"
done | fault 'trailing space'

printf '%s\n' "$sources" | while read -r file; do
    [ -n "$file" ] || continue

    # a URL in a string or a comment is no comment of its own

    awk '{
            line = $0
            gsub(/"([^"\\]|\\.)*"/, "", line)
            gsub(/:\/\//, "", line)

            if (line ~ /^[ ]*\/\// || line ~ /[;{}) ][ ]*\/\/ /) {
                print FILENAME ":" FNR ": " $0
            }
        }' "$file"
done | fault 'a comment that is not /* */'

printf '%s\n' "$sources" \
    | code '(^|[^A-Za-z0-9_])(if|for|while|switch)\(|\)\{|\}[ ]*else[^ a-zA-Z0-9_]|^    else|;[ ]*\}[ ]*$' \
    | grep -vE '\{ .*; *\}|#define|\\$' \
    | fault 'keyword, brace or else not as nginx writes them'

# a function's name stands in the first column, its type on the line above

printf '%s\n' "$lib" "$glue" | while read -r file; do
    [ -n "$file" ] || continue

    case $file in *.h) continue ;; esac

    awk '
        /^\{/ && previous !~ /^[ ]/ && previous ~ /^[a-z].*[ *][a-z_0-9]+\(/ \
            { print FILENAME ":" FNR - 1 ": " previous }
        /^\}$/ { closed = FNR }
        /^[a-z].*[a-z_0-9]$/ && FNR > 1 && closed && FNR - closed < 3 \
            { print FILENAME ":" FNR ": one empty line before a function" }
        { previous = $0 }' "$file"
done | fault 'a function not as nginx writes it'


# every member of a configuration has a line that makes it and one that merges

for kind in main loc; do
    header=ngx_relay_module/ngx_http_relay_module.h
    source=ngx_relay_module/ngx_http_relay_module.c

    [ -f "$source" ] || continue

    # members of the last struct before its name

    awk -v name="ngx_http_relay_${kind}_conf_t" '
        /^typedef struct \{/ { n = 0; inside = 1; next }
        inside && /^\}/ {
            if (index($0, name)) {
                for (i = 0; i < n; i++) print member[i]
            }
            inside = 0
        }
        inside && match($0, /[a-z_0-9]+;/) {
            member[n++] = substr($0, RSTART, RLENGTH - 1)
        }' "$header" | while read -r member; do

        bodies=$(awk -v kind="$kind" '
            $0 ~ "^ngx_http_relay_(create|init|merge)_" kind "_conf\\(" {
                inside = 1
            }
            inside { print }
            inside && /^\}/ { inside = 0 }' "$source")

        # zeroed by pcalloc counts where a comment of the function says so

        if ! printf '%s\n' "$bodies" \
            | grep -qE "(->|[*] |= )$member\b|->$member\b|\b$member = "
        then
            echo "$header: $member of ngx_http_relay_${kind}_conf_t has" \
                 "neither a default nor a merge line"
        fi
    done | fault 'configuration'
done


# config names every file, headers too: nginx's Makefile knows no others

printf '%s\n' "$pure" "$glue" | while read -r file; do
    [ -n "$file" ] && [ -f config ] || continue
    grep -q "/$(basename "$file")\b" config || echo "$file"
done | fault 'config does not name a file'


# what the documents must name

if [ -f README.md ]; then
    printf '%s\n' "$glue" | while read -r file; do
        [ -n "$file" ] && grep -ohE 'ngx_string\("relay_[a-z_]+"\)' "$file"
    done | sed -E 's/.*"(relay_[a-z_]+)".*/\1/' | sort -u \
        | while read -r name; do
            grep -qE "\b$name\b" README.md || echo "$name"
        done | fault 'README.md does not name a directive or variable'
fi

}


found=$(checks)

if [ -n "$found" ]; then
    printf '%s\n\n' "$found"
    echo "style: faults"
    exit 1
fi

echo "style: no faults"

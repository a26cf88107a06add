#!/bin/sh

# Builds the dynamic module against the installed nginx, as Debian builds its
# own: nginx-dev's sources and flags.  nginx's configure runs again only when
# what it looks at has changed.

set -eu

build=${BUILD:-build}
src=$build/nginx-src
objs=$src/objs
so=ngx_http_relay_module.so
dev=/usr/share/nginx/src

if [ ! -f $dev/conf_flags ]; then
    echo "$dev is missing: install the package nginx-dev" >&2
    exit 1
fi


# two of us at a time would build on each other's half-made files

mkdir -p "$build"
exec 9> "$build/.module.lock"
flock 9


# the flags are a bash array; this is what configure depends on

stamp=$(
    pwd
    dpkg-query -W -f '${Version}\n' nginx-dev
    cat $dev/conf_flags config
    ls lib/*.[ch] ngx_relay_module/*.[ch]
    cksum < "$0"
)

if [ ! -f "$objs/Makefile" ] || [ ! -f "$src/.stamp" ] \
   || [ "$stamp" != "$(cat "$src/.stamp")" ]
then
    echo "configuring nginx-dev with the module"

    rm -rf "$src"
    mkdir -p "$objs"
    cp -R $dev/. "$src/"

    # shellcheck disable=SC2016
    if ! (cd "$src" && bash -c '
            . ./conf_flags
            exec ./configure "${NGX_CONF_FLAGS[@]}" \
                --with-cc-opt="-g -O2 -fPIC -fstack-protector-strong -Wformat \
                    -Werror=format-security -D_FORTIFY_SOURCE=2" \
                --with-ld-opt="-Wl,-z,relro -Wl,-z,now -fPIC" \
                --add-dynamic-module="$1"
        ' configure "$OLDPWD") > "$build/nginx-configure.log" 2>&1
    then
        tail -n 20 "$build/nginx-configure.log" >&2
        exit 1
    fi

    printf '%s\n' "$stamp" > "$src/.stamp"
fi


# the files of schema/ that the module carries

sh schema/embed.sh > "$objs/relay_embedded.h.new"

if cmp -s "$objs/relay_embedded.h.new" "$objs/relay_embedded.h"; then
    rm "$objs/relay_embedded.h.new"
else
    mv "$objs/relay_embedded.h.new" "$objs/relay_embedded.h"
fi


# this make has its own idea of jobs

unset MAKEFLAGS MAKELEVEL MFLAGS

make -C "$src" -f objs/Makefile -s -j "${JOBS:-2}" modules 9>&-

mkdir -p "$build/nginx"

if ! cmp -s "$objs/$so" "$build/nginx/$so"; then

    # a running nginx may have it mapped: a new file, not new bytes

    cp "$objs/$so" "$build/nginx/$so.new"
    mv "$build/nginx/$so.new" "$build/nginx/$so"
fi

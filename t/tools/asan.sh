#!/bin/sh

# The tests again under AddressSanitizer and UndefinedBehaviorSanitizer: the
# unit tests, relayctl, and an nginx that is built from Debian's source package
# with pools that give each allocation its own bounds (NGX_DEBUG_PALLOC) and
# the module linked in.

set -eu

root=$(pwd)
build=build/asan
flags='-fsanitize=address,undefined -fno-omit-frame-pointer'

# nginx itself hands NULL with a length of zero to memcpy()

core="$flags -fno-sanitize=nonnull-attribute"

mkdir -p $build


# nginx's source, by apt, whose lists of source packages are kept in build/ so
# that those of the system stay as they are

version=$(dpkg-query -W -f '${Version}' nginx)
upstream=${version%-*}
tarball=$build/nginx_$upstream.orig.tar.gz

if [ ! -s "$tarball" ]; then
    echo "fetching nginx $upstream from Debian's source package"

    apt=$root/$build/apt
    rm -rf "$apt"
    mkdir -p "$apt/sources.list.d" "$apt/lists/partial" \
             "$apt/cache/archives/partial"

    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -f "$file" ] || continue
        sed -n 's/^deb /deb-src /p' "$file" \
            > "$apt/sources.list.d/$(basename "$file" .list).list"
    done

    for file in /etc/apt/sources.list.d/*.sources; do
        [ -f "$file" ] || continue
        sed 's/^Types:.*/Types: deb-src/' "$file" \
            > "$apt/sources.list.d/$(basename "$file")"
    done

    get() {
        apt-get -q -o Dir::Etc::SourceList=/dev/null \
            -o Dir::Etc::SourceParts="$apt/sources.list.d" \
            -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" \
            -o APT::Sandbox::User=root \
            -o Acquire::Languages=none "$@"
    }

    get update

    # upstream's archive alone; any of Debian's revisions has the same

    (cd "$build" && get source --download-only --tar-only nginx) > /dev/null

    if [ ! -s "$tarball" ]; then
        echo "apt has no source of nginx $upstream" >&2
        exit 1
    fi
fi


# configure, once for each set of sources

nginx=$build/nginx-$upstream
cc="-O1 -g $flags -DNGX_DEBUG_PALLOC=1"
cc="$cc -Wno-error=maybe-uninitialized -Wno-error=stringop-overflow"

options='--with-debug --with-threads --with-pcre-jit --with-http_ssl_module
    --with-http_v2_module --with-http_auth_request_module
    --with-http_realip_module --with-http_addition_module
    --with-http_sub_module --with-http_slice_module
    --with-http_stub_status_module --with-http_dav_module'

stamp=$(
    echo "$options $cc"
    cat config
    ls lib/*.[ch] ngx_relay_module/*.[ch]
)

if [ ! -f "$nginx/.stamp" ] || [ "$stamp" != "$(cat "$nginx/.stamp")" ]; then
    echo "configuring nginx $upstream with sanitizers"

    rm -rf "$nginx"
    tar -xzf "$tarball" -C $build

    # configure's own little programs need not be clean

    # shellcheck disable=SC2086
    if ! (cd "$nginx" && ASAN_OPTIONS=detect_leaks=0 ./configure $options \
            --with-cc-opt="$cc" --with-ld-opt="$core" \
            --add-module="$root") > $build/configure.log 2>&1
    then
        tail -n 20 $build/configure.log >&2
        exit 1
    fi

    printf '%s\n' "$stamp" > "$nginx/.stamp"
fi

objs=$nginx/objs

sh schema/embed.sh > "$objs/relay_embedded.h.new"

if cmp -s "$objs/relay_embedded.h.new" "$objs/relay_embedded.h"; then
    rm "$objs/relay_embedded.h.new"
else
    mv "$objs/relay_embedded.h.new" "$objs/relay_embedded.h"
fi

echo "building nginx, relayctl and the unit tests with sanitizers"

(
    unset MAKEFLAGS MAKELEVEL MFLAGS
    exec make -C "$nginx" -s -j "${JOBS:-2}" binary -f objs/Makefile
)

# gcc's warnings are another build's business: sanitizers confuse them

CFLAGS='-g -O1'
SANITIZE=$flags
WARNINGS=-w
export CFLAGS SANITIZE WARNINGS

make -s BUILD=$build CFLAGS="$CFLAGS" SANITIZE="$SANITIZE" \
    WARNINGS=$WARNINGS $build/relayctl unit

ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1
LSAN_OPTIONS=suppressions=$root/t/tools/lsan.supp:print_suppressions=0
UBSAN_OPTIONS=print_stacktrace=1
RELAY_NGINX=$root/$objs/nginx
RELAY_MODULE=
RELAYCTL=$root/$build/relayctl
UNIT=$build
PROVE=${PROVE:-t/schema t/ctl t/http}

export ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS
export RELAY_NGINX RELAY_MODULE RELAYCTL UNIT PROVE

exec sh t/tools/test.sh

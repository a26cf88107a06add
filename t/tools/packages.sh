#!/bin/sh

# Installs the Debian packages that are missing:
#
#   sh t/tools/packages.sh build run test
#
# Their services are neither started nor enabled.

set -eu

wanted=''

for set in "$@"; do
    case $set in
    build)
        wanted="$wanted gcc make nginx-dev libhiredis-dev libjansson-dev"
        wanted="$wanted libcjose-dev libssl-dev libpcre2-dev libutf8proc-dev"
        ;;
    run)
        wanted="$wanted nginx redis-server curl perl"
        ;;
    test)
        wanted="$wanted libcmocka-dev openssl redis-tools nghttp2-client"
        ;;
    node)
        # whoever else packages nodejs may ship npm with it
        command -v node > /dev/null && command -v npm > /dev/null \
            || wanted="$wanted nodejs npm"
        ;;
    *)
        wanted="$wanted $set"
        ;;
    esac
done


missing=''

for package in $wanted; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) \
        || status=''

    [ "$status" = installed ] || missing="$missing $package"
done

[ -n "$missing" ] || exit 0


if ! command -v apt-get > /dev/null; then
    echo "These packages are missing, and there is no apt-get:$missing" >&2
    exit 1
fi

root=''

if [ "$(id -u)" -ne 0 ]; then
    root=sudo

    if ! command -v sudo > /dev/null; then
        echo "These packages are missing; as root, say:" >&2
        echo "    apt-get install --no-install-recommends$missing" >&2
        exit 1
    fi

    echo "About to use sudo to install by apt-get:$missing"
else
    echo "Installing by apt-get:$missing"
fi


# nginx and redis-server would start as services: a policy that says no stands
# for the time of the installation, unless the machine has a policy of its own

# shellcheck disable=SC2086
$root env DEBIAN_FRONTEND=noninteractive sh -eu -s -- $missing <<'END'

policy=/usr/sbin/policy-rc.d
made=no
fresh=''

for service in nginx redis-server; do
    case " $* " in
    *" $service "*) fresh="$fresh $service" ;;
    esac
done

if [ ! -e $policy ]; then
    trap '[ $made = no ] || rm -f $policy' EXIT
    trap 'exit 1' HUP INT TERM
    made=yes
    printf '#!/bin/sh\nexit 101\n' > $policy
    chmod 755 $policy
fi

install() {
    apt-get install -y -q --no-install-recommends \
        -o DPkg::Lock::Timeout=300 "$@" < /dev/null
}

update() {
    apt-get update -q -o DPkg::Lock::Timeout=300 < /dev/null
}

# lists that are not there, or too old to be of use

if ! apt-cache show "$@" > /dev/null 2>&1; then
    update
    install "$@"
else
    install "$@" || { update; install "$@"; }
fi

if [ -d /run/systemd/system ] && [ -n "$fresh" ]; then
    systemctl disable -q $fresh || true
    echo "Services installed, not started and not enabled:$fresh"
fi
END

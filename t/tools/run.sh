#!/bin/sh

# make run and make stop: a Redis and an nginx on free ports of loopback, all
# of their files in build/run.

set -eu

root=$(pwd)
run=$root/build/run
ctl=$root/build/relayctl
module=$root/build/nginx/ngx_http_relay_module.so

issuer=https://id.example
audience=https://edge.example
relay=rly_7QmX2c9Lw4
pilot=schema/examples/pilot.relay.json

PATH=$PATH:/usr/sbin


# stop NAME SIGNAL: ends the process that build/run/NAME.pid names, if it is
# really ours

stop() {
    pid=$(cat "$run/$1.pid" 2>/dev/null) || return 0

    case $(tr '\0' ' ' < "/proc/$pid/cmdline" 2>/dev/null) in
    *"$1"*) ;;
    *) return 0 ;;
    esac

    [ "$(readlink "/proc/$pid/cwd" 2>/dev/null)" = "$run" ] || return 0

    kill "-$2" "$pid"

    n=0

    while kill -0 "$pid" 2>/dev/null && [ $n -lt 100 ]; do
        grep -q '^State:.*Z' "/proc/$pid/status" 2>/dev/null && break
        sleep 0.1
        n=$((n + 1))
    done

    if [ $n -eq 100 ]; then
        kill -KILL "$pid"
    fi

    echo "stopped $1 ($pid)"
}


port() {
    perl -MIO::Socket::INET -e '
        for (1 .. 500) {
            my $port = 10000 + int rand 20000;
            IO::Socket::INET->new(LocalAddr => "127.0.0.1", Proto => "tcp",
                                  LocalPort => $port, Listen => 1) or next;
            print $port;
            exit 0;
        }
        die "no free port\n"'
}


stop nginx QUIT
stop redis TERM

if [ "$1" = stop ]; then
    exit 0
fi


###############################################################################

rm -rf "$run"
mkdir -p "$run"
cd "$run"

http=$(port)
redis=$(port)

RELAY_REDIS=redis://127.0.0.1:$redis
export RELAY_REDIS

cat > redis.conf <<END
bind 127.0.0.1
port $redis
dir $run
daemonize yes
pidfile $run/redis.pid
logfile $run/redis.log
save ""
appendonly yes
appendfsync always
maxmemory-policy noeviction
END

(umask 077; "$ctl" keygen --kty RSA --kid demo > private.jwks)
"$ctl" keygen --public private.jwks > public.jwks

cat > nginx.conf <<END
load_module $module;

worker_processes 2;
pid $run/nginx.pid;
error_log $run/error.log info;

events {
    worker_connections 256;
}

http {
    access_log $run/access.log;

    client_body_temp_path $run/body;
    proxy_temp_path $run/proxy;
    fastcgi_temp_path $run/fastcgi;
    uwsgi_temp_path $run/uwsgi;
    scgi_temp_path $run/scgi;

    relay_redis $RELAY_REDIS durability=always;
    relay_zone relay:8m;
    relay_jwt_keys $run/public.jwks issuer=$issuer audience=$audience
                   email=trusted;

    server {
        listen 127.0.0.1:$http;

        location ~ ^/r/(?<relay_token>.*)\$ {
            relay_link \$relay_token;
            relay_package on;
        }
    }
}
END

redis-server redis.conf

n=0

until redis-cli -h 127.0.0.1 -p "$redis" ping > redis.out 2>&1; do
    n=$((n + 1))

    if [ $n -gt 100 ]; then
        echo "redis-server does not start: see $run/redis.log" >&2
        exit 1
    fi

    sleep 0.1
done

if ! nginx -p "$run/" -e "$run/error.log" -c "$run/nginx.conf"; then
    stop redis TERM
    exit 1
fi


# the worked example, its link, and tokens for two people

publish() {
    "$ctl" publish "$root/$pilot" --owner-iss $issuer --owner-sub leila \
        --owner-email leila@brackwell.example
}

link() {
    "$ctl" link $relay --base-url "http://127.0.0.1:$http/r/"
}

token() {
    name=$1
    email=$2
    shift 2

    "$ctl" token --key private.jwks --iss $issuer --aud $audience \
        --sub "$name" --email "$email" --name "$name" --ttl 8h
}


faults=0

# show WHAT STATUS URL [curl's options]: one request, and whether it was right

show() {
    what=$1
    wanted=$2
    shift 2

    status=$(curl -sS -o answer -w '%{http_code}' "$@") || status=000

    if [ "$status" = "$wanted" ]; then
        printf '\n%s: %s\n' "$what" "$status"
    else
        printf '\n%s: %s, where %s was right\n' "$what" "$status" "$wanted"
        faults=$((faults + 1))
    fi

    head -c 100000 answer | head -n "${lines:-3}" | cut -c 1-100 \
        | sed 's/^/    | /'
}


printf '\nThe owner publishes %s:\n' $pilot
publish | sed 's/^/    | /'

kept=$(link)
link=$(link)

printf '\nand makes a link:\n    | %s\n' "$link"

token tomas tomas.lindqvist@norrvik.example > tomas.token 2> token.note
token bram bram@elsewhere.example > bram.token 2> token.note
chmod 600 tomas.token bram.token

tomas="Authorization: Bearer $(cat tomas.token)"
bram="Authorization: Bearer $(cat bram.token)"

# the grant is made by the first link that is read, and this one stays

lines=8 show 'The named reader' 200 "$kept" -H "$tomas"
lines=1 show 'The same by the second link' 200 "$link" -H "$tomas"
show 'Another person' 403 "$link" -H "$bram"
show 'No token' 401 "$link"

printf '\nThe owner revokes the second link:\n'
printf '%s\n' "${link##*/}" | "$ctl" revoke $relay --link - \
    --reason 'shown by make run' | sed 's/^/    | /'

show 'The named reader, by the revoked link' 410 "$link" -H "$tomas"

# a denial's receipt is not waited for

sleep 0.5

printf '\nThe receipts:\n'
"$ctl" receipts $relay --json > receipts.out

perl -MJSON::PP -ne '
    my $r = decode_json($_);
    $r = $r->{receipt} if ref $r->{receipt};
    my $who = $r->{reader} ? $r->{reader}{email} : "operator";
    printf "    | %-11s %-8s %-12s %-34s %s\n", $r->{kind}, $r->{method} // "",
        $r->{reason} // "", $who, $r->{status} // "";
' receipts.out


cat <<END

nginx and Redis are left running.

  link         $kept
  read it      curl -H "Authorization: Bearer \$(cat build/run/tomas.token)" \\
                   $kept
  a token      build/relayctl token --key build/run/private.jwks \\
                   --iss $issuer --aud $audience \\
                   --sub tomas --email tomas.lindqvist@norrvik.example
  relayctl     export RELAY_REDIS=$RELAY_REDIS
               build/relayctl receipts $relay --follow
  files        build/run/ (nginx.conf, error.log, access.log)
  stop         make stop
END

if [ $faults -ne 0 ]; then
    echo
    echo "$faults of these answers were wrong"
    exit 1
fi

#!/usr/bin/perl

# Measures what the module must reach, each bar a ratio of what runs side by
# side in this one run, the median of interleaved rounds:
#
#   perl t/bench/run.pl             all bars
#   BAR=NAME perl t/bench/run.pl    those whose name is NAME or begins with it
#
# Each bar ends as one line, "bar NAME FIGURE REQUIRED ok|short".  Exit code 1:
# one is short; 2: something could not be measured.
#
# ROUNDS (5) and DURATION (2 seconds of load on each server in a round) make it
# longer.  Everything it writes is in build/bench/.
#
# Views are not searched for text that speaks to agents (relay_safety off), which
# no peer does.
#
# The bars are judged by the Lua peer as its own expert would tune it: the same
# script, pooled connections, cached views, and records kept between reads, which
# serve.lua guards.  One that looks records up afresh is measured beside it.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use IO::Socket::INET;
use JSON::PP ();
use POSIX qw(:sys_wait_h);
use Time::HiRes qw(sleep time);

my $ROOT = abs_path(dirname(__FILE__) . '/../..');
my $DIR = "$ROOT/build/bench";

my $ROUNDS = $ENV{ROUNDS} || 5;
my $DURATION = $ENV{DURATION} || 2;
my $CONNECTIONS = 32;

my $ISSUER = 'https://id.example';
my $AUDIENCE = 'https://edge.example';
my $READER = 'tomas.lindqvist@norrvik.example';
my $RELAY = 'rly_7QmX2c9Lw4';

my $TICK = POSIX::sysconf(POSIX::_SC_CLK_TCK());

my @WARNINGS = qw(-Wall -Wextra -Wpointer-arith -Wno-unused-parameter
                  -Werror);

my %LIBRARY = (
    wrk => 'wrk',
    lua => [qw(libnginx-mod-http-lua lua-nginx-redis lua-cjson)],
    simdjson => [qw(g++ libsimdjson-dev)],
);

# name, what it needs, group, how a figure is read, least or most

my @BARS = (
    ['project-jansson', 'project', 'least', 20,
     'projection, times the rate of jansson parse + dump'],
    ['project-simdjson', 'project', 'least', 0.25,
     'projection, times the rate of simdjson\'s DOM parse alone'],
    ['project-allocations', 'project', 'most', 0,
     'allocations of all projections'],
    ['schema-ajv', 'schema', 'least', 3,
     'parse + validation, times the rate of JSON.parse + ajv'],
    ['schema-allocations', 'schema', 'most', 0,
     'allocations of all validations'],
    ['growth', 'growth', 'most', 2.5,
     'projection, time for one byte at 8 MB, times that at 64 KB'],
    ['linearizable-static', 'linearizable', 'most', 2.5,
     'CPU per read, times nginx\'s static file'],
    ['linearizable-lua-cpu', 'linearizable', 'most', 0.333,
     'CPU per read, times the Lua peer\'s'],
    ['linearizable-lua-rate', 'linearizable', 'least', 1,
     'reads per second, times the Lua peer\'s'],
    ['uncached-lua', 'uncached', 'least', 6,
     'reads per second, view not cached, times the Lua peer\'s with cjson'],
);

my (%servers, @children, %figures, %skipped, $sockets, $token, $bearer);

$SIG{$_} = sub { exit 2 } for qw(INT TERM HUP);
$SIG{PIPE} = 'IGNORE';
$| = 1;


main();


sub main {
    my $want = $ENV{BAR} // '';
    my @bars = grep { $want eq '' || index($_->[0], $want) == 0 } @BARS;

    @bars = grep { $_->[0] eq $want } @bars
        if grep { $_->[0] eq $want } @bars;

    if (!@bars) {
        print STDERR "There is no bar $want; there are: ",
            join(' ', map { $_->[0] } @BARS), "\n";
        exit 2;
    }

    remove_tree($DIR);
    make_path($DIR);

    my %groups = map { $_->[1] => 1 } @bars;

    measure_projection() if $groups{project};
    measure_validation() if $groups{schema};
    measure_growth() if $groups{growth};
    measure_reads(\%groups) if $groups{linearizable} || $groups{uncached};

    print "\n";

    my $rc = 0;

    for my $bar (@bars) {
        my ($name, undef, $how, $required, $what) = @$bar;
        my $figure = $figures{$name};

        if (!defined $figure) {
            print "skipped $name: $skipped{$name}\n";
            next;
        }

        my $ok = $how eq 'least' ? $figure >= $required
                                 : $figure <= $required;

        printf "bar %s %s %s%s %s\n", $name,
            $figure == int($figure) ? $figure : sprintf('%.3f', $figure),
            $how eq 'least' ? '>=' : '<=', $required, $ok ? 'ok' : 'short';

        $rc = 1 if !$ok;
    }

    exit $rc;
}


###############################################################################
# projection

sub measure_projection {
    my $simd = installed('simdjson');
    my $lib = "$ROOT/build/librelay.a";
    my @objects = ("$DIR/project.o");

    run('cc', qw(-std=gnu11 -g -O2), @WARNINGS,
        '-DBENCH_SIMDJSON=' . ($simd ? 1 : 0), "-I$ROOT/lib",
        '-c', '-o', "$DIR/project.o", "$ROOT/t/bench/project.c");

    if ($simd) {
        run('g++', qw(-std=c++17 -O2 -Wall -c -o), "$DIR/simd.o",
            "$ROOT/t/bench/simd.cc");
        push @objects, "$DIR/simd.o";
    }

    run($simd ? 'g++' : 'cc', '-o', "$DIR/project", @objects, $lib,
        (map { "-Wl,--wrap=$_" } qw(malloc calloc realloc)),
        ($simd ? '-lsimdjson' : ()),
        qw(-ljansson -lhiredis -lcjose -lcrypto -lutf8proc));

    my $out = output("$DIR/project",
                     "$ROOT/schema/examples/pilot.relay.json",
                     "$ROOT/schema/examples/views/recipient-agent.json",
                     $ROUNDS);

    my (%ns, %ratios);

    for my $line ($out =~ /^round (.+)$/mg) {
        my %round = $line =~ /(\w+)=([\d.]+)/g;

        for my $name (keys %round) {
            push @{$ns{$name}}, $round{$name};
            push @{$ratios{$name}}, $round{$name} / $round{relay};
        }
    }

    my ($bytes) = $out =~ /^bytes (\d+)$/m;
    my ($made) = $out =~ /^allocations (\d+)$/m;

    print "one $bytes bytes document to the recipient's view, one thread:\n";

    for my $row (['relay', 'this projection, spans'],
                 ['copied', 'the same, copied into one piece'],
                 ['jansson', 'jansson, parse + dump'],
                 ['simdjson', 'simdjson, DOM parse alone'])
    {
        next if !$ns{$row->[0]};

        my $median = median(@{$ns{$row->[0]}});

        printf "  %-36s %8.1f us %8.1f MB/s\n", $row->[1], $median / 1000,
            $bytes / $median * 1000;
    }

    $figures{'project-jansson'} = median(@{$ratios{jansson}});
    $figures{'project-allocations'} = $made;

    if ($simd) {
        $figures{'project-simdjson'} = median(@{$ratios{simdjson}});

    } else {
        $skipped{'project-simdjson'} = "libsimdjson-dev is not installed";
    }
}


# What a document costs for one byte must not depend on its size or shape: the
# worst shape counts.  What does not fit in the caches any more costs some.

sub measure_growth {
    run('cc', qw(-std=gnu11 -g -O2 -Wall -Wextra -Wpointer-arith
                 -Wno-unused-parameter -Werror), "-I$ROOT/lib",
        '-o', "$DIR/growth", "$ROOT/t/bench/growth.c",
        "$ROOT/build/librelay.a", qw(-ljansson -lhiredis -lcjose -lcrypto));

    my $out = output("$DIR/growth");

    print "nanoseconds for one byte, tokenized and projected to three views:\n";
    printf "  %-12s %8s %8s %8s %8s\n", qw(shape 2K 64K 8M 8M/64K);

    for my $line ($out =~ /^shape (.+)$/mg) {
        my ($name, @figures) = split / /, $line;

        printf "  %-12s %8.2f %8.2f %8.2f %8.2f\n", $name, @figures;

        $figures{growth} = $figures[3] if $figures[3] > ($figures{growth} // 0);
    }
}


###############################################################################
# validation

# The two run in turns, one process each time; what is compared is CPU time.

sub measure_validation {
    my @files = ("$ROOT/schema/relay.context-package.v1.json",
                 "$ROOT/schema/examples/pilot.relay.json");

    run('cc', qw(-std=gnu11 -g -O2), @WARNINGS, "-I$ROOT/lib",
        '-o', "$DIR/schema", "$ROOT/t/bench/schema.c",
        "$ROOT/build/librelay.a",
        (map { "-Wl,--wrap=$_" } qw(malloc calloc realloc)), '-lpcre2-8');

    my $peer = -d "$ROOT/build/node/node_modules/ajv";
    my (@ns, @ajv, $made);

    local $ENV{NODE_PATH} = "$ROOT/build/node/node_modules";

    for (1 .. $ROUNDS) {
        my %r = output("$DIR/schema", @files) =~ /^(\w+) ([\d.]+)$/mg;

        push @ns, $r{ns};
        $made += $r{allocations};

        next if !$peer;

        push @ajv, output('node', "$ROOT/t/bench/ajv.js", @files)
            =~ /^ns ([\d.]+)$/m;
    }

    my $bytes = -s $files[1];

    print "\none $bytes bytes document parsed and validated, one thread:\n";

    for (['this parser and validator', @ns], ['JSON.parse and ajv', @ajv]) {
        my ($what, @figures) = @$_;

        next if !@figures;

        my $median = median(@figures);

        printf "  %-36s %8.1f us %8.1f MB/s\n", $what, $median / 1000,
            $bytes / $median * 1000;
    }

    $figures{'schema-allocations'} = $made;

    if ($peer) {
        $figures{'schema-ajv'} = median(map { $ajv[$_] / $ns[$_] } 0 .. $#ns);

    } else {
        $skipped{'schema-ajv'} = 'ajv is not installed';
    }
}


###############################################################################
# reads

sub measure_reads {
    my ($groups) = @_;

    die "wrk is not installed\n" if !installed('wrk');

    my $module = "$ROOT/build/nginx/ngx_http_relay_module.so";

    die "$module is not there: run make all\n" if !-f $module;

    my $lua = installed('lua');

    start_redis();
    publish();

    if ($groups->{linearizable}) {
        start('relay', 'relay edge, view cached', relay_conf('zone'));
        accept_and_check('relay');

        store("$DIR/view.json", $servers{relay}{body});

        start('static', 'nginx, static file', static_conf());
        $servers{static}{path} = '/view.json';

        if ($lua) {
            start('lua', 'lua, view and records cached',
                  lua_conf(cached => 1, guarded => 1));
            start('fresh', 'lua, view cached', lua_conf(cached => 1));
        }
    }

    if ($groups->{uncached}) {
        start('bare', 'relay edge, view not cached', relay_conf());
        accept_and_check('bare');

        start('decode', 'lua, records cached, cjson', lua_conf(guarded => 1))
            if $lua;
    }

    check($_) for sort keys %servers;

    rounds('linearizable', qw(static relay lua fresh))
        if $groups->{linearizable};

    rounds('uncached', qw(bare decode)) if $groups->{uncached};

    check_revoked();

    for my $name (sort keys %servers) {
        my $log = slurp("$DIR/$name/error.log");
        die "$name: its log says:\n$log\n" if $log ne '';
    }

    if (!$lua) {
        $skipped{$_} = "@{$LIBRARY{lua}}: not installed"
            for qw(linearizable-lua-cpu linearizable-lua-rate uncached-lua);
    }
}


sub rounds {
    my ($group, @names) = @_;

    @names = grep { $servers{$_} } @names;

    # once for warmth: connections, caches, traces of the compiler

    load($_, 2) for @names;

    my (%rate, %cpu, %wait, %redis);
    my @before = (busy(), time(), spent(@names));

    for (1 .. $ROUNDS) {
        for my $name (@names) {
            my $r = load($name, $DURATION);

            note(sprintf("%-8s %8.0f reads/s %8.1f us of worker, %5.1f us of "
                         . "Redis\n", $name, @$r{qw(rate cpu redis)}));

            push @{$rate{$name}}, $r->{rate};
            push @{$cpu{$name}}, $r->{cpu};
            push @{$wait{$name}}, $r->{p99};
            push @{$redis{$name}}, $r->{redis};
        }
    }

    # the Lua encoder writes no spaces, so that its views are shorter

    print "\nreads of ", join(' or ', map { length $servers{$_}{body} }
                                          @names[0, -1]),
        " bytes, $CONNECTIONS connections, one worker:\n";

    for my $name (@names) {
        printf "  %-36s %8.0f reads/s %8.1f us of worker, %5.1f us of Redis, "
            . "p99 %5.1f ms\n", $servers{$name}{what}, median(@{$rate{$name}}),
            median(@{$cpu{$name}}), median(@{$redis{$name}}),
            median(@{$wait{$name}}) / 1000;
    }

    # what others do at the same time makes every figure doubtful

    my $others = (busy() - $before[0] - spent(@names) + $before[2])
        / (time() - $before[1]);

    printf "  meanwhile, other processes took %.2f of a CPU%s\n", $others,
        $others > 0.1 ? ': not a quiet machine' : '';

    my $ratio = sub {
        my ($of, $a, $b) = @_;

        return if !$of->{$b};
        return median(map { $of->{$a}[$_] / $of->{$b}[$_] } 0 .. $ROUNDS - 1);
    };

    if ($group eq 'uncached') {
        $figures{'uncached-lua'} = $ratio->(\%rate, 'bare', 'decode');
        return;
    }

    $figures{'linearizable-static'} = $ratio->(\%cpu, 'relay', 'static');

    return if !$servers{lua};

    $figures{'linearizable-lua-cpu'} = $ratio->(\%cpu, 'relay', 'lua');
    $figures{'linearizable-lua-rate'} = $ratio->(\%rate, 'relay', 'lua');

    printf "  beside the peer that looks records up: CPU %.3f, reads/s %.3f\n",
        $ratio->(\%cpu, 'relay', 'fresh'), $ratio->(\%rate, 'relay', 'fresh');
}


# Every round, for who wonders about a median.

sub note {
    open my $fh, '>>', "$DIR/rounds.log" or die "$DIR/rounds.log: $!\n";
    print $fh @_;
    close $fh;
}


# Load on one server: reads per second, microseconds of its worker for each.

sub load {
    my ($name, $seconds) = @_;

    my $server = $servers{$name};
    my @pids = ($server->{worker}, $servers{redis}{pid});

    # a stream as short as everybody else's

    redis('XTRIM', "relay:receipts:{$RELAY}", 'MAXLEN', 0);

    my @before = map { cpu($_) } @pids;

    my $out = output('wrk', '-t1', "-c$CONNECTIONS", "-d${seconds}s",
                     '-s', "$DIR/load.lua",
                     "http://127.0.0.1:$server->{port}$server->{path}");

    my @used = map { cpu($pids[$_]) - $before[$_] } 0 .. 1;

    my %r = $out =~ /^figure (\w+) ([\d.]+)$/mg;

    die "$name: wrk said:\n$out\n"
        if !$r{requests} || $r{errors} || $r{status};

    die "$name: answers are too short\n"
        if $r{bytes} / $r{requests} < length $server->{body};

    if ($name ne 'static') {
        my $receipts = redis('XLEN', "relay:receipts:{$RELAY}");

        die "$name: $r{requests} reads, $receipts receipts\n"
            if $receipts < $r{requests};
    }

    return {
        rate => $r{requests} / $r{us} * 1e6,
        cpu => $used[0] / $r{requests} * 1e6,
        redis => $used[1] / $r{requests} * 1e6,
        p99 => $r{p99},
    };
}


# Seconds of CPU that a process has used.

sub cpu {
    my ($pid) = @_;

    my @stat = slurp("/proc/$pid/stat") =~ /^\d+ \(.*\) (.+)$/s;

    die "process $pid is gone\n" if !@stat;

    my @fields = split / /, $stat[0];

    return ($fields[11] + $fields[12]) / $TICK;
}


# Seconds of CPU that the machine, or what this run has started, has used.

sub busy {
    my ($line) = slurp('/proc/stat') =~ /^cpu +(.+)$/m;
    my @ticks = split / /, $line;

    # neither idle nor waiting, and not what the hypervisor took

    return ($ticks[0] + $ticks[1] + $ticks[2] + $ticks[5] + $ticks[6]) / $TICK;
}


sub spent {
    my (@names) = @_;

    my $sum = 0;

    $sum += $_ for times();
    $sum += cpu($_) for $servers{redis}{pid},
                        map { $servers{$_}{worker} } @names;

    return $sum;
}


# The first read makes the grant.

sub accept_and_check {
    my ($name) = @_;

    my ($status, $body) = get($name);

    die "$name: $status $body\n" if $status != 200;

    $servers{$name}{body} = $body;
}


# Whatever is measured gives the same view, and makes a receipt of it.

sub check {
    my ($name) = @_;

    my $server = $servers{$name};

    return if !$server->{port};

    my $before = redis('XLEN', "relay:receipts:{$RELAY}");
    my ($status, $body) = get($name);
    my $made = redis('XLEN', "relay:receipts:{$RELAY}") - $before;

    die "$name: $status $body\n" if $status != 200;
    die "$name: $made receipts\n" if $made != ($name eq 'static' ? 0 : 1);

    my $json = JSON::PP->new->canonical->utf8;
    my $expected = $servers{relay} || $servers{bare};

    die "$name: not the same view\n"
        if $json->encode($json->decode($body))
           ne $json->encode($json->decode($expected->{body}));

    $server->{body} = $body;

    return if $name eq 'static';

    # a receipt says the same, but for when, whose and of which bytes

    my ($receipt) = redis('XREVRANGE', "relay:receipts:{$RELAY}", '+', '-',
                          'COUNT', 1) =~ /^(\{.*\})$/m;

    $receipt = $json->decode($receipt);
    delete @{$receipt}{qw(id time bytes digest)};
    $receipt = $json->encode($receipt);

    my $first = $servers{expected}{receipt} //= $receipt;

    die "$name: another receipt:\n$receipt\n$first\n" if $receipt ne $first;
}


# A peer that does not notice a revocation has not done the job.

sub check_revoked {
    relayctl('revoke', $RELAY, '--link', $token);

    for my $name (grep { $servers{$_}{port} && $_ ne 'static' }
                  sort keys %servers)
    {
        my ($status) = get($name);

        die "$name: $status after the revocation\n" if $status != 410;
    }
}


###############################################################################
# what is read, and from where

sub start_redis {
    $sockets = $DIR;
    $sockets = tempdir('relayXXXXXX', TMPDIR => 1, CLEANUP => 1)
        if length("$DIR/redis.sock") > 100;

    store("$DIR/redis.conf", join("\n",
        'port 0', "unixsocket $sockets/redis.sock", 'unixsocketperm 700',
        "dir $DIR", "logfile $DIR/redis.log", 'save ""', 'appendonly no',
        'maxmemory-policy noeviction', ''));

    $servers{redis}{pid} = spawn("$DIR/redis.out", 'redis-server',
                                 "$DIR/redis.conf");

    wait_for(sub { -S "$sockets/redis.sock" })
        or die "redis-server does not start\n";

    wait_for(sub { (eval { redis('PING') } // '') eq 'PONG' })
        or die "redis-server does not answer\n";
}


# The worked example, with as many bytes, and an end that is far away.

sub publish {
    my $text = slurp("$ROOT/schema/examples/pilot.relay.json");

    $text =~ s/("expiresAt":\s*")\d{4}/${1}2999/
        or die "the worked example has no expiresAt\n";

    store("$DIR/package.json", $text);

    relayctl('publish', "$DIR/package.json", '--owner-iss', $ISSUER,
             '--owner-sub', 'leila', '--owner-email',
             'leila@brackwell.example');

    my $json = JSON::PP->new->utf8;

    $token = $json->decode(relayctl('link', $RELAY, '--json'))->{token};

    store("$DIR/keys.json", relayctl(qw(keygen --kty oct --kid bench)));

    chomp($bearer = relayctl('token', '--key', "$DIR/keys.json",
        '--iss', $ISSUER, '--aud', $AUDIENCE, '--sub', 'tomas',
        '--email', $READER, '--name', 'Tomas Lindqvist', '--ttl', '12h'));

    # on no command line

    store("$DIR/load.lua", <<"END");
wrk.headers["Authorization"] = "Bearer $bearer"

done = function(summary, latency)
    local e = summary.errors

    io.write(("figure requests %d\\nfigure us %d\\nfigure bytes %d\\n"):format(
             summary.requests, summary.duration, summary.bytes))
    io.write(("figure errors %d\\nfigure status %d\\nfigure p99 %d\\n"):format(
             e.connect + e.read + e.write + e.timeout, e.status,
             latency:percentile(99)))
end
END
}


sub static_conf {
    return ('', <<"END");
    sendfile on;
    tcp_nopush on;
    open_file_cache max=16 inactive=1h;
    open_file_cache_valid 1h;

    server {
        listen 127.0.0.1:%%PORT%%;
        default_type application/json;
        root $DIR;
    }
END
}


sub relay_conf {
    my ($zone) = @_;

    my $cache = $zone ? "relay_zone views:16m;" : '';

    return ("load_module $ROOT/build/nginx/ngx_http_relay_module.so;", <<"END");
    $cache
    relay_safety off;
    relay_redis unix:$sockets/redis.sock;
    relay_jwt_keys $DIR/keys.json issuer=$ISSUER audience=$AUDIENCE
                   email=trusted;

    server {
        listen 127.0.0.1:%%PORT%%;

        location ~ ^/r/(?<relay_token>[^/]+)\$ {
            relay_link \$relay_token;
            relay_package on;
        }
    }
END
}


sub lua_conf {
    my (%o) = @_;

    my $modules = '/usr/lib/nginx/modules';
    my ($cached, $guarded) =
        map { $o{$_} ? 'true' : 'false' } qw(cached guarded);

    return (<<"END1", <<"END2");
load_module $modules/ndk_http_module.so;
load_module $modules/ngx_http_lua_module.so;
pcre_jit on;
END1
    lua_package_path "$ROOT/t/bench/?.lua;;";
    lua_shared_dict views 16m;
    lua_shared_dict tokens 1m;
    lua_socket_pool_size 64;

    init_by_lua_block {
        require("peer").setup {
            redis = "unix:$sockets/redis.sock",
            prefix = "relay:",
            script = "$ROOT/schema/redis/serve.lua",
            keys = "$DIR/keys.json",
            issuer = "$ISSUER",
            audience = "$AUDIENCE",
            bound = 0.9,
            cached = $cached,
            guarded = $guarded,
        }
    }

    init_worker_by_lua_block {
        require("peer").start()
    }

    server {
        listen 127.0.0.1:%%PORT%%;
        default_type application/json;

        add_header Cache-Control "private, no-store" always;
        add_header Referrer-Policy no-referrer always;
        add_header X-Content-Type-Options nosniff always;
        add_header Content-Security-Policy
                   "default-src 'none'; frame-ancestors 'none'" always;
        add_header Vary "Authorization, Cookie" always;

        location /r/ {
            content_by_lua_block {
                require("peer").read()
            }
        }
    }
END2
}


# An nginx of its own for each, all of them alive at the same time.

sub start {
    my ($name, $what, $globals, $http) = @_;

    my $dir = "$DIR/$name";
    my $port = free_port();
    my $user = $> == 0 ? "user root root;\n" : '';
    my $temp = join '', map { "    ${_}_temp_path $dir/$_;\n" }
                            qw(client_body proxy fastcgi uwsgi scgi);

    make_path($dir);
    $http =~ s/%%PORT%%/$port/;

    store("$dir/nginx.conf", <<"END");
$globals
$user
pid $dir/nginx.pid;
error_log $dir/error.log warn;
worker_processes 1;
daemon off;

events {
    worker_connections 1024;
}

http {
    access_log off;
    keepalive_requests 1000000000;
    keepalive_timeout 1h;
$temp
$http
}
END

    my $master = spawn("$dir/nginx.out", nginx(), '-p', "$dir/", '-e',
                       "$dir/error.log", '-c', "$dir/nginx.conf");
    my $worker;

    wait_for(sub { ($worker) = workers($master) })
        or die "$name: nginx does not start:\n", slurp("$dir/nginx.out"),
               slurp("$dir/error.log");

    wait_for(sub {
        IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port)
    }) or die "$name: nobody listens\n";

    $servers{$name} = {
        what => $what,
        worker => $worker,
        port => $port,
        path => "/r/$token",
    };
}


sub workers {
    my ($master) = @_;

    my @pids;

    for my $stat (glob('/proc/[0-9]*/stat')) {
        my ($pid, $ppid) = slurp($stat) =~ /^(\d+) \(.*\) \S (\d+) /s;

        next if !$pid || $ppid != $master;
        next if slurp("/proc/$pid/cmdline") !~ /^nginx: worker/;

        push @pids, $pid;
    }

    return @pids;
}


sub get {
    my ($name) = @_;

    my $server = $servers{$name};
    my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1', Timeout => 5,
                                  PeerPort => $server->{port})
        or die "$name: nobody listens\n";

    print $s "GET $server->{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        . "Authorization: Bearer $bearer\r\nConnection: close\r\n\r\n";

    local $/;
    my ($head, $body) = split /\r\n\r\n/, <$s> // '', 2;

    my ($status) = ($head // '') =~ m{^HTTP/1\.1 (\d+)};

    # the peer's refusals are chunked; nobody looks at them

    return ($status // 0, $body // '');
}


sub redis {
    my $out = output('redis-cli', '--raw', '-s', "$sockets/redis.sock", @_);

    chomp $out;

    return $out;
}


sub relayctl {
    my ($command, @args) = @_;

    return output('sh', '-c', 'exec "$@" 2>> "$0"', "$DIR/relayctl.err",
                  "$ROOT/build/relayctl", $command,
                  $command eq 'keygen' || $command eq 'token'
                  ? () : ('--redis', "unix:$sockets/redis.sock"), @args);
}


###############################################################################

sub installed {
    my ($set) = @_;

    my @packages = ref $LIBRARY{$set} ? @{$LIBRARY{$set}} : ($LIBRARY{$set});

    for my $package (@packages) {
        my $status = qx(dpkg-query -W -f '\${db:Status-Status}' \Q$package\E \\
                        2>/dev/null);

        return 0 if $status ne 'installed';
    }

    return 1;
}


sub nginx {
    for my $dir (split(/:/, $ENV{PATH}), '/usr/sbin') {
        return "$dir/nginx" if -x "$dir/nginx";
    }

    die "nginx is not installed\n";
}


sub median {
    my @sorted = sort { $a <=> $b } @_;
    my $half = int(@sorted / 2);

    return @sorted % 2 ? $sorted[$half]
        : ($sorted[$half - 1] + $sorted[$half]) / 2;
}


sub run {
    my (@cmd) = @_;

    system { $cmd[0] } @cmd;
    die "$cmd[0] failed\n" if $?;
}


sub output {
    my (@cmd) = @_;

    open my $fh, '-|', @cmd or die "$cmd[0]: $!\n";
    local $/;
    my $out = <$fh> // '';
    close $fh or die "$cmd[0] failed: $out\n";

    return $out;
}


sub spawn {
    my ($out, @cmd) = @_;

    my $pid = fork() // die "fork: $!\n";

    if ($pid == 0) {
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', $out;
        open STDERR, '>&', \*STDOUT;
        $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP PIPE);
        exec { $cmd[0] } @cmd or POSIX::_exit(127);
    }

    push @children, $pid;

    return $pid;
}


sub free_port {
    my $s = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1)
        or die "no free port: $!\n";

    return $s->sockport;
}


sub wait_for {
    my ($code) = @_;

    for (1 .. 200) {
        my $value = $code->();
        return $value if $value;
        sleep(0.05);
    }

    return;
}


sub slurp {
    my ($file) = @_;

    open my $fh, '<', $file or return '';
    binmode $fh;
    local $/;

    return <$fh> // '';
}


sub store {
    my ($file, $text) = @_;

    umask 077;

    open my $fh, '>', $file or die "$file: $!\n";
    binmode $fh;
    print $fh $text;
    close $fh or die "$file: $!\n";
}


END {
    my $rc = $?;

    kill('TERM', @children) if @children;

    for my $pid (@children) {
        waitpid($pid, 0);
    }

    $? = $rc == 0 || $rc == 1 ? $rc : 2;
}

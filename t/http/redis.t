#!/usr/bin/perl

# Redis killed, frozen, refusing, talking garbage: 503 within the deadline, the
# worker lives, recovers by itself, and nothing is served in between.

use strict;
use warnings;

use lib 't/lib';

use Relay::Test;
use Test::More;
use Time::HiRes qw(sleep time);

my $t = Relay::Test->new(timeout => 180, server => <<'EOC');
    relay_jwt_keys %%KEYS%% issuer=https://id.example
                   audience=https://edge.example email=trusted;
    add_header X-Reason $relay_reason always;

    location ~ ^/r/(?<t1>[^/]+)$ {
        relay_redis %%REDIS%% connect_timeout=300ms command_timeout=300ms
                    backoff=200ms;
        relay_link $t1;
        relay_package on;
    }

    location ~ ^/fake/(?<t2>[^/]+)$ {
        relay_redis redis://127.0.0.1:%%PORT1%% connect_timeout=300ms
                    command_timeout=300ms backoff=100ms reply_max=64k;
        relay_link $t2;
        relay_package on;
    }

    location ~ ^/nobody/(?<t3>[^/]+)$ {
        relay_redis redis://127.0.0.1:%%PORT2%% command_timeout=300ms;
        relay_link $t3;
        relay_package on;
    }

    location /alive { return 200 "alive"; }
EOC

my $id = $t->publish();
my $link = $t->link();
my $bearer = $t->token();

$t->allow(qr/Redis/);
$t->run();

my ($worker) = $t->workers();


sub is_refused {
    my ($path, $name, $reasons) = @_;

    my $start = time();
    my $r = $t->get($path, -bearer => $bearer);
    my $took = time() - $start;

    is($r->status, 503, "$name: 503");
    like($r->header('X-Reason') // '', $reasons
         // qr/^(?:store|receipt)_unavailable$/, "$name: the reason");
    ok($r->header('Retry-After'), "$name: Retry-After");
    unlike($r->raw, qr/Norrvik/, "$name: nothing of the content");

    # the deadline is 300 ms; the machine may be busy

    cmp_ok($took, '<', 5, "$name: in time");

    return $r;
}


sub recovers {
    my ($name) = @_;

    ok($t->wait_for(sub {
        $t->get("/r/$link", -bearer => $bearer)->status == 200;
    }, 10), "$name: recovered by itself");
}


is($t->get("/r/$link", -bearer => $bearer)->status, 200, 'served');

$t->redis_pause();
is_refused("/r/$link", 'frozen');
is_refused("/r/$link", 'still frozen');
$t->redis_resume();
recovers('frozen');

my $file = $t->redis('CONFIG', 'GET', 'dir')->[1];

$t->redis('SAVE');
$t->redis_kill();
is_refused("/r/$link", 'killed');
is_refused("/r/$link", 'still killed');
$t->redis_start();
recovers('killed');

is_refused("/nobody/$link", 'nobody listens');

# what a Redis in trouble answers

$t->redis('CONFIG', 'SET', 'min-replicas-to-write', 1);
is_refused("/r/$link", '-NOREPLICAS', qr/^receipt_unavailable$/);
$t->redis('CONFIG', 'SET', 'min-replicas-to-write', 0);
is($t->get("/r/$link", -bearer => $bearer)->status, 200, 'writable again');

$t->redis('REPLICAOF', '127.0.0.1', '1');
is_refused("/r/$link", '-READONLY');
$t->redis('REPLICAOF', 'NO', 'ONE');
is($t->get("/r/$link", -bearer => $bearer)->status, 200, 'master again');

my %fakes = (
    '-LOADING' => sub { "-LOADING Redis is loading the dataset\r\n" x $_[0] },
    'NOAUTH' => sub { "-NOAUTH Authentication required.\r\n" x $_[0] },
    '-READONLY' => sub { "-READONLY You can't write\r\n" x $_[0] },
    'garbage' => sub { "\x00\x01\xffgarbage" x 20 . "\r\n" },
    'HTTP' => sub { "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" },
    'unsolicited' => sub { "+OK\r\n" x ($_[0] + 5) },
    'endless bulk' => sub { "\$2000000000\r\n" . 'x' x 200000 },
    'endless array' => sub { "*1000000000\r\n" . ":1\r\n" x 1000 },
    'deep array' => sub { "*1\r\n" x 1000 },
    'wrong types' => sub { ":1\r\n" x $_[0] },
    'nothing' => sub { '' },
    'end of file' => undef,
    'RESP3' => sub { "%1\r\n+a\r\n+b\r\n" x $_[0] },
);

for my $name (sort keys %fakes) {
    my $answer = $fakes{$name};

    my $pid = $t->run_daemon(sub {
        my $listener = $t->listener($t->port(1));

        while (my $client = $listener->accept()) {
            while (sysread($client, my $buf, 65536)) {
                last if !$answer;
                my $n = () = $buf =~ /^\*\d+\r$/mg;
                my $out = $answer->($n);
                last if !defined syswrite($client, $out);
            }
            close $client;
        }
    });

    $t->wait_for_socket($t->port(1));

    for my $round (1 .. 3) {
        my $r = $t->get("/fake/$link", -bearer => $bearer);
        is($r->status, 503, "$name, $round: 503");
        unlike($r->raw, qr/Norrvik/, "$name, $round: nothing served");
    }

    $t->stop_daemon($pid);

    is($t->get('/alive')->body, 'alive', "$name: the worker lives");
}

is(join(' ', $t->workers()), $worker, 'the same worker all along');
is($t->get("/r/$link", -bearer => $bearer)->status, 200, 'and it serves');

unlike($t->error_log(), qr/exited on signal/, 'no worker died');

$t->stop();
done_testing();

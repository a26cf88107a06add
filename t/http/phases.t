#!/usr/bin/perl

# limit_req and limit_conn answer before anything is decided: their status and
# Retry-After are kept, no byte of content leaves, no log line holds the token,
# and neither a grant nor a receipt comes of it.

use strict;
use warnings;

use lib 't/lib';

use Relay::Test;
use Test::More;

my $t = Relay::Test->new(workers => 1, http => <<'EOC');
    log_format all '$status $relay_decision $relay_reason $request '
                   '$request_uri $uri $args $http_referer';
    access_log %%DIR%%/all.log all;

    limit_req_zone $server_port zone=req:64k rate=1r/m;
    limit_req_zone $uri zone=byuri:64k rate=1r/m;
    limit_req_zone $server_port zone=slow:64k rate=10r/s;
    limit_conn_zone $server_port zone=conn:64k;

    relay_redis %%REDIS%% command_timeout=60s;
    relay_jwt_keys %%KEYS%% issuer=https://id.example
                   audience=https://edge.example email=trusted;

    server {
        listen 127.0.0.1:%%PORT%%;
        listen 127.0.0.1:%%PORT1%% http2;

        add_header Retry-After 30 always;
        add_header X-Decision $relay_decision always;

        location ~ ^/req/(?<t1>.*)$ {
            limit_req zone=req;
            relay_link $t1;
            relay_package on;
        }

        location ~ ^/status/(?<t2>.*)$ {
            limit_req zone=req;
            limit_req_status 429;
            relay_link $t2;
            relay_package on;
        }

        location ~ ^/page/(?<t3>.*)$ {
            limit_req zone=req;
            error_page 503 /secret.html;
            relay_link $t3;
            relay_package on;
        }

        location ~ ^/byuri/(?<t4>.*)$ {
            limit_req zone=byuri;
            relay_link $t4;
            relay_package on;
        }

        location ~ ^/slow/(?<t5>.*)$ {
            limit_req zone=slow burst=5;
            relay_link $t5;
            relay_package on;
        }

        location ~ ^/conn/(?<t6>.*)$ {
            limit_conn conn 1;
            relay_link $t6;
            relay_package on;
        }

        location = /secret.html { }
    }
EOC

$t->write_file('html/secret.html', 'SECRET FILE');

my $id = $t->publish();
my $link = $t->link();
my $bearer = $t->token();

$t->run();


sub reads { return scalar(grep { $_->{kind} ne 'act' } $t->receipts($id)) }

sub grants { return scalar(@{$t->redis('KEYS', 'relay:{*:g:*')}) }


sub is_limited {
    my ($r, $status, $name) = @_;

    is($r->status, $status, "$name: its own status");
    is($r->header('Retry-After'), 30, "$name: Retry-After is kept");
    is($r->header('X-Decision'), 'undecided', "$name: nothing is decided");
    like($r->header('Cache-Control') // '', qr/no-store/, "$name: not stored");
    like($r->body, qr/^\{"error":\{"status":$status,/, "$name: a fixed body");
    unlike($r->raw, qr/Norrvik|Brackwell|SECRET|\Q$link\E/,
           "$name: no content, no token");

    return;
}


for my $round ('started', 'reloaded') {
    my ($n, $grants) = (reads(), grants());

    # the first one is let through, to a link that nobody knows

    if ($round eq 'started') {
        is($t->get('/req/' . 'x' x 43, -bearer => $bearer)->status, 404,
           'one is let through');
    }

    is_limited($t->get("/req/$link", -bearer => $bearer), 503,
               "$round: limit_req");
    is_limited($t->get("/req/$link"), 503, "$round: limit_req, nobody");
    is_limited($t->get("/status/$link", -bearer => $bearer), 429,
               "$round: limit_req_status");
    is_limited($t->get("/page/$link", -bearer => $bearer), 503,
               "$round: an error page");
    is_limited($t->get("/req/$link", -bearer => $bearer,
                       Referer => "https://x.example/r/$link"), 503,
               "$round: the token in a Referer");

    my $head = $t->request('HEAD', "/req/$link", -bearer => $bearer);
    is($head->status, 503, "$round: HEAD");
    is($head->header('Retry-After'), 30, "$round: HEAD: Retry-After");
    is($head->body, '', "$round: HEAD: no body");

    SKIP: {
        skip 'nginx has no http_v2_module', 6 if !$t->has_module('http_v2');

        # the zone's key is the port: one more comes through there

        $t->h2('GET', '/req/' . 'x' x 43, -port => $t->port(1),
               -bearer => $bearer);
        is_limited($t->h2('GET', "/req/$link", -port => $t->port(1),
                          -bearer => $bearer), 503, "$round: HTTP/2");
    }

    is(reads(), $n, "$round: no receipt of a read or a denial");
    is(grants(), $grants, "$round: no grant");

    $t->reload() if $round eq 'started';
}

# what is let through is decided as ever

is($t->get("/slow/$link", -bearer => $bearer)->status, 200, 'within the rate');

my @waiting = map { $t->send_request('GET', "/slow/$link", -bearer => $bearer) }
              1 .. 3;

is($t->read_response($_)->status, 200, 'delayed and served') for @waiting;
is(grants(), 1, 'a grant');
is(reads(), 5, 'a receipt each, and one of the acceptance');

# the URI that is a zone's key is the redacted one: one key for all tokens

is($t->get("/byuri/$link", -bearer => $bearer)->status, 200,
   'a key of the URI');
is_limited($t->get('/byuri/' . 'y' x 43, -bearer => $bearer), 503,
           'another token, the same key');

# limit_conn: the first one waits for Redis

my $n = reads();

$t->redis_pause();

my $first = $t->send_request('GET', "/conn/$link", -bearer => $bearer);

$t->wait_for(sub {
    my $r = $t->get('/conn/' . 'z' x 43);
    return $r->status == 503;
}) or die "limit_conn does not limit\n";

is_limited($t->get("/conn/$link", -bearer => $bearer), 503, 'limit_conn');
is_limited($t->get("/conn/$link"), 503, 'limit_conn, nobody');

$t->redis_resume();

my $r = $t->read_response($first);

is($r->status, 200, 'the one that waited is served');
like($r->body, qr/Norrvik/, 'its view');
is(reads(), $n + 1, 'and it alone has a receipt');

# what the modules log

$t->signal('USR1');

my $log = $t->error_log();

like($log, qr/limiting requests, excess: .*zone "req"/, 'limit_req has logged');
like($log, qr/limiting connections by zone "conn"/, 'limit_conn has logged');
like($t->read_file($t->dir() . '/all.log'),
     qr/^503 undecided /m, 'so has nginx');

unlike($t->read_file($t->dir() . "/$_"), qr/\Q$link\E|x{43}|y{43}|z{43}/,
       "$_: no token") for qw(error.log all.log);

$t->stop();
done_testing();

#!/usr/bin/perl

# Every decision is counted, by all workers, whoever asked; a reload keeps the
# counters.

use strict;
use warnings;

use lib 't/lib';

use JSON::PP ();
use Relay::Test;
use Test::More;

my $t = Relay::Test->new(workers => 2, http => <<'EOC');
    relay_zone views:1m;

    server {
        listen 127.0.0.1:%%PORT%%;

        location ~ ^/r/(?<t1>.*)$ {
            %%RELAY%%
            relay_link $t1;
            relay_package on;
        }

        location ~ ^/dry/(?<t2>.*)$ {
            %%RELAY%%
            relay_link $t2;
            relay_dry_run on;
            empty_gif;
        }

        location = /metrics { relay_metrics; }
        location = /metrics.json { relay_metrics json; }
    }
EOC

my $id = $t->publish();
my $link = $t->link();
my $bearer = $t->token();

$t->run();

sub metrics { return $t->get('/metrics.json')->json }

my $r = $t->get('/metrics');

is($r->status, 200, 'Prometheus');
is($r->header('Content-Type'), 'text/plain; version=0.0.4; charset=utf-8',
   'its type');

for my $line (split /\n/, $r->body) {
    next if $line =~ /^# HELP relay_\w+_total \S/;
    next if $line =~ /^# TYPE relay_\w+_total counter$/;
    like($line, qr/^relay_\w+_total(?:\{\w+="\w+",\w+="yes"\})? 0$/,
         'a counter, at 0');
}

$t->get("/r/$link");
$t->get('/r/short');
$t->get('/r/' . 'A' x 43, -bearer => $bearer);
$t->get("/r/$link", -bearer => 'a.b.c');
$t->get("/r/$link", -bearer => $t->token_of('bram@elsewhere.example'));
$t->get("/r/$link", -bearer => $bearer) for 1 .. 20;
$t->get("/dry/$link");

my $m = metrics();

is($m->{decisions}{sign_in}, 1, 'nobody');
is($m->{decisions}{unknown_link}, 2, 'no token, and none that there is');
is($m->{decisions}{bad_token}, 1, 'a token that does not hold');
is($m->{decisions}{not_named}, 1, 'another person');
is($m->{decisions}{accepted}, 1, 'the first read');
is($m->{decisions}{served}, 19, 'the others');
is($m->{views_kept} + $m->{views_projected}, 20, 'a view for each');
ok($m->{records_remembered} >= 17, 'most from memory')
    or diag($m->{records_remembered});

is($m->{not_enforced}{sign_in}, 1, 'relay_dry_run apart');
is($m->{receipts_not_recorded}, 0, 'each receipt is recorded');

$t->reload();
is_deeply(metrics(), $m, 'a reload keeps them');

$t->redis('HSET', "relay:{$id}", 'epoch', 50);
$t->get("/r/$link", -bearer => $bearer) for 1 .. 4;
$t->redis('HSET', "relay:{$id}", 'epoch', 51);
$t->get("/r/$link", -bearer => $bearer) for 1 .. 4;
ok(metrics()->{records_stale} >= 1, 'records that had changed');

$t->revoke('--link', $link);
$t->get("/r/$link", -bearer => $bearer);
is(metrics()->{decisions}{revoked}, 1, 'revoked');

like($t->get('/metrics')->body,
     qr/^relay_decisions_total\{reason="served",enforced="yes"\} 27$/m,
     'the same numbers as text');

is($t->request('POST', '/metrics')->status, 405, 'POST');
is($t->request('HEAD', '/metrics')->body, '', 'HEAD');

for (['relay_metrics yes;', qr/"yes" in "relay_metrics": it is "prometheus"/],
     ['relay_metrics; relay_metrics;', qr/"relay_metrics" directive is dup/])
{
    my ($line, $says) = @$_;

    my ($ok, $said) = $t->conf_test("%%GLOBALS%%\nevents {\n}\n\nhttp {\n"
        . "    %%GLOBALS_HTTP%%\n    server { location / { $line } }\n}\n");

    ok(!$ok, $line);
    like($said, $says, 'says why');
}

$t->stop();
done_testing();

#!/usr/bin/perl

# Nothing that a client or another directive does yields a byte that a plain GET
# would not, or a read without a receipt.

use strict;
use warnings;

use lib 't/lib';

use Relay::Test;
use Test::More;

my $t = Relay::Test->new(http => <<'EOC');
    log_format all '$request $request_uri $uri $args $http_referer $status '
                   '$relay_decision $relay_reason $relay_id $relay_reader';
    access_log %%DIR%%/all.log all;

    server {
        listen 127.0.0.1:%%PORT%%;
        listen 127.0.0.1:%%PORT1%% http2;

        %%RELAY%%
        ssi_types text/html;

        location ~ ^/r/(?<t1>.*)$ {
            relay_link $t1;
            relay_package on;
        }

        location ~ ^/errors/(?<t2>[^/]+)$ {
            relay_link $t2;
            relay_package on;
            error_page 401 403 404 410 502 503 =200 /secret.html;
        }

        location ~ ^/any/(?<t3>[^/]+)$ {
            satisfy any;
            allow all;
            relay_link $t3;
            relay_package on;
        }

        location ~ ^/try/(?<t4>[^/]+)$ {
            relay_link $t4;
            relay_package on;
            try_files /secret.html =404;
        }

        location ~ ^/named/(?<t5>[^/]+)$ {
            relay_link $t5;
            relay_package on;
            error_page 403 = @inside;
        }

        location @inside { root %%DIR%%/html; try_files /secret.html =404; }

        location /query {
            relay_link $arg_t;
            relay_package on;
        }

        location /deny/ {
            deny all;
            relay_link $arg_t;
            relay_package on;
        }

        location = /secret.html { }
        location = /ssi.html { ssi on; }

        location ~ ^/dry/ {
            relay_link $arg_t;
            relay_dry_run on;
            root %%DIR%%/html;
            rewrite ^ /secret.html break;
        }
    }
EOC

$t->write_file('html/secret.html', 'SECRET FILE');

my $id = $t->publish();
my $link = $t->link();
my $tomas = $t->token();
my $zoe = $t->token_of('zoe@calder.example');

$t->write_file('html/ssi.html',
               qq(<!--#include virtual="/r/$link" -->after));
$t->run();

sub reads { return scalar(grep { $_->{kind} eq 'read' } $t->receipts($id)) }

my $plain = $t->get("/r/$link", -bearer => $tomas);
is($plain->status, 200, 'a plain GET');
is($plain->header('Cache-Control'), 'private, no-store', 'Cache-Control');
is($plain->header('Referrer-Policy'), 'no-referrer', 'Referrer-Policy');
ok(!defined $plain->header($_), "no $_")
    for qw(ETag Last-Modified Accept-Ranges);

my $n = reads();

for my $case (
    ['Range', 'Range' => 'bytes=0-10'],
    ['Range and If-Range', 'Range' => 'bytes=5-', 'If-Range' => '"x"'],
    ['If-None-Match', 'If-None-Match' => '*'],
    ['If-Match', 'If-Match' => '"nothing"'],
    ['If-Modified-Since',
     'If-Modified-Since' => 'Wed, 01 Jan 2053 00:00:00 GMT'],
    ['If-Unmodified-Since',
     'If-Unmodified-Since' => 'Wed, 01 Jan 2003 00:00:00 GMT'],
    ['Accept-Encoding', 'Accept-Encoding' => 'gzip'],
    ['Upgrade', 'Upgrade' => 'websocket', 'Connection' => 'close, upgrade'],
) {
    my ($name, @headers) = @$case;
    my $r = $t->get("/r/$link", -bearer => $tomas, @headers);

    is($r->status, 200, "$name: 200");
    is($r->body, $plain->body, "$name: the whole view");
    is(reads(), ++$n, "$name: a receipt");

    $r = $t->get("/r/$link", -bearer => $zoe, @headers);
    is($r->status, 403, "$name: 403 for another");
    unlike($r->raw, qr/Norrvik/, "$name: nothing of the content");
}

my $head = $t->request('HEAD', "/r/$link", -bearer => $tomas);
is($head->status, 200, 'HEAD');
is($head->body, '', 'HEAD has no body');
is(reads(), ++$n, 'HEAD: a receipt');
is(($t->receipts($id))[-1]{method}, 'HEAD', 'which says HEAD');

for my $method (qw(TRACE PUT DELETE OPTIONS PATCH)) {
    # nginx refuses TRACE before it has a location, and logs it as it came

    my $token = $method eq 'TRACE' ? 'T' x 43 : $link;
    my $r = $t->request($method, "/r/$token", -bearer => $tomas);
    is($r->status, 405, "$method: 405");
    unlike($r->raw, qr/Norrvik/, "$method: nothing of the content");
}

for my $path ("/r/$link/", "/r/$link/x.css", "/r/$link%2fx", "/r/$link;a",
              "/r/$link.json", "/r//$link/..")
{
    my $r = $t->get($path, -bearer => $tomas);
    cmp_ok($r->status, '>=', 400, "$path: " . $r->status)
        or diag $r->raw;
    unlike($r->raw, qr/Brackwell/, "$path: nothing of the content");
}

is(reads(), $n, 'none of these was a read');

for my $path (qw(errors any try named)) {
    my $r = $t->get("/$path/$link");
    is($r->status, 401, "$path: no identity");
    unlike($r->raw, qr/SECRET|Norrvik/, "$path: nothing leaks");

    $r = $t->get("/$path/$link", -bearer => $zoe);
    is($r->status, 403, "$path: another reader");
    unlike($r->raw, qr/SECRET|Norrvik/, "$path: nothing leaks");
}

for my $path (qw(errors any)) {
    is($t->get("/$path/$link", -bearer => $tomas)->body, $plain->body,
       "$path: the named reader");
    $n++;
}

is(reads(), $n, 'each with its receipt');

my $r = $t->get("/deny/?t=$link", -bearer => $tomas);
is($r->status, 403, 'deny all: its own 403');
unlike($r->raw, qr/Norrvik/, 'deny all: no byte of content');
is(reads(), $n, 'deny all: no read');

# a subrequest decides for itself

$r = $t->get('/ssi.html');
is($r->status, 200, 'SSI page');
unlike($r->raw, qr/Brackwell/, 'an include without identity shows nothing');
is(reads(), $n, 'and is no read');

$r = $t->get('/ssi.html', -bearer => $tomas);
$n += $r->raw =~ /Brackwell/ ? 1 : 0;
is(reads(), $n, 'an include that shows the relay has its receipt');

is($t->get("/query?t=$link", -bearer => $tomas)->body, $plain->body,
   'a token in the query');
is($t->get("/query?t=$link", -bearer => $tomas,
           Referer => "http://localhost/r/$link")->status, 200, 'a Referer');
$n += 2;

$r = $t->get("/dry/?t=$link", -bearer => $zoe);
is($r->body, 'SECRET FILE', 'relay_dry_run enforces nothing');
like($t->error_log(), qr/relay would deny: not_named/,
     'and says what it would');

# HTTP/2

SKIP: {
    skip "nginx has no http_v2_module", 4
        if !$t->has_module('http_v2');

    $r = $t->h2("GET", "/r/$link", -port => $t->port(1), -bearer => $tomas);
    is($r->status, 200, 'HTTP/2: served');
    is($r->body, $plain->body, 'HTTP/2: the same view');
    $n++;

    $r = $t->h2("GET", "/r/$link", -port => $t->port(1), -bearer => $zoe);
    is($r->status, 403, 'HTTP/2: another reader');
    is(reads(), $n, 'HTTP/2: one receipt');
}

is(scalar(grep { $_->{kind} eq 'undelivered' } $t->receipts($id)), 0,
   'all of it was delivered');

# keep-alive goes on after a denial

my $socket = $t->connect();
print $socket "GET /r/$link HTTP/1.1\r\nHost: localhost\r\n\r\n"
    . "GET /r/$link HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    . "Authorization: Bearer $tomas\r\n\r\n";
my $both = '';
1 while sysread($socket, $both, 65536, length $both);
like($both, qr{^HTTP/1\.1 401 .*HTTP/1\.1 200 }s, 'pipelined: 401, then 200');

# no log holds the token

$t->signal('USR1');

for my $log (qw(error.log access.log all.log)) {
    unlike($t->read_file($t->dir() . "/$log"), qr/\Q$link\E/,
           "$log: no link token");
}

$t->stop();
done_testing();

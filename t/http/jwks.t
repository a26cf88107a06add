#!/usr/bin/perl

# Keys behind a location: fetched once for all who need them, refreshed, renewed
# for an unknown kid no more often than allowed, used while the provider is
# away and no longer than that, and never replaced by what is not a key set.

use strict;
use warnings;

use lib 't/lib';

use IO::Select;
use Relay::Test;
use Test::More;
use Time::HiRes qw(sleep time);

my $t = Relay::Test->new(timeout => 240, http => <<'EOC');
    relay_redis %%REDIS%%;
    proxy_cache_path %%DIR%%/cache keys_zone=keys:1m;
    add_header X-Reason $relay_reason always;
    add_header X-Agent $http_user_agent always;

    server {
        listen 127.0.0.1:%%PORT%%;
        listen 127.0.0.1:%%PORT2%% http2;

        # what a client sends is of no concern to the provider

        location = /_jwks {
            internal;
            proxy_pass http://127.0.0.1:%%PORT1%%/keys;
            proxy_set_header X-Host $host;
            proxy_set_header X-Request $request_uri;
            proxy_set_header X-Agent $http_user_agent;
            proxy_set_header X-Token $relay_token;
        }

        location = /_cold {
            internal;
            proxy_pass http://127.0.0.1:%%PORT1%%/cold;
        }

        location = /_unbuffered {
            internal;
            proxy_pass http://127.0.0.1:%%PORT1%%/unbuffered;
            proxy_buffering off;
        }

        location = /_flat {
            internal;
            alias %%DIR%%/html/flat.json;
        }

        location = /_backup {
            internal;
            proxy_pass http://127.0.0.1:%%PORT3%%;
            error_page 502 504 = /_flat;
        }

        location = /_cached {
            internal;
            proxy_pass http://127.0.0.1:%%PORT1%%/cached;
            proxy_cache keys;
            proxy_cache_valid 200 1h;
        }

        location = /_gated {
            relay_jwt_keys %%KEYS%% issuer=https://id.example
                           audience=https://edge.example;
            relay_link $uri;
            relay_package on;
        }

        # far from any time of its own: a new kid alone asks again

        location ~ ^/r/(?<relay_token>[^/]+)$ {
            relay_jwt_keys uri=/_jwks issuer=https://id.example
                           audience=https://edge.example email=trusted
                           cooldown=200ms;
            relay_link $relay_token;
            relay_package on;
        }

        location ~ ^/short/(?<relay_token>[^/]+)$ {
            relay_jwt_keys uri=/_jwks issuer=https://id.example
                           audience=https://edge.example email=trusted
                           refresh=300ms cooldown=100ms timeout=10s;
            relay_link $relay_token;
            relay_package on;
        }

        location ~ ^/brief/(?<relay_token>[^/]+)$ {
            relay_jwt_keys uri=/_jwks issuer=https://id.example
                           audience=https://edge.example email=trusted
                           refresh=100ms stale=300ms cooldown=100ms timeout=10s;
            relay_link $relay_token;
            relay_package on;
        }

        location ~ ^/cold/(?<relay_token>[^/]+)$ {
            relay_jwt_keys uri=/_cold issuer=https://id.example
                           audience=https://edge.example email=trusted
                           cooldown=50ms timeout=10s;
            relay_link $relay_token;
            relay_package on;
        }

        location ~ ^/unbuffered/(?<relay_token>[^/]+)$ {
            relay_jwt_keys uri=/_unbuffered issuer=https://id.example
                           audience=https://edge.example email=trusted
                           cooldown=50ms timeout=3s;
            relay_link $relay_token;
            relay_package on;
        }

        location ~ ^/(?<where>flat|backup|cached|gated|none)/(?<token>[^/]+)$ {
            relay_jwt_keys uri=/_flat issuer=https://id.example
                           audience=https://edge.example email=trusted;
            relay_link $token;
            relay_package on;

            location ~ ^/backup {
                relay_jwt_keys uri=/_backup issuer=https://id.example
                               audience=https://edge.example email=trusted;
            }

            location ~ ^/cached {
                relay_jwt_keys uri=/_cached issuer=https://id.example
                               audience=https://edge.example email=trusted;
            }

            location ~ ^/gated {
                relay_jwt_keys uri=/_gated issuer=https://id.example
                               audience=https://edge.example email=trusted;
            }

            location ~ ^/none {
                relay_jwt_keys uri=/_none issuer=https://id.example
                               audience=https://edge.example email=trusted;
            }
        }

        # a gated location as a subrequest, and after a redirect

        location ~ ^/asks/(?<relay_token>[^/]+)$ {
            auth_request /_asked;
            root %%DIR%%/html;
            try_files /x =404;
        }

        location = /_asked {
            internal;
            relay_jwt_keys uri=/_cold issuer=https://id.example
                           audience=https://edge.example email=trusted
                           cooldown=50ms timeout=10s;
            relay_link $relay_token;
            relay_package on;
        }

        location ~ ^/moved/(?<relay_token>[^/]+)$ {
            error_page 404 = /cold/$relay_token;
            return 404;
        }
    }
EOC

my $id = $t->publish();
my $link = $t->link();
my $n = 0;

my %good = (k1 => $t->token(), e1 => $t->token(-alg => 'ES256'));

$good{$_} = $t->token(-alg => 'ES256', -kid => $_,
                      -key => $t->private_key($_)) for qw(e2 e3);

$t->write_file('html/x', 'content');
$t->write_file('html/flat.json', $t->jwks('e1'));


###############################################################################
# the provider: what it answers stands in a file, the first line of which says
# after how many seconds; what it was asked, in another

sub answers {
    my ($body, %o) = @_;

    my $head = join '', map { "$_\r\n" }
        'HTTP/1.1 ' . ($o{status} // '200 OK'), 'Connection: close',
        'Content-Type: application/jwk-set+json',
        defined $o{length} && $o{length} eq ''
            ? () : 'Content-Length: ' . ($o{length} // length $body),
        @{$o{headers} // []};

    $t->write_file('answer.new', ($o{delay} // 0) . "\n$head\r\n$body");
    rename $t->dir() . '/answer.new', $t->dir() . '/answer';
}


sub provider {
    my $listener = $t->listener($t->port(1));

    local $SIG{CHLD} = 'IGNORE';

    while (1) {
        my $client = $listener->accept() or next;
        my $pid = fork();

        if ($pid) {
            close $client;
            next;
        }

        my $buf = '';

        while ($buf !~ /\r\n\r\n/) {
            sysread($client, $buf, 65536, length $buf) or POSIX::_exit(0);
        }

        $t->append_file('asked', "$buf.\n");

        my ($delay, $answer) =
            $t->read_file($t->dir() . '/answer') =~ /^([\d.]+)\n(.*)/s;

        # nginx closes what it waits for no longer

        if (!IO::Select->new($client)->can_read($delay)) {
            print $client $answer;
        }

        close $client;
        POSIX::_exit(0);
    }
}


sub asked {
    my ($path) = @_;

    my $text = -f $t->dir() . '/asked'
             ? $t->read_file($t->dir() . '/asked') : '';

    return scalar(() = $text =~ /^GET $path /mg);
}


sub reads { return scalar(grep { $_->{kind} eq 'read' } $t->receipts($id)) }


sub is_answered {
    my ($path, $bearer, $status, $name) = @_;

    my $r = $t->get("$path/$link", -bearer => $bearer);

    is($r->status, $status, $name);

    return $r;
}


sub is_unavailable {
    my ($path, $bearer, $name) = @_;

    my $r = is_answered($path, $bearer, 503, $name);

    is($r->header('X-Reason'), 'keys_unavailable', "$name: the reason");
    ok($r->header('Retry-After'), "$name: Retry-After");
}


answers($t->jwks('e1'), delay => 0.3);

my $provider = $t->run_daemon(\&provider);

$t->wait_for_socket($t->port(1));
$t->run();

###############################################################################
# the first request fetches, and those that come meanwhile wait with it

is(asked('/keys'), 0, 'nothing is fetched before a token is to be verified');
is($t->get("/r/$link")->status, 401, 'nobody needs no keys');
is(asked('/keys'), 0, 'and none were fetched');

my @together = map {
    $t->send_request($_ & 1 ? 'GET' : 'HEAD', "/r/$link",
                     -bearer => $good{e1}, Cookie => 'secret=1',
                     'User-Agent' => 'somebody')
} 1 .. 10;

@together = map { $t->read_response($_) } @together;

is(join(' ', map { $_->status } @together), join(' ', (200) x 10),
   'all who waited were served');
is(join(' ', map { $_->header('X-Agent') // 'none' } @together),
   join(' ', ('somebody') x 10), 'with variables of their own');
is(asked('/keys'), 1, 'one fetch for all of them');

my $head = $t->read_file($t->dir() . '/asked');

like($head, qr/^GET \/keys HTTP\/1.0\r\n/, 'a plain GET');
like($head, qr/^X-Request: \/_jwks\r$/m, "of the location's own URI");
unlike($head, qr/Bearer|Cookie|secret|somebody|X-Token: \S/i,
       'with nothing of the request that it belongs to');
unlike($head, qr/\Q$link\E/, 'nor its link');

is_answered('/r', $good{e1}, 200, 'once more');
is(asked('/keys'), 1, 'with the keys that are there');

is_answered('/short', $good{e1}, 200, 'a set of other times');
is(asked('/keys'), 2, 'is a set of its own');

###############################################################################
# rotation

sleep 0.25;
answers($t->jwks('e1', 'e2'));
is_answered('/r', $good{e2}, 200, 'a new kid is accepted at once');
is(asked('/keys'), 3, 'after one fetch');
is_answered('/r', $good{e1}, 200, 'the old one still is');
is(asked('/keys'), 3, 'without another');

sleep 0.25;
answers($t->jwks('e2'));
is_answered('/r', $good{e3}, 401, 'a kid that the new set does not know');
is(asked('/keys'), 4, 'after a fetch');
is_answered('/r', $good{e1}, 401,
            'whose removed key had vouched for a token, vouches no more');
is_answered('/r', $good{e2}, 200, 'the key that stays');
like($t->error_log(), qr/\[notice\].*key set "\/_jwks" has changed: 1 keys/,
     'the change is logged');

# a removed key, by time alone: the very first request sees it

answers($t->jwks('e1'));
is_answered('/short', $good{e1}, 200, 'before the removal') for 1, 2;
answers($t->jwks('e2'));
sleep 0.4;
is_answered('/short', $good{e1}, 401, 'a removed key, after "refresh"');
is_answered('/short', $good{e2}, 200, 'its successor');

# a kid that nobody has, over and over

my @flood = map { $t->token(-alg => 'ES256', -kid => "x$_") } 1 .. 8;
my $before = asked('/keys');
my $start = time();
my %status;

for (1 .. 4) {
    $status{$t->get("/r/$link", -bearer => $_)->status}++ for @flood;
}

my $most = 1 + (time() - $start) / 0.2;

is(join(' ', %status), '401 32', 'a flood of unknown kids is refused');
cmp_ok(asked('/keys') - $before, '<=', $most,
       'at most one fetch in a cooldown: ' . (asked('/keys') - $before));
cmp_ok(asked('/keys') - $before, '>=', 1, 'and one at least');
is_answered('/r', $good{e2}, 200, 'everybody else is served');

###############################################################################
# answers that are no key set, cold and with keys

my %broken = (
    'garbage' => ["\x00\xff{{{", {}, qr/not valid JSON/],
    'nothing' => ['', {}, qr/empty/],
    'an empty set' => ['{"keys":[]}', {}, qr/no usable key/],
    'no set' => ['{"secretword":1}', {}, qr/no "keys" array/],
    'too large' => ['{"keys":[' . ' ' x 66000 . ']}', {}, qr/larger than 64k/],
    'too large without a length' =>
        ['{"keys":[' . ' ' x 200000 . ']}', { length => '' },
         qr/larger than 64k/],
    'cut short' => [$t->jwks('e2'), { length => 5000 }, qr/cut short/],
    'compressed' => [$t->jwks('e2'), { headers => ['Content-Encoding: gzip'] },
                     qr/compressed/],
    'not found' => [$t->jwks('e2'), { status => '404 Not Found' },
                    qr/not 200 \(status 404\)/],
    'a redirect' => ['', { status => '302 Found',
                           headers => ['Location: http://127.0.0.1/'] },
                     qr/not 200 \(status 302\)/],
    'no content' => ['', { status => '204 No Content', length => '' },
                     qr/not 200 \(status 204\)/],
    'too slow' => [$t->jwks('e2'), { delay => 6 }, qr/no answer in time/],
    'no HTTP' => undef,
);

answers($t->jwks('e2'));
is_answered('/unbuffered', $good{e2}, 200, 'a set that is there');

for my $with (0, 1) {
    my $where = $with ? 'unbuffered' : 'cold';

    for my $name (sort keys %broken) {
        next if !$with && $name eq 'too slow';

        my ($body, $o, $says) = @{$broken{$name} // ['', {}, qr/not 200/]};
        my $label = $with ? "$name, with keys" : "$name, cold";

        answers($body, %$o);

        if (!$broken{$name}) {
            $t->write_file('answer', "0\n\x16\x03\x01 nonsense\r\n\r\n");
        }

        my $lines = () = $t->error_log() =~ /key set "\/_$where" is not/g;

        sleep 0.06;

        if ($with) {
            is_answered("/$where", $flood[$n++ % 8], 401,
                        "$label: unknown kid");
            is_answered("/$where", $good{e2}, 200,
                        "$label: the good set holds");

        } else {
            is_unavailable("/$where", $good{e2}, $label);
        }

        my @log = grep { /key set "\/_$where" is not/ }
                       split /\n/, $t->error_log();

        is(@log - $lines, 1, "$label: said once");
        like($log[-1], $says, "$label: and why");
    }

    # the next attempt is the first one that may be

    answers($t->jwks('e2'));
    ok($t->wait_for(sub {
        $t->get("/$where/$link", -bearer => $good{e2})->status == 200
    }, 10), "$where: recovered by itself");
}

unlike($t->error_log(), qr/secretword/, 'no body is logged');

###############################################################################
# the provider goes away: stale keys for a while, no fetch that anybody else
# waits for, then none

answers($t->jwks('e2'));
sleep 0.4;
is_answered($_, $good{e2}, 200, "the provider is there: $_")
    for '/short', '/brief';
$t->stop_daemon($provider);
sleep 0.4;
is_answered('/short', $good{e2}, 200, 'gone: the keys are still used');
is_answered('/short', $good{e1}, 401, 'gone: those removed are not');

is_unavailable('/brief', $good{e2}, 'gone too long, a token remembered');
is_unavailable('/brief', $good{e1}, 'gone too long, another');
like($t->error_log(), qr/"\/_jwks" is not renewed: .*\(status 502\), the keys/,
     'the log says why');

$provider = $t->run_daemon(\&provider);
$t->wait_for_socket($t->port(1));

ok($t->wait_for(sub {
    $t->get("/brief/$link", -bearer => $good{e2})->status == 200
}, 10), 'back again: served');

###############################################################################
# a client that goes away takes the fetch of others with it as little as its
# keys; HTTP/2, subrequests, redirects

for my $how ('alone', 'with others') {
    answers($t->jwks('e2'), delay => 0.3);
    $t->reload();
    $before = asked('/cold');

    my $reads = reads();
    my $gone = $t->send_request('GET', "/cold/$link", -bearer => $good{e2});

    ok($t->wait_for(sub { asked('/cold') > $before }), "$how: the fetch began");

    my @others = $how eq 'alone' ? ()
        : map { $t->send_request('GET', "/cold/$link", -bearer => $good{e2}) }
              1 .. 6;

    sleep 0.05 if @others;
    close $gone;
    close $_ for splice @others, 0, 2;

    is($t->read_response($_)->status, 200, "$how: served") for @others;

    is_answered('/cold', $good{e2}, 200, "$how: a client has left");
    is(asked('/cold') - $before, 1, "$how: its fetch went on");
    is(reads() - $reads, @others + 1, "$how: who has left has not read");
}

$t->reload();
$before = asked('/cold');
$t->h2('GET', "/cold/$link", -port => $t->port(2), -bearer => $good{e2},
       -timeout => 0.15);
is_answered('/cold', $good{e2}, 200, 'HTTP/2: a client has left');
is(asked('/cold') - $before, 1, 'HTTP/2: its fetch went on');

for my $case (
    ['HTTP/2', sub { $t->h2('GET', "/cold/$link", -port => $t->port(2), @_) }],
    ['HTTP/2 HEAD',
     sub { $t->h2('HEAD', "/cold/$link", -port => $t->port(2), @_) }],
    ['HEAD', sub { $t->request('HEAD', "/cold/$link", @_) }],
    ['HTTP/1.0', sub { $t->get("/cold/$link", -version => '1.0', @_) }],
    ['POST', sub { $t->post("/cold/$link", '{"version":3}', @_) }],
    ['auth_request', sub { $t->get("/asks/$link", @_) }],
    ['a redirect', sub { $t->get("/moved/$link", @_) }],
) {
    my ($name, $ask) = @$case;

    $t->reload();
    $before = asked('/cold');

    answers($t->jwks('e2'), delay => 0.1);
    is($ask->(-bearer => $good{e2})->status, 200, "$name: waits for keys");
    is(asked('/cold') - $before, 1, "$name: one fetch");

    answers('nothing');
    $t->reload();

    my $refused = $name eq 'auth_request' ? 500 : 503;

    is($ask->(-bearer => $good{e2})->status, $refused, "$name: no keys");
}

answers($t->jwks('e2'));
$t->reload();
$before = asked('/cold');
is_answered('/cold', $good{e2}, 200, 'one location');
is_answered('/asks', $good{e2}, 200, 'another of the server');
is(asked('/cold') - $before, 1, 'share a set when they say the same');

# one connection, kept alive across the fetch

answers($t->jwks('e2'), delay => 0.1);
$t->reload();

my $request = "GET /cold/$link HTTP/1.1\r\nHost: x\r\n"
            . "Authorization: Bearer $good{e2}\r\n";
my $raw = $t->raw("$request\r\n${request}Connection: close\r\n\r\n");

is(scalar(() = $raw =~ m{HTTP/1.1 200 }g), 2, 'two requests, pipelined');

###############################################################################
# other ways to have a location answer

is_answered('/flat', $good{e1}, 200, 'a file');
is_answered('/backup', $good{e1}, 200, "an error page's location");
answers($t->jwks('e2'));
is_answered('/cached', $good{e2}, 200, 'a cache, cold');
$before = asked('/cached');
$t->reload();
is_answered('/cached', $good{e2}, 200, 'a cache, warm');
is(asked('/cached') - $before, 0, 'was not asked again by another process');

is_unavailable('/none', $good{e1}, 'a location that is not there');
like($t->error_log(), qr/"\/_none" is not there: .*not 200 \(status 404\)/,
     'the log says so');
is_unavailable('/gated', $good{e1}, 'a gated location');
like($t->error_log(), qr/"\/_gated" .*set "relay_link off" there/,
     'the log says what to do');

my $private = $t->relayctl(qw(keygen --kty EC --kid signer-9));
my ($d) = $private =~ /"d":"([^"]+)"/;

$t->write_file('html/flat.json', $private);
$t->reload();
is_answered('/flat', $good{e1}, 401, 'a set with a private key');
like($t->error_log(), qr/\[warn\].*"\/_flat" .* private part of key "signer-9"/,
     'is warned of');
unlike($t->error_log(), qr/\Q$d\E/, 'without showing it');

###############################################################################
# reload under load, the provider slow and rotating

my $file = $t->dir() . '/load';

my $load = $t->run_daemon(sub {
    open my $out, '>>', $file;
    $out->autoflush(1);

    while (!-e "$file.stop") {
        my $r = eval { $t->get("/short/$link", -bearer => $good{e2}) };
        print $out $r ? $r->status : "no answer: $@", "\n";
    }
});

for my $round (1 .. ($ENV{ROUNDS} || 4)) {
    answers($t->jwks('e2', $round & 1 ? 'e1' : 'e3'), delay => 0.1);
    $t->reload();
}

$t->write_file('load.stop', '');
ok($t->wait_for(sub { !kill(0, $load) || waitpid($load, 1) }, 10),
   'the load has ended');

my %answers;
$answers{$_}++ for split /\n/, $t->read_file($file);

is(join(', ', sort keys %answers), '200',
   'no failed request among ' . ($answers{200} // 0));

# a reload while requests wait for a provider that never answers

answers('', delay => 60);
$t->reload();

my @waiting = map { $t->send_request('GET', "/unbuffered/$link",
                                     -bearer => $good{e2}) } 1 .. 4;
sleep 0.1;
$t->reload(-wait => 0);

is(join(' ', map { $t->read_response($_)->status } @waiting),
   join(' ', (503) x 4), 'those that waited through a reload were answered');

ok($t->wait_for(sub { $t->workers() == 1 }, 10),
   'and their worker left, whatever the provider does');

# a worker that may not wait any longer ends the fetch with all its requests

my $port = $t->port(1);
my $cut = Relay::Test->new(timeout => 240, conf => <<EOC);
%%GLOBALS%%
worker_shutdown_timeout 100ms;

events {
}

http {
    %%GLOBALS_HTTP%%

    server {
        listen 127.0.0.1:%%PORT%%;

        location = /_jwks {
            internal;
            proxy_pass http://127.0.0.1:$port/cut;
        }

        location / {
            relay_redis %%REDIS%%;
            relay_jwt_keys uri=/_jwks issuer=https://id.example
                           audience=https://edge.example timeout=1m;
            relay_link \$arg_t;
            relay_package on;
        }
    }
}
EOC

$cut->run();

@waiting = map { $cut->send_request('GET', "/?t=$link", -bearer => $good{e2}) }
               1 .. 3;

ok($t->wait_for(sub { asked('/cut') == 1 }), 'a fetch began');
$cut->reload();

is(join('', map { $cut->read_response($_)->status } @waiting), '000',
   'those that waited were cut off');
like($cut->error_log(), qr/"\/_jwks" is not there: the request .* has ended/,
     'and the fetch with them');

answers($t->jwks('e2'));
is($cut->get("/?t=$link", -bearer => $good{e2})->status, 404,
   'the new worker fetches for itself');

$cut->stop();
$t->stop();
done_testing();

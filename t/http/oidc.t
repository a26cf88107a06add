#!/usr/bin/perl

# A real provider, oidc-provider: its access tokens, its key set, and a
# rotation: a new key signs, the old one stays for a while, and goes.

use strict;
use warnings;

use lib 't/lib';

use JSON::PP ();
use Relay::Test;
use Test::More;

my $modules = "$Relay::Test::ROOT/build/node/node_modules";

plan(skip_all => 'oidc-provider is not installed: npm, and make test')
    if !-d "$modules/oidc-provider";

my $t = Relay::Test->new(timeout => 240, server => <<'EOC');
    add_header X-Reason $relay_reason always;

    location = /_jwks {
        internal;
        proxy_pass http://127.0.0.1:%%PORT1%%/jwks;
    }

    location ~ ^/r/(?<relay_token>[^/]+)$ {
        relay_jwt_keys uri=/_jwks issuer=http://127.0.0.1:%%PORT1%%
                       audience=https://edge.example typ=at+jwt
                       refresh=500ms stale=10m cooldown=100ms timeout=20s;
        relay_link $relay_token;
        relay_package on;
    }
EOC

$t->need('node');

my $port = $t->port(1);
my $secret = 'what only the client knows';
my %key = map {
    ($_ => scalar $t->relayctl(qw(keygen --kty RSA --kid), $_))
} qw(old new);

$_ = JSON::PP::decode_json($_)->{keys}[0] for values %key;

my ($provider, $link);


# Starts the provider anew: the first key signs, all are published.

sub provider {
    my (@keys) = @_;

    $t->stop_daemon($provider) if $provider;

    my $config = $t->write_file('provider.json', JSON::PP::encode_json({
        port => $port, issuer => "http://127.0.0.1:$port", alg => 'RS256',
        audience => $t->audience(), jwks => { keys => [@key{@keys}] },
        client => { id => 'app', secret => $secret } }));

    $provider = $t->run_daemon(sub {
        open STDOUT, '>>', $t->dir() . '/provider.log';
        open STDERR, '>&', \*STDOUT;
        exec 'node', 't/http/provider.mjs', $modules, $config;
    });

    $t->wait_for_socket($port, 60) or die "the provider does not start\n";
}


sub access_token {
    my $body = join '&',
        'grant_type=client_credentials', 'client_id=app',
        'client_secret=' . $secret =~ s/ /+/gr, 'scope=read',
        'resource=https%3A%2F%2Fedge.example';

    my $r = $t->request('POST', '/token', -port => $port, -body => $body,
        -timeout => 60,
        'Content-Type' => 'application/x-www-form-urlencoded');

    my $token = ($r->json() // {})->{access_token}
        // die 'no token: ' . $r->raw . "\n";

    return $t->secret($token);
}


sub is_answered {
    my ($bearer, $status, $name) = @_;

    my $r = $t->get("/r/$link", -bearer => $bearer, -timeout => 60);

    is($r->status, $status, $name) or diag($r->header('X-Reason') // '');
}


provider('old');

$t->publish();
$t->grant('--iss', "http://127.0.0.1:$port", '--sub', 'app');
$link = $t->link();
$t->run();

my $old = access_token();

is_answered($old, 200, 'an access token of the provider');
is_answered("${old}x", 401, 'the same with another signature');

provider('new', 'old');

my $new = access_token();

is_answered($new, 200, 'the next key signs');
is_answered($old, 200, 'what the last one signed is still good');

provider('new');
select(undef, undef, undef, 0.6);
is_answered($old, 401, 'the last key is gone');
is_answered($new, 200, 'the next key stays');

$t->stop_daemon($provider);
select(undef, undef, undef, 0.6);
is_answered($new, 200, 'the provider is away');
like($t->error_log(), qr/key set "\/_jwks" is not renewed/, 'and missed');

$t->stop();
done_testing();

#!/usr/bin/perl

# A bad directive stops nginx, with the token and the remedy.

use strict;
use warnings;

use lib 't/lib';

use Relay::Test;
use Test::More;

my $t = Relay::Test->new(redis => 0);

$t->write_file('empty.json', '{"keys":[]}');
$t->write_file('broken.json', '{"keys":[');
$t->write_file('html/x', 'x');


sub conf {
    my ($http, $server, $location) = @_;

    return <<EOC;
%%GLOBALS%%
daemon off;
events { }
http {
    %%GLOBALS_HTTP%%
    $http
    server {
        listen 127.0.0.1:%%PORT%%;
        $server
        location / {
            $location
        }
    }
}
EOC
}

my $redis = 'relay_redis redis://127.0.0.1:6379;';
my $keys = 'relay_jwt_keys %%KEYS%% issuer=https://id.example '
           . 'audience=https://edge.example email=trusted;';
my $relay = 'relay_link $arg_t; relay_package on;';

for my $good (
    ['nothing of ours', '', '', ''],
    ['a whole location', 'relay_zone v:1m;', '', "$redis $keys $relay"],
    ['inherited', '', "$redis $keys $relay", ''],
    ['off again', '', "$redis $keys $relay",
     'relay_link off; relay_package off;'],
    ['all parameters', '', '',
     'relay_redis unix:/run/x.sock:2 connect_timeout=1s command_timeout=500ms '
     . "queue=10 durability=always backoff=1s reply_max=1m; $keys $relay"],
    ['dry run', '', '', "$redis $keys relay_link \$arg_t; relay_dry_run on;"],
    ['two issuers', '', '',
     "$redis $keys relay_jwt_keys %%KEYS%% issuer=https://two.example "
     . "audience=a audience=b leeway=10s typ=at+jwt; $relay"],
    ['keys behind a location', '', '',
     "$redis relay_jwt_keys uri=/_jwks issuer=i audience=a refresh=1m stale=2m "
     . "cooldown=1s timeout=500ms; $relay"],
    ['keys behind a location of the server', '',
     "$redis relay_jwt_keys uri=/_jwks issuer=i audience=a;", $relay],
    ['all others', '', '',
     "$redis $keys $relay relay_prefix x:; relay_accept explicit; "
     . 'relay_conceal on; relay_view pass-on; relay_anyone_view recipient; '
     . 'relay_receipts served; relay_receipt_ip on; relay_bind_subject on; '
       . 'relay_consistency linearizable; relay_sign_in https://x.example/;'],
) {
    my ($name, @parts) = @$good;
    my ($ok, $said) = $t->conf_test(conf(@parts));

    ok($ok, $name) or diag $said;
}

for my $bad (
    ['no Redis', '', '', "$keys $relay", qr/relay_redis/],
    ['no identity', '', '', "$redis $relay",
     qr/relay_jwt_keys.*relay_identity/],
    ['a gate before nothing', '', '', "$redis $keys relay_link \$arg_t;",
     qr/relay_package/],
    ['dry run of a package', '', '',
     "$redis $keys $relay relay_dry_run on;", qr/relay_dry_run/],
    ['another content handler', '', '',
     "$redis $keys $relay proxy_pass http://127.0.0.1:1;", qr/relay_package/],
    ['bad URL', '', '', "relay_redis http://x; $keys $relay", qr{"http"}],
    ['TLS', '', '', "relay_redis rediss://127.0.0.1; $keys $relay",
     qr{rediss://}],
    ['bad database', '', '', "relay_redis redis://127.0.0.1/x; $keys $relay",
     qr{/x}],
    ['bad time', '', '',
     "relay_redis redis://127.0.0.1 command_timeout=soon; $keys $relay",
     qr/command_timeout=soon/],
    ['bad queue', '', '', "relay_redis redis://127.0.0.1 queue=0; $keys $relay",
     qr/queue=0/],
    ['unknown parameter', '', '',
     "relay_redis redis://127.0.0.1 colour=red; $keys $relay", qr/"colour"/],
    ['bad durability', '', '',
     "relay_redis redis://127.0.0.1 durability=maybe; $keys $relay",
     qr/durability=maybe/],
    ['no password file', '', '',
     "relay_redis redis://127.0.0.1 password_file=/nowhere/x; $keys $relay",
     qr{/nowhere/x}],
    ['no key file', '', '',
     "$redis relay_jwt_keys /nowhere/k issuer=i audience=a; $relay",
     qr{/nowhere/k}],
    ['empty key set', '', '',
     "$redis relay_jwt_keys %%DIR%%/empty.json issuer=i audience=a; $relay",
     qr/empty\.json/],
    ['broken key set', '', '',
     "$redis relay_jwt_keys %%DIR%%/broken.json issuer=i audience=a; $relay",
     qr/broken\.json/],
    ['no issuer', '', '', "$redis relay_jwt_keys %%KEYS%% audience=a; $relay",
     qr/issuer=/],
    ['no audience', '', '', "$redis relay_jwt_keys %%KEYS%% issuer=i; $relay",
     qr/audience=/],
    ['a URL of keys', '', '',
     "$redis relay_jwt_keys https://id.example/k issuer=i audience=a; $relay",
     qr{"proxy_pass https://id\.example/k" in an internal .*keys uri=/_jwks"}],
    ['a plain URL of keys', '', '',
     "$redis relay_jwt_keys http://id.example/k issuer=i audience=a; $relay",
     qr{"proxy_pass http://id\.example/k" in an internal location}],
    ['keys of no location', '', '',
     "$redis relay_jwt_keys uri=jwks issuer=i audience=a; $relay",
     qr{"uri=jwks".*internal location of this server.*"uri=/_jwks"}],
    ['keys of a location with arguments', '', '',
     "$redis relay_jwt_keys uri=/j?a=b issuer=i audience=a; $relay",
     qr{"uri=/j\?a=b".*without arguments}],
    ['keys of a location, for all servers',
     'relay_jwt_keys uri=/j issuer=i audience=a;', '', "$redis $relay",
     qr{"uri=/j" .* set it in a server or location}],
    ['keys dropped too early', '', '',
     "$redis relay_jwt_keys uri=/j issuer=i audience=a refresh=2h; $relay",
     qr{"/j" .*"stale=" \(3600s\) at least as long as "refresh=" \(7200s\)}],
    ['times of a file', '', '',
     "$redis relay_jwt_keys %%KEYS%% issuer=i audience=a stale=1h; $relay",
     qr{"stale=1h" .*a file is read when nginx starts}],
    (map {
        ["keys, bad $_", '', '',
         "$redis relay_jwt_keys uri=/j issuer=i audience=a $_; $relay",
         qr{"$_" .* a time from 1ms to 24h}]
    } qw(refresh=soon stale=0 cooldown=25h timeout=)),
    ['keys, a time twice', '', '',
     "$redis relay_jwt_keys uri=/j issuer=i audience=a stale=1h stale=1h; "
     . $relay, qr{"stale=1h" .*once, a time}],
    ['keys, bad leeway', '', '',
     "$redis relay_jwt_keys %%KEYS%% issuer=i audience=a leeway=11m; $relay",
     qr{"leeway=11m" .*a time from 0 to 10m}],
    ['keys, bad trust', '', '',
     "$redis relay_jwt_keys %%KEYS%% issuer=i audience=a email=yes; $relay",
     qr{"email=yes" .*"email=trusted" or "email=untrusted"}],
    ['keys, two types', '', '',
     "$redis relay_jwt_keys %%KEYS%% issuer=i audience=a typ=a typ=b; $relay",
     qr{"typ=b" .*once, the "typ"}],
    ['keys, two issuers at once', '', '',
     "$redis relay_jwt_keys %%KEYS%% issuer=i audience=a issuer=j; $relay",
     qr{"issuer=j" .*once, the "iss"}],
    ['keys, an empty audience', '', '',
     "$redis relay_jwt_keys %%KEYS%% issuer=i audience=; $relay",
     qr{"audience=" .*an "aud" of the tokens}],
    ['a link that is no variable', '', '', "$redis $keys relay_link token;",
     qr{"relay_link token" is the same for every request: it must hold a vari}],
    ['safety', '', '', "relay_safety remove;",
     qr{"remove" .*"relay_safety".*"off", "annotate", "strip" or "block"}],
    ['identity, a parameter', '', '', 'relay_identity sub=$remote_user;',
     qr{"sub=\$remote_user" in "relay_identity": it is one of "issuer="}],
    ['keys, an algorithm', '', '',
     "$redis relay_jwt_keys %%KEYS%% issuer=i audience=a alg=RS256; $relay",
     qr{"alg=RS256" .*RSA \(RS256, .*ES512\) or oct \(HS256, }],
    ['keys, an unknown parameter', '', '',
     "$redis relay_jwt_keys %%KEYS%% issuer=i audience=a claim=x; $relay",
     qr{"claim=x" .*"leeway=", "typ=", "email=" and "isolation=", which}],
    ['one issuer twice', '', '', "$redis $keys $keys $relay",
     qr{duplicate issuer "https://id\.example"}],
    ['identity without subject', '', '',
     "$redis relay_identity issuer=x; $relay", qr/subject=/],
    ['identity without issuer', '', '',
     "$redis relay_identity subject=x; $relay", qr/issuer=/],
    ['bad view', '', '', "$redis $keys $relay relay_view owner;",
     qr/"owner" in .*: it takes "recipient", "link", "pass-on", "preview" or /],
    ['bad view of anyone', '', '',
     "$redis $keys $relay relay_anyone_view preview;",
     qr/"preview" in "relay_anyone_view": it takes "link" or "recipient" in/],
    ['bad acceptance', '', '', "$redis $keys $relay relay_accept maybe;",
     qr/"maybe" in "relay_accept": it takes "auto", "explicit" or "on-read" /],
    ['bad receipts', '', '', "$redis $keys $relay relay_receipts none;",
     qr/"none" in "relay_receipts": it takes "all" or "served" in/],
    ['bad consistency', '', '',
     "$redis $keys $relay relay_consistency bounded=1s;",
     qr/"bounded=1s" in "relay_consistency": it takes "linearizable" in/],
    ['an enumeration twice', '', '',
     "$redis $keys $relay relay_accept auto; relay_accept auto;",
     qr/"relay_accept" directive is duplicate/],
    ['zone without size', 'relay_zone v;', '', '', qr/v/],
    ['tiny zone', 'relay_zone v:1k;', '', '', qr/v:1k|too small/],
    ['twice', '', '', "$redis $redis $keys $relay", qr/duplicate/],
) {
    my ($name, @parts) = @$bad;
    my $says = pop @parts;
    my ($ok, $said) = $t->conf_test(conf(@parts));

    ok(!$ok, "$name: nginx does not start");
    like($said, $says, "$name: and says why");
}

# a set that could sign as the issuer is told of; a shared secret is none

my $jwk = $t->relayctl('keygen', '--kty', 'EC', '--kid', 'signer-7');

$t->write_file('private.json', $jwk);
$t->write_file('shared.json',
               scalar $t->relayctl(qw(keygen --kty oct --kid shared-8)));

my ($ok, $said) = $t->conf_test(conf('', '', "$redis $relay relay_jwt_keys "
                                . '%%DIR%%/private.json issuer=i audience=a;'));

ok($ok, 'private keys: nginx starts') or diag $said;
like($said, qr/\[warn\] .*private\.json" .* of key "signer-7": .* public keys/,
     'private keys: and warns');

my ($secret) = $jwk =~ /"d":"([^"]+)"/;

unlike($said, qr/\Q$secret\E/, 'private keys: without showing them');

($ok, $said) = $t->conf_test(conf('', '', "$redis $relay relay_jwt_keys "
                             . '%%DIR%%/shared.json issuer=i audience=a;'));

ok($ok, 'a shared secret: nginx starts') or diag $said;
unlike($said, qr/\[warn\]/, 'a shared secret: no warning');

$t->stop();
done_testing();

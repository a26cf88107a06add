#!/usr/bin/perl

# The main job, end to end: the named reader gets the package in her own view,
# everybody else is refused for the right reason, a revocation takes effect on
# the next request, and each of these has its receipt.

use strict;
use warnings;

use lib 't/lib';

use Test::More;

use Relay::Test;


my $t = Relay::Test->new(server => <<'EOC');
        location ~ ^/r/(?<relay_token>[^/]+)$ {
            relay_link $relay_token;
            relay_package on;
        }
EOC

my $pilot = 'schema/examples/pilot.relay.json';
my $relay = $t->publish(-file => $pilot);
my $link = $t->link();

$t->run();

my $named = $t->token();
my $stranger = $t->token_of('bram@elsewhere.example');

my $r = $t->get("/r/$link", -bearer => $named);

is($r->status, 200, 'the named reader: status');
ok($r->complete, 'the whole body came');
like($r->header('Content-Type'), qr{^application/json\b}, 'type');
like($r->header('Cache-Control'), qr/\bno-store\b/, 'not to be stored');
is($r->body, $t->relayctl('view', '--view', 'recipient', $pilot) =~ s/\n\z//r,
   'the recipient view, byte by byte as relayctl cuts it')
    or diag substr($r->body, 0, 200);
is($r->json->{context}{subject},
   $t->read_json('schema/examples/views/recipient-agent.json')
     ->{context}{subject}, 'the subject of the worked example');

$r = $t->get("/r/$link");

is($r->status, 401, 'no token: status');
like($r->header('WWW-Authenticate'), qr/^Bearer\b/, 'one challenge');
is($r->headers('WWW-Authenticate'), 1, 'and no other');
unlike($r->body, qr/Norrvik|Okafor/, 'nothing of the package');

$r = $t->get("/r/$link", -bearer => $stranger);

is($r->status, 403, 'another person: status');
unlike($r->body, qr/Norrvik|Okafor/, 'nothing of the package');

my @before = $t->receipts();

$t->revoke('--link', $link);

$r = $t->get("/r/$link", -bearer => $named);

is($r->status, 410, 'the next request after the revocation: status');
unlike($r->body, qr/Norrvik|Okafor/, 'nothing of the package');

# a denial's receipt is not waited for

$t->wait_for(sub {
    2 == grep { ($_->{kind} // '') eq 'denial' } $t->receipts();
});

my @receipts = $t->receipts();
my @read = grep { $_->{kind} eq 'read' } @receipts;
my @denied = grep { $_->{kind} eq 'denial' } @receipts;
my @acts = grep { $_->{kind} eq 'act' } @receipts;

is(@read, 1, 'one receipt of the read');
is($read[0]{reader}{email}, 'tomas.lindqvist@norrvik.example',
   'it names the reader');
is($read[0]{view}, 'recipient', 'and the view');
is($read[0]{relay}, $relay, 'and the relay');

is_deeply([sort map { $_->{reason} } @denied], ['not_named', 'revoked'],
          'a receipt of each denial with its reason');
is_deeply([map { $_->{method} } @acts], [qw(publish link revoke)],
          'and of each act of the owner');

is(scalar(grep { $_->{kind} eq 'read' } @before), 1,
   'the read stands before the revocation');

my $log = $t->access_log();

is(() = $log =~ /" 200 /g, 1, 'access.log: one read');
is(index($log, $link), -1, 'and no token');

$t->stop();

done_testing();

#!/usr/bin/perl

# What was served and not delivered whole has a second record; what was has
# none.

use strict;
use warnings;

use lib 't/lib';

use JSON::PP ();
use Relay::Test;
use Socket qw(SOL_SOCKET SO_RCVBUF SO_LINGER);
use Test::More;

my $t = Relay::Test->new(http => <<'EOC');
    server {
        listen 127.0.0.1:%%PORT%% sndbuf=16k;

        location ~ ^/r/(?<relay_token>.*)$ {
            %%RELAY%%
            relay_link $relay_token;
            relay_package on;
            relay_receipt_ip on;
        }
    }
EOC

my $doc = $t->read_json('schema/examples/pilot.relay.json');

$_->{body} = 'Long. ' x 100_000 for @{$doc->{context}{sections}};

my $id = $t->publish(-document => $doc);
my $link = $t->link();
my $bearer = $t->token();

$t->run();

sub kinds { return join ' ', map { $_->{kind} } grep { $_->{kind} ne 'act' }
                                                     $t->receipts($id) }

my $whole = $t->get("/r/$link", -bearer => $bearer);

is($whole->status, 200, 'a large document');
ok($whole->complete(), 'whole');
is(kinds(), 'accept read', 'and nothing but its receipt');

# a client that reads a little and goes

my $socket = $t->connect();

setsockopt($socket, SOL_SOCKET, SO_RCVBUF, pack('l', 4096));
syswrite($socket, "GET /r/$link HTTP/1.1\r\nHost: localhost\r\n"
         . "Authorization: Bearer $bearer\r\n\r\n");
sysread($socket, my $buf, 1000);
like($buf, qr{^HTTP/1\.1 200 }, 'another read starts');
setsockopt($socket, SOL_SOCKET, SO_LINGER, pack('ii', 1, 0));
close $socket;

ok($t->wait_for(sub { kinds() =~ /undelivered/ }, 10), 'a second record');
is(kinds(), 'accept read read undelivered', 'after the read');

my ($read, $outcome) = ($t->receipts($id))[-2, -1];

is($outcome->{of}, $read->{id}, 'it names the receipt');
cmp_ok($outcome->{bytes}, '<', $read->{bytes}, 'and what was sent of it');
is($read->{ip}, '127.0.0.1', 'relay_receipt_ip on');

$t->stop();
done_testing();

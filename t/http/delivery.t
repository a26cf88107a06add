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


# a receipt that Redis does not take is in the log whole, however long

my $long = 'x' x 245;

$t = Relay::Test->new(server => <<"EOC");
        location ~ ^/r/(?<relay_token>.*)\$ {
            relay_link \$relay_token;
            relay_package on;
            relay_identity issuer=https://id.example/$long$long/
                           subject=$long email=nobody\@elsewhere.example
                           name="\$http_x_name" email_trust=on;
        }

        location ~ ^/held/(?<held_token>.*)\$ {
            relay_link \$held_token;
            relay_package on;
            mirror /mirror;
        }

        location = /mirror {
            internal;
            return 204;
        }
EOC

$id = $t->publish();
$link = $t->link();
$bearer = $t->token();
$t->run();

$t->redis('ACL', 'SETUSER', 'default', '-xadd');

my $r = $t->get("/r/$link", 'X-Name' => '"' x 500);

is($r->status, 403, 'a reader whom nobody has named');
$t->wait_log(qr/relay receipt not recorded/);

my $receipt = join '', $t->error_log() =~
    /receipt not recorded(?:, continued)?: (.*?)(?= while |, client: |\n)/g;

cmp_ok(length($receipt), '>', 1536, 'its receipt is longer than a part');
is(eval { JSON::PP->new->decode($receipt)->{reader}{subject} }, $long,
   'the parts together are the receipt');

$t->redis('ACL', 'SETUSER', 'default', '+xadd');

# a request that another module holds after it was decided on: mirror waits for
# the body

$socket = $t->connect();

syswrite($socket, "GET /held/$link HTTP/1.1\r\nHost: localhost\r\n"
         . "Connection: close\r\nContent-Length: 1\r\n"
         . "Authorization: Bearer $bearer\r\n\r\n");

ok($t->wait_for(sub { grep { $_->{kind} eq 'read' } $t->receipts($id) }, 10),
   'decided on, and recorded');
select undef, undef, undef, 1.1;
syswrite($socket, 'x');

my $answer = '';

while (sysread($socket, $buf, 65536)) {
    $answer .= $buf;
}

like($answer, qr{^HTTP/1\.1 503 }, 'held for over a second: not served');
unlike($answer, qr/Norrvik/, 'no byte of content');
ok($t->wait_for(sub {
    grep { $_->{kind} eq 'undelivered' } $t->receipts($id)
}, 10), 'and its outcome is recorded');

$t->stop();
done_testing();

#!/usr/bin/perl

# A request that was allowed in one location and is redirected to another: what
# the other would not have allowed is refused, and its receipts stay where the
# read was recorded.

use strict;
use warnings;

use lib 't/lib';

use Relay::Test;
use Test::More;

my $t = Relay::Test->new(http => <<'EOC');
    server {
        listen 127.0.0.1:%%PORT%%;
        add_header X-View $relay_view always;
        add_header X-Reason $relay_reason always;

        %%RELAY%%

        location ~ ^/r/(?<t1>.*)$ {
            relay_link $t1;
            relay_package on;
            try_files /none /narrow/$t1;
        }

        location ~ ^/narrow/(?<t2>.*)$ {
            relay_link $t2;
            relay_package on;
            relay_view pass-on;
        }

        location ~ ^/lost/(?<t3>.*)$ {
            relay_link $t3;
            relay_package on;
            try_files /none /elsewhere;
        }

        location = /elsewhere {
            relay_prefix other:;
            empty_gif;
        }
    }
EOC

my $id = $t->publish();
my $link = $t->link();
my $bearer = $t->token();

$t->run();

my $r = $t->get("/narrow/$link", -bearer => $bearer);

is($r->header('X-View'), 'pass-on', 'the narrow location');

$r = $t->get("/r/$link", -bearer => $bearer);
is($r->status, 500, 'one that is wider leads there: refused');
unlike($r->body, qr/Norrvik/, 'no byte of content');
$t->wait_log(qr/redirected to another that has other relay directives/);

$r = $t->get("/lost/$link", -bearer => $bearer);
unlike($r->body, qr/Norrvik/, 'a location without a relay: no content');
ok($t->wait_for(sub {
    grep { $_->{kind} eq 'undelivered' } $t->receipts($id)
}), 'the outcome stands in the stream of the read');
is_deeply($t->redis('KEYS', 'other:*'), [], 'and in no other');

$t->stop();
done_testing();

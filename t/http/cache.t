#!/usr/bin/perl

# A view is kept under the digest of the document that it was made of, however
# often one document takes another's place.

use strict;
use warnings;

use lib 't/lib';

use JSON::PP ();
use Relay::Test;
use Test::More;

my $t = Relay::Test->new(http => <<'EOC');
    relay_zone views:1m;

    server {
        listen 127.0.0.1:%%PORT%%;

        %%RELAY%%

        location ~ ^/r/(?<t1>.*)$ {
            relay_link $t1;
            relay_package on;
        }

        location ~ ^/preview/(?<t2>.*)$ {
            relay_link $t2;
            relay_package on;
            relay_view preview;
        }
    }
EOC

my $id = $t->publish();
my $link = $t->link();
my $bearer = $t->token();
my $json = JSON::PP->new->utf8->canonical;

my $first = $t->redis('GET', "relay:doc:{$id}:3");
my $digest = $t->redis('HGET', "relay:{$id}", 'digest');

my $second = $json->decode($first);
$second->{title} = 'Another title';
$second = $json->encode($second);

# as a wipe and a new start, or a restored backup, would: the same version, the
# same epoch

sub place {
    my ($document, $digest) = @_;

    $t->redis('SET', "relay:doc:{$id}:3", $document);
    $t->redis('HSET', "relay:{$id}", 'digest', $digest);
}

sub title {
    my ($path) = @_;

    return $t->get("/$path/$link", -bearer => $bearer)->json->{title};
}

$t->run();

my $title = $json->decode($first)->{title};

is(title('r'), $title, 'the first document');

place($second, 'f' x 40);
is(title('preview'), 'Another title', 'another in its place, another view');

place($first, $digest);
is(title('preview'), $title, 'the first again');
is(title('r'), $title, 'in each view');

place($second, 'f' x 40);
is(title('r'), 'Another title', 'and the other');
is(title('preview'), 'Another title', 'in each view');

$t->stop();
done_testing();

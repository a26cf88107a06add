#!/usr/bin/perl

# Documents at the limits and just beyond: what relayctl publishes the edge
# serves; what is larger or deeper relayctl refuses, with line and pointer, and
# the edge withholds when it got into Redis some other way.

use strict;
use warnings;

use lib 't/lib';

use JSON::PP ();
use Relay::Test;
use Test::More;

use constant { MAX => 8 * 1024 * 1024, STRING => 1024 * 1024, DEPTH => 64 };

my $t = Relay::Test->new(http => <<'EOC');
    relay_zone views:32m;

    # 8 MiB take their time on a busy machine

    relay_redis %%REDIS%% command_timeout=60s;
    relay_jwt_keys %%KEYS%% issuer=https://id.example
                   audience=https://edge.example email=trusted;

    server {
        listen 127.0.0.1:%%PORT%%;
        add_header X-Reason $relay_reason always;

        location ~ ^/r/(?<t1>.*)$ {
            relay_link $t1;
            relay_package on;
        }

        location /alive { return 200 "alive"; }
    }
EOC

my $json = JSON::PP->new->canonical->utf8;
my $tomas = $t->token();
my $leila = $t->token(sub => 'leila', email => undef);
my $serial = 0;

$t->run();

my ($worker) = $t->workers();


# A package of its own id: edited as text, since JSON::PP takes its time.

my $pilot = do {
    my $doc = $t->read_json('schema/examples/pilot.relay.json');

    $doc->{version} = 1;
    $doc->{context}{sections}[0]{body} = 'BODY';
    $json->encode($doc);
};

sub package_of {
    my ($body, $more) = @_;

    my $id = 'rly_' . ++$serial;
    my $text = $pilot;

    $body //= 'a body';
    $text =~ s/"BODY"/"$body"/;
    $text =~ s/"id":"rly_\w+"/"id":"$id"/ or die "no id\n";

    return ($id, substr($text, 0, -1) . ($more // '') . '}');
}


# One of so many bytes: long texts that the named reader gets, then spaces.

sub sized {
    my ($bytes) = @_;

    my ($id, $text) = package_of('a body');
    my $more = join '', map {
        qq({"id":"s_long_$_","title":"Long","version":1,"body":")
        . 'x' x STRING . '"},'
    } 1 .. int($bytes / STRING) - 1;

    $text =~ s/"sections":\[\{/"sections":[$more\{/ or die "no sections\n";

    return ($id, substr($text, 0, -1) . ' ' x ($bytes - length $text) . '}');
}


# One of so many levels: arrays in a member that no policy knows.

sub nested {
    my ($depth) = @_;

    return package_of('a body', qq(,\n"x/y":) . '[' x ($depth - 1)
                                . ']' x ($depth - 1));
}


sub publish {
    my ($text) = @_;

    return $t->relayctl('publish', $t->write_file('document.json', $text),
                        '--owner-iss', $t->issuer(), '--owner-sub', 'leila');
}


# Over another document's key, as a backend would that does not look.

sub smuggle {
    my ($text) = @_;

    my ($id, $good) = package_of();

    publish($good);
    $text =~ s/rly_\d+/$id/;
    $t->redis('SET', "relay:doc:{$id}:1", $text);

    return $id;
}


sub reasons { return map { $_->{reason} // '' } $t->receipts($_[0]) }


# at the limit

for my $case (['the largest', sized(MAX), 6 * STRING],
              ['the deepest', nested(DEPTH), 1],
              ['the largest string', package_of('x' x STRING), STRING])
{
    my ($name, $id, $text, $least) = @$case;
    my ($rc, $out, $err) = publish($text);

    is($rc, 0, "$name: published") or diag $err;

    my $link = $t->link(-relay => $id);
    my $r = $t->get("/r/$link", -bearer => $tomas);

    is($r->status, 200, "$name: served");
    ok($r->complete, "$name: whole");
    cmp_ok(length $r->body, '>', $least, "$name: its long texts");
    like($r->body, qr/^\{.*"id":"$id".*\}$/s, "$name: of that relay");
    ok($t->get("/r/$link", -bearer => $tomas)->body eq $r->body,
       "$name: the same again, be it cached or not");
    ok($t->get("/r/$link", -bearer => $leila)->body eq $text,
       "$name: the owner gets the document byte by byte");
    is((grep { $_ eq 'served' } reasons($id)), 1, "$name: a receipt");
}

# just beyond: relayctl refuses, and nothing is written

my $keys = $t->redis('DBSIZE');

for my $case (
    ['too large', sized(MAX + 1), qr/:1:8388609: .*longer than 8 MiB/],
    ['too deep', nested(DEPTH + 1),
     qr{:2:70: /x~1y(?:/0){63}: .* nested too deeply}],
    ['too long a string', package_of('x' x (STRING + 1)),
     qr{:1:\d+: /context/sections/0/body: the string is too long}],
    ['too many members',
     package_of('', ',"zz":{' . join(',', map { qq("m$_":1) } 1 .. 4097) . '}'),
     qr{:1:\d+: /zz: the object has too many members}],
    ['too long a name', package_of('', ',"zz":{"' . 'n' x 1025 . '":1}'),
     qr{:1:\d+: /zz: the member's name is too long}],
    ['too long a number', package_of('', ',"zz":[0,' . '1' x 257 . ']'),
     qr{:1:\d+: /zz/1: the number is too long}],
) {
    my ($name, $id, $text, $says) = @$case;
    my ($rc, $out, $err) = publish($text);

    is($rc, 1, "$name: refused");
    like($err, qr/document\.json$says/, "$name: where and why");
    is($out, '', "$name: nothing is published");
    is($t->redis('EXISTS', "relay:{$id}"), 0, "$name: no head");

    # in Redis all the same

    $id = smuggle($text);

    my $link = $t->link(-relay => $id);

    for my $bearer ($tomas, $leila) {
        my $r = $t->get("/r/$link", -bearer => $bearer);

        is($r->status, 502, "$name: withheld, the owner's too");
        is($r->header('X-Reason'), 'withheld', "$name: the reason");
        unlike($r->raw, qr/Norrvik|xxxx/, "$name: nothing of the content");
    }

    ok($t->wait_for(sub { grep { $_ eq 'withheld' } reasons($id) }),
       "$name: a receipt says so");
    ok(!(grep { $_ eq 'served' } reasons($id)), "$name: and none of a read");
    like($t->error_log(), qr/document of relay "$id" withheld: line \d+, col/,
         "$name: the log says where");
}

# larger than a reply may be: the connection is given up, the worker is not

{
    my $id = smuggle(' ' x (MAX + 128 * 1024));
    my $link = $t->link(-relay => $id);
    my $r = $t->get("/r/$link", -bearer => $tomas);

    is($r->status, 503, 'beyond reply_max: 503');
    is($r->header('X-Reason'), 'store_unavailable', 'the reason');
    like($t->error_log(), qr/does not keep to its protocol: .*server: "unix:/,
         'the log names the server');

    my ($good, $text) = package_of();

    publish($text);
    $link = $t->link(-relay => $good);

    ok($t->wait_for(sub {
        $t->get("/r/$link", -bearer => $tomas)->status == 200
    }), 'another relay is served again');
}

is($t->get('/alive')->body, 'alive', 'the worker lives');
is(join(' ', $t->workers()), $worker, 'and is the same');

# what is left is looked through for tokens: no need of 60 MiB of texts

$t->redis('DEL', @{$t->redis('KEYS', 'relay:doc:*')});

$t->stop();
done_testing();

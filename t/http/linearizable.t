#!/usr/bin/perl

# Readers and a revoker side by side.  In every round a link is read by several
# processes until it is refused, and revoked at some moment in between: in even
# rounds by revoke.lua, in odd ones by a bare HSET that forgets the epoch.
#
# - no read that was requested after the acknowledgement is served;
# - no receipt of a served read stands after the revocation in the stream;
# - every 200 has exactly one receipt, and every receipt of a read its 200.
#
# ROUNDS is the number of rounds (600).

use strict;
use warnings;

use lib 't/lib';

use Digest::SHA qw(sha256);
use IO::Handle;
use JSON::PP ();
use MIME::Base64 qw(encode_base64url);
use Relay::Test;
use Test::More;
use Time::HiRes qw(clock_gettime sleep CLOCK_MONOTONIC);

use constant READERS => 3;

my $rounds = $ENV{ROUNDS} || 600;

my %opts = (workers => 2, timeout => 120 + $rounds);

my $t = Relay::Test->new(%opts, http => <<'EOC');
    relay_zone views:1m;
    keepalive_requests 1000000;

    server {
        listen 127.0.0.1:%%PORT%%;

        location ~ ^/r/(?<relay_token>[^/]+)$ {
            %%RELAY%%
            relay_link $relay_token;
            relay_package on;
            add_header X-Receipt $relay_receipt always;
        }
    }
EOC

my $id = $t->publish();
my $stream = "relay:receipts:{$id}";
my $bearer = $t->token();

$t->run();

# links as a backend writes them

my @tokens = map { $t->secret(encode_base64url(sha256("$$ $_ " . rand()))) }
                 1 .. $rounds;
my @digests = map { encode_base64url(sha256($_)) } @tokens;

for my $i (0 .. $rounds - 1) {
    $t->redis_pipeline(
        ['HSET', "relay:{$id}:l:$digests[$i]", 'state', 'active', 'epoch', 1],
        ['SET', "relay:link:$digests[$i]", $id, 'NX']);
}

is($t->get("/r/" . $t->link(), -bearer => $bearer)->status, 200,
   'the reader has her grant');

my $revoke = $t->redis('SCRIPT', 'LOAD', $t->read_file(
    "$Relay::Test::ROOT/schema/redis/revoke.lua"));


# One keep-alive connection; an answer has a Content-Length.

sub fetch {
    my ($socket, $token) = @_;

    my $requested = clock_gettime(CLOCK_MONOTONIC);

    syswrite($socket, "GET /r/$token HTTP/1.1\r\nHost: localhost\r\n"
             . "Authorization: Bearer $bearer\r\n\r\n") or die "write: $!\n";

    my $buf = '';

    while (1) {
        last if $buf =~ /\r\n\r\n/
                && $buf =~ /^Content-Length: (\d+)\r\n/mi
                && length($buf) >= index($buf, "\r\n\r\n") + 4 + $1;

        sysread($socket, $buf, 65536, length $buf) or die "read: $!\n";
    }

    my ($status) = $buf =~ m{^HTTP/1\.1 (\d+)};
    my ($receipt) = $buf =~ /^X-Receipt: (\S+)\r$/mi;

    return ($requested, $status, $receipt // '-');
}


pipe(my $started, my $starting) or die "pipe: $!\n";
$starting->autoflush(1);

my @files = map { $t->dir() . "/reader.$_" } 1 .. READERS;
my @readers;

for my $file (@files) {
    push @readers, $t->run_daemon(sub {
        close $started;
        open my $out, '>', $file or die "$file: $!\n";
        my $socket = $t->connect();

        for my $i (0 .. $rounds - 1) {
            my $first = 1;

            while (1) {
                my ($at, $status, $receipt) = fetch($socket, $tokens[$i]);

                print $out "$i $at $status $receipt\n";
                last if $status != 200;

                print $starting "$i\n" if $first;
                $first = 0;
            }
        }

        close $out or die "$file: $!\n";
    });
}

close $starting;

my @acknowledged;
my $next = 0;

while (defined(my $i = <$started>)) {
    chomp $i;
    next if $i < $next;
    $next = $i + 1;

    sleep(rand() * 0.003);

    my $mark = qq({"kind":"mark","link":"$digests[$i]"});

    if ($i % 2) {
        $t->redis_pipeline(
            ['MULTI'],
            ['HSET', "relay:{$id}:l:$digests[$i]", 'state', 'revoked'],
            ['XADD', $stream, '*', 'r', $mark],
            ['EXEC']);

    } else {
        $t->redis('EVALSHA', $revoke, 2, "relay:{$id}:l:$digests[$i]", $stream,
                  $mark, '', 'test', '');
    }

    $acknowledged[$i] = clock_gettime(CLOCK_MONOTONIC);
    last if $next == $rounds;
}

is(scalar(grep { defined } @acknowledged), $rounds, "$rounds revocations");

$t->wait_for(sub { !grep { kill(0, $_) && !waitpid($_, 1) } @readers }, 60);

my (%seen, @late, @odd, @twice);
my $served = 0;

for my $file (@files) {
    for (split /\n/, $t->read_file($file)) {
        my ($i, $at, $status, $receipt) = split / /;

        if ($status == 200) {
            $served++;
            push @late, $_ if $at > $acknowledged[$i];
            push @twice, $_ if $seen{$receipt}++;

        } elsif ($status != 410) {
            push @odd, $_;
        }
    }
}

cmp_ok($served, '>', $rounds, "$served reads were served");
is_deeply(\@late, [], 'none that was requested after an acknowledgement');
is_deeply(\@odd, [], 'all others are 410');
is_deeply(\@twice, [], 'each has a receipt of its own');

my (%revoked, @after, @unserved);

for my $r ($t->receipts($id)) {
    if ($r->{kind} eq 'mark') {
        $revoked{$r->{link}} = 1;

    } elsif ($r->{kind} eq 'read') {
        push @after, $r->{id} if $revoked{$r->{link}};
        push @unserved, $r->{id}
            if !delete $seen{$r->{id}} && grep { $_ eq $r->{link} } @digests;
    }
}

is_deeply(\@after, [], 'no read stands after its revocation in the stream');
is_deeply(\@unserved, [], 'no receipt without its 200');
is_deeply([keys %seen], [], 'no 200 without its receipt');

$t->stop();
done_testing();

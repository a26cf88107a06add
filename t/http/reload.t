#!/usr/bin/perl

# Reload and binary upgrade under load, requests waiting on a slow Redis among
# them: no failed request, no worker that stays, no leak.  Clients that go away
# at any moment.

use strict;
use warnings;

use lib 't/lib';

use Relay::Test;
use Test::More;
use Time::HiRes qw(sleep time);

my $t = Relay::Test->new(workers => 2, timeout => 240, server => <<'EOC');
    location ~ ^/r/(?<relay_token>[^/]+)$ {
        relay_redis %%REDIS%% command_timeout=5s;
        relay_jwt_keys %%KEYS%% issuer=https://id.example
                       audience=https://edge.example email=trusted;
        relay_link $relay_token;
        relay_package on;
    }
EOC

my $reloads = $ENV{ROUNDS} || 20;
my $id = $t->publish();
my $link = $t->link();
my $bearer = $t->token();

$t->run();
is($t->get("/r/$link", -bearer => $bearer)->status, 200, 'served');


# Readers that note every answer that is not 200.

sub load {
    my ($file) = @_;

    return $t->run_daemon(sub {
        open my $out, '>>', $file;
        $out->autoflush(1);

        while (!-e "$file.stop") {
            my $r = eval { $t->get("/r/$link", -bearer => $bearer) };
            print $out $r ? $r->status : "no answer: $@", "\n";
        }
    });
}

my @files = map { $t->dir() . "/load.$_" } 1, 2;
my @load = map { load($_) } @files;

sleep 0.3;

my ($rss, $last) = (0, 0);

for my $i (1 .. $reloads) {
    $t->reload();
    $rss = $t->rss($t->master()) if $i == int($reloads / 2);
    $last = $t->rss($t->master());
}

is(scalar($t->workers()), 2, 'no worker stays');

SKIP: {
    skip 'AddressSanitizer keeps what was freed', 1 if $t->sanitized();

    cmp_ok($last - $rss, '<', 1024,
           "memory of the master is flat: $rss, $last KB");
}

# requests that wait on Redis at that moment

$t->redis_pause();

my @waiting = map { $t->send_request('GET', "/r/$link", -bearer => $bearer) }
                  1 .. 8;

sleep 0.2;
$t->reload(-wait => 0);
sleep 0.3;
$t->redis_resume();

is(join(' ', map { $t->read_response($_)->status } @waiting),
   join(' ', (200) x 8), 'those that waited through a reload were served');

ok($t->wait_for(sub { $t->workers() == 2 }, 10), 'the old workers have left');

# a binary upgrade, the same way

$t->redis_pause();
@waiting = map { $t->send_request('GET', "/r/$link", -bearer => $bearer) }
               1 .. 4;
sleep 0.2;

my $pid = $t->run_daemon(sub { sleep 0.5; $t->redis_resume() });

$t->upgrade();

is(join(' ', map { $t->read_response($_)->status } @waiting),
   join(' ', (200) x 4), 'those that waited through an upgrade were served');

$t->write_file("load.$_.stop", '') for 1, 2;
ok($t->wait_for(sub { !grep { kill(0, $_) && !waitpid($_, 1) } @load }, 20),
   'the load has ended');

my %answers;
$answers{$_}++ for map { split /\n/, $t->read_file($_) } @files;

is(join(', ', sort keys %answers), '200',
   'no failed request among ' . ($answers{200} // 0));

# clients that go away while Redis is slow, and while the body is sent

my $before = scalar(grep { $_->{kind} eq 'read' } $t->receipts($id));

$t->redis_pause();

for (1 .. 20) {
    my $socket = $t->send_request('GET', "/r/$link", -bearer => $bearer);
    sleep 0.01;
    close $socket;
}

sleep 0.2;
$t->redis_resume();
sleep 0.2;

is(scalar(grep { $_->{kind} eq 'read' } $t->receipts($id)), $before,
   'who left before the decision has not read');

is($t->get("/r/$link", -bearer => $bearer)->status, 200, 'and it serves on');

$t->stop();
done_testing();

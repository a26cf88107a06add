#!/usr/bin/perl

# What relay_redis declares of durability is compared with what Redis says:
# once per process, without a read that waits for it; what Redis does not let us
# see is said too.  And what an ACL refuses is logged once, with the user.

use strict;
use warnings;

use lib 't/lib';

use IO::Select;
use IO::Socket::INET;
use Relay::Test;
use Test::More;


# A location per declaration, on one Redis; the user may be another.

sub server {
    my ($options, @more) = @_;

    my $locations = '';

    for my $n (0 .. $#more) {
        $locations .= <<"EOC";
    location ~ ^/$n/(?<t$n>.*)\$ {
        relay_redis %%REDIS%% $more[$n];
        relay_link \$t$n;
        relay_package on;
    }
EOC
    }

    return Relay::Test->new(%$options, server => <<"EOC");
    relay_jwt_keys %%KEYS%% issuer=https://id.example
                   audience=https://edge.example email=trusted;
    add_header X-Reason \$relay_reason always;
$locations
EOC
}


sub lines {
    my ($t, $pattern) = @_;

    return grep { /$pattern/ } split /\n/, $t->error_log();
}


# what each configuration of Redis promises, for each declaration

for my $case (
    ['no file', { }, 'none', qw(none everysec always)],
    ['everysec', { appendonly => 'everysec' }, 'everysec', qw(always)],
    ['always', { appendonly => 'always' }, 'always'],
    ['fsync by the kernel', { appendonly => 'no' }, 'none',
     qw(everysec always)],
) {
    my ($name, $options, $promised, @more) = @$case;
    my @declared = ('none', 'everysec', 'always');
    my $t = server($options, '', map { "durability=$_" } @declared);

    $t->publish();

    my $link = $t->link();
    my $bearer = $t->token();
    my %warned = map { $_ => 1 } grep { $_ ne 'none' } @more;

    $t->run();

    for my $n (0 .. 3) {
        is($t->get("/$n/$link", -bearer => $bearer)->status, 200,
           "$name, $n: served");
    }

    ok($t->wait_for(sub { 4 == lines($t, qr/durability of receipts/) }),
       "$name: each server is checked");

    is(lines($t, qr/\[notice\].*: durability of receipts is $promised, relay_/),
       4 - keys %warned, "$name: $promised, and that is enough");
    is(lines($t, qr/\[notice\].*is $promised, .* declares nothing/), 1,
       "$name: also where nothing is declared");

    for my $declared (@declared) {
        is(lines($t, qr/\[warn\].*is $promised, but .* declares $declared:/),
           $warned{$declared} ? 1 : 0, "$name: declared $declared");
    }

    is(lines($t, qr/maxmemory-policy/), 0, "$name: nothing is evicted");

    for my $n (0 .. 3) {
        is($t->get("/$n/$link", -bearer => $bearer)->status, 200, 'once more');
    }

    is(lines($t, qr/durability of receipts/), 4, "$name: it is said once");

    if ($promised eq 'always') {
        $t->reload();
        is($t->get("/1/$link", -bearer => $bearer)->status, 200, 'reloaded');
        ok($t->wait_for(sub { 5 == lines($t, qr/durability of receipts/) }),
           'and once by the next process');
    }

    $t->stop();
}


# eviction; CONFIG refused, INFO refused

my $t = server({ appendonly => 'everysec' }, 'durability=always', map {
    "user=$_ password_file=%%DIR%%/password durability=always"
} qw(edge info mute));

$t->write_file('password', "hunter2\n");
$t->publish();

# as schema/redis/README.md has it, and with less

my ($acl) = $t->read_file('schema/redis/README.md')
    =~ /^ACL SETUSER relay-edge (.*)$/m;

for (['edge', '+config|get'], ['info', ''], ['mute', '-info']) {
    my ($user, @rules) = @$_;
    my @acl = $acl =~ /\([^)]*\)|\S+/g;

    $t->redis('ACL', 'SETUSER', $user,
              (map { s/^>edge-password$/>hunter2/r }
                   grep { !/^\+config/ } @acl),
              grep { length } @rules);
}

$t->redis('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru');

my $link = $t->link();
my $bearer = $t->token();

$t->run();

is($t->get("/$_/$link", -bearer => $bearer)->status, 200, "user $_: served")
    for 0 .. 3;

ok($t->wait_for(sub { 4 == lines($t, qr/durability of receipts/) }),
   'each user is told');

is(lines($t, qr/\[warn\].*is everysec, but .* declares always/), 2,
   'the edge as documented, with config|get, may look');
is(lines($t, qr/\[notice\].*cannot be checked, .* always, appendonly is yes; /),
   1, 'INFO says that there is a file');
is(lines($t, qr/\[notice\].*cannot be checked, .* declares always; \+config/),
   1, 'or nothing does');
is(lines($t, qr/\[warn\].*maxmemory-policy is volatile-lru/), 3,
   'who may look sees the eviction');
is(lines($t, qr/Redis refused/), 0, 'that it may not look is no error');

# what an ACL takes away from a running edge: each link is a new one to it

$t->redis('ACL', 'SETUSER', 'edge', '-hgetall');

for (1 .. 5) {
    my $r = $t->get('/1/' . $t->link(), -bearer => $bearer);

    is($r->status, 503, 'HGETALL is taken away');
    is($r->header('X-Reason'), 'store_unavailable', 'the reason');
}

my @refused = lines($t, qr/\[error\].*Redis refused/);

is(@refused, 1, 'it is logged once');
like($refused[0], qr/refused a command of user "edge": "NOPERM .*'hgetall'/,
     'with the user and the command');
like($refused[0], qr/"Access control" in schema.*, server: "unix:/,
     'the page and the server');
cmp_ok(lines($t, qr/\[info\].*Redis "unix:[^"]+" refused: "NOPERM/), '>=', 5,
       'and with each request at info');
unlike($t->error_log(), qr/hunter2/, 'no password');

$t->redis('ACL', 'SETUSER', 'edge', '+hgetall');
is($t->get("/1/$link", -bearer => $bearer)->status, 200, 'given back');

# a password that is wrong

$t->redis('ACL', 'SETUSER', 'info', 'resetpass', '>another');
$t->redis('CLIENT', 'KILL', 'USER', 'info');

is($t->get('/2/' . $t->link(), -bearer => $bearer)->status, 503,
   'WRONGPASS');
is(() = lines($t, qr/\[error\].*refused AUTH of user "info": "WRONGPASS/), 1,
   'says whose');
unlike($t->error_log(), qr/hunter2/, 'no password');

$t->stop();

# a proxy that ends the connection at what it does not know: the documents come
# through all the same, and it is not asked for ever

$t = Relay::Test->new(server => <<'EOC');
    relay_jwt_keys %%KEYS%% issuer=https://id.example
                   audience=https://edge.example email=trusted;
    location ~ ^/r/(?<t0>.*)$ {
        relay_redis redis://127.0.0.1:%%PORT1%% backoff=10ms durability=always;
        relay_link $t0;
        relay_package on;
    }
EOC

my $seen = $t->dir() . '/seen';

$t->run_daemon(sub {
    my $listener = $t->listener($t->port(1));
    my %other;
    my $select = IO::Select->new($listener);

    while (my @ready = $select->can_read()) {
        for my $fh (@ready) {
            if ($fh == $listener) {
                my $client = $listener->accept() or next;
                my $server = IO::Socket::INET->new(
                    PeerAddr => '127.0.0.1', PeerPort => $t->port('redis'))
                    or die "connect: $!\n";
                @other{$client, $server} = ($server, $client);
                $select->add($client, $server);
                next;
            }

            my $peer = $other{$fh} or next;
            my $n = sysread($fh, my $buf, 65536);
            my $config = $n && $buf =~ /^CONFIG\r$/m;

            $t->append_file('seen', "CONFIG\n") if $config;

            if (!$n || $config || !syswrite($peer, $buf)) {
                $select->remove($fh, $peer);
                delete @other{$fh, $peer};
                close $_ for $fh, $peer;
            }
        }
    }
});

$t->wait_for_socket($t->port(1));
$t->publish();
$link = $t->link();
$bearer = $t->token();
$t->allow(qr/Redis/);
$t->run();

ok($t->wait_for(sub { $t->get("/r/$link", -bearer => $bearer)->status == 200 }),
   'served behind a proxy that does not know CONFIG');
is($t->get("/r/$link", -bearer => $bearer)->status, 200, 'and again');
is($t->read_file($seen), "CONFIG\n" x 3, 'it was asked three times');
is(lines($t, qr/\[notice\].*durability of receipts cannot be checked/), 1,
   'and that is said');

$t->stop();

done_testing();

#!/usr/bin/perl

# What relayctl says when something is wrong: where it looked, who it was, and
# what to do about it; what would make a useless link is refused.

use strict;
use warnings;

use lib 't/lib';

use Relay::Test;
use Test::More;

my $t = Relay::Test->new();
my $sock = $t->redis_url() =~ s/^unix://r;
my $id = $t->publish();

my ($rc, $out, $err);

# no connection

my $closed = $t->port(1);

($rc, $out, $err) = $t->relayctl('show', $id, '--redis',
                                 "redis://127.0.0.1:$closed/2");
is($rc, 3, 'nobody listens');
like($err, qr/^relayctl: 127\.0\.0\.1:$closed: Connection refused: /,
     'host, port and cause');
like($err, qr/--redis or RELAY_REDIS/, 'and a hint');

($rc, $out, $err) = $t->relayctl('show', $id, '--redis', 'unix:/nowhere/x:2');
is($rc, 3, 'no socket');
like($err, qr{^relayctl: unix:/nowhere/x: No such file}, 'path and cause');

# no relay

for my $args (['show', 'nothing'], ['receipts', 'nothing'],
              ['link', 'nothing'], ['revoke', 'nothing'],
              ['grant', 'nothing', '--email', 'a@b.example'])
{
    ($rc, $out, $err) = $t->relayctl(@$args, '--prefix', 'other:', '--redis',
                                     "unix:$sock:5");
    is($rc, 4, "$args->[0]: no such relay");
    like($err, qr/^relayctl: nothing: .*"other:" in database 5 of unix:\Q$sock/,
         'prefix, database and server');
}

# not allowed

my @as = qw(--user reader --password-file);
my $password = $t->write_file('password', "secret\n");

$t->redis('ACL', 'SETUSER', 'reader', 'on', '>secret', '-@all', '+get',
          '+exists', '+hget', '+hmget', '+hgetall', '~relay:*');

for (['XRANGE', 'receipts', $id, '--from', '0'],
     ['script link', 'link', $id], ['script revoke', 'revoke', $id])
{
    my ($what, @args) = @$_;

    ($rc, $out, $err) = $t->relayctl(@args, @as, $password);
    is($rc, 3, "$what: refused");
    like($err, qr/NOPERM .*: user "reader", \Q$what\E, at unix:\Q$sock\E: /,
         'user, command and server');
    like($err, qr{"Access control" in schema/redis/README\.md}, 'and the page');
}

# a script that may run, but not what is in it

$t->redis('ACL', 'SETUSER', 'reader', '+evalsha', '+eval', '+select');

($rc, $out, $err) = $t->relayctl('revoke', $id, @as, $password);
is($rc, 3, 'a command inside of a script');
like($err, qr/user "reader", script revoke, at .*"Access control"/,
     'is told in the same way');

($rc, $out, $err) = $t->relayctl('show', $id, @as,
                                 $t->write_file('wrong', "hunter2\n"));
is($rc, 3, 'a wrong password');
like($err, qr/WRONGPASS .*: user "reader", AUTH, .* with this password/,
     'whose it is');
unlike($err, qr/hunter2/, 'it is not repeated');

$t->redis('ACL', 'SETUSER', 'default', 'resetpass', '>opensesame');

($rc, $out, $err) = $t->relayctl('show', $id);
is($rc, 3, 'a password is needed');
like($err, qr/NOAUTH .*: user "default", .*--user and --password-file/,
     'and how to give one');

{
    local $t->{opts}{redis_auth} = 'opensesame';
    delete $t->{redis_socket};
    $t->redis('ACL', 'SETUSER', 'default', 'nopass');
}

# a server that repeats what it was sent

my $echo = "$t->{sockets}/echo.sock";

$t->run_daemon(sub {
    my $listener = $t->listener($echo);

    while (my $client = $listener->accept()) {
        sysread($client, my $buf, 65536) or next;
        syswrite($client, "-ERR unknown command, with args 'hunter2hunter2'"
                          . "\e[31m\r\n");
        close $client;
    }
});

$t->wait_for_socket($echo);

($rc, $out, $err) = $t->relayctl('show', $id, '--redis', "unix:$echo",
    '--password-file', $t->write_file('long', "hunter2hunter2\n"));
is($rc, 3, 'a server without AUTH');
is($err, "relayctl: redis: ERR\n", 'its first word is shown, no password');

($rc, $out, $err) = $t->relayctl('show', $id, '--redis', "unix:$echo");
like($err, qr/^relayctl: redis: ERR unknown .*\?\[31m\n\z/,
     'no control characters');

# links and grants of the past

for my $args (['link', $id], ['grant', $id, '--email', 'past@norrvik.example'])
{
    for my $when ('2020-01-01', '2020-01-01T00:00:00Z', '1970-01-02') {
        ($rc, $out, $err) = $t->relayctl(@$args, '--expires', $when);
        is($rc, 2, "$args->[0] --expires $when: refused");
        like($err, qr/--expires: \Q$when\E is over/, 'and why');
        is($out, '', 'nothing is made');
    }
}

($rc, $out) = $t->relayctl('show', $id, '--json');
is_deeply([@{$t->read_json($t->write_file('shown.json', $out))}
                {qw(links grants)}], [[], []], 'nothing was written');

# what the token is put after

for my $base ('foo', 'foo.example/r/', '/r/', 'ftp://foo/r/', 'https://',
              'https:///r/', 'https://foo/#', 'https://foo/a b', '')
{
    ($rc, $out, $err) = $t->relayctl('link', $id, '--base-url', $base);
    is($rc, 2, "--base-url \"$base\": refused");
    like($err, qr{--base-url: .* https://HOST/r/: not "\Q$base\E"},
         'and what is wanted');
    is($out, '', 'no link is made');
}

for (['https://foo.example/r/', 'https://foo.example/r/'],
     ['https://foo.example/r', 'https://foo.example/r/'],
     ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/'],
     ['https://foo.example/q?t=', 'https://foo.example/q?t='])
{
    my ($base, $before) = @$_;

    like($t->relayctl('link', $id, '--base-url', $base),
         qr/\A\Q$before\E[\w-]{43}\n\z/, "--base-url $base");
}

# another document type

($rc, $out, $err) = $t->relayctl('publish', 'schema/examples/packet.json',
                                 '--owner-iss', 'i', '--owner-sub', 's');
is($rc, 1, 'a packet');
like($err, qr{packet\.json:1:1: /schema: .*relay\.context-package\.v1},
     'which type is expected');

my $hire = $t->write_file('hire.json', qq({\n "schema": "relay.hire.v1"}));

($rc, $out, $err) = $t->relayctl('publish', $hire, '--owner-iss', 'i',
                                 '--owner-sub', 's');
is($rc, 1, 'another type');
like($err, qr{hire\.json:2:12: /schema: .*\.v1 is expected, not "relay\.hire},
     'where, which, and which not');

# revoked already

my $link = $t->link();

for my $of (['relay link', '--link', $link],
            ['grant', '--email', 'gone@norrvik.example'])
{
    my ($what, @of) = @$of;

    ($rc, $out) = $t->relayctl('revoke', $id, @of, '--by', 'first', '--reason',
                               'a reason');
    is($rc, 0, "$what: revoked");
    unlike($out, qr/^already/m, 'for the first time');

    my $notes = $t->redis('XLEN', 'relay:revocations');

    ($rc, $out) = $t->relayctl('revoke', $id, @of, '--by', 'second');
    is($rc, 0, "$what: again, with success");
    like($out, qr/^already +.*before/m, 'and says so');
    like($out, qr/^revoked_by +first$/m, 'by whom');
    like($out, qr/^revoked_reason +a reason$/m, 'why');
    like($out, qr/^revoked_at +20\d\d-/m, 'when');
    unlike($out, qr/second/, 'the first one stands');
    is($t->redis('XLEN', 'relay:revocations'), $notes, 'it is noted once');
}

$t->stop();
done_testing();

#!/usr/bin/perl

# One grammar of the server's address, and one check of the prefix, for nginx
# and for relayctl: what one takes the other takes, with the same words for what
# is wrong, and a password is never repeated.

use strict;
use warnings;

use lib 't/lib';

use Relay::Test;
use Test::More;

my $t = Relay::Test->new();
my $sock = $t->redis_url() =~ s/^unix://r;
my $port = $t->port('redis');


sub nginx {
    my ($directives) = @_;

    return $t->conf_test(<<"EOC");
%%GLOBALS%%
daemon off;
events { }
http {
    %%GLOBALS_HTTP%%
    server {
        listen 127.0.0.1:%%PORT%%;
        relay_jwt_keys %%KEYS%% issuer=i audience=a;
        location / { relay_link \$arg_t; relay_package on; $directives }
    }
}
EOC
}

# RELAY_REDIS, where a password may stand: harness and command line aside

sub ctl {
    my ($url, @args) = @_;

    my $program = $ENV{RELAYCTL} || 'build/relayctl';
    my $pid = open(my $fh, '-|') // die "fork: $!\n";

    if ($pid == 0) {
        $ENV{RELAY_REDIS} = $url;
        open STDERR, '>&', \*STDOUT;
        exec { $program } $program, 'show', 'nothing', @args
            or POSIX::_exit(127);
    }

    local $/;
    my $said = <$fh> // '';
    close $fh;

    return ($? >> 8, $said);
}


$t->redis('ACL', 'SETUSER', 'op', 'on', '>hunter:2@x', '~*', '+@all');

for my $url ("redis://127.0.0.1:$port", "redis://127.0.0.1:$port/",
             "REDIS://127.0.0.1:$port/0", "redis://127.0.0.1:$port/3",
             "redis://op:hunter%3A2\%40x\@127.0.0.1:$port/3",
             "redis://op:hunter:2\@x\@127.0.0.1:$port",
             "unix:$sock", "unix:$sock:0", "unix:$sock:3")
{
    my ($ok, $said) = nginx("relay_redis $url;");

    ok($ok, "nginx takes $url") or diag $said;
    unlike($said, qr/hunter/, 'and repeats no password');

    my ($rc, $text) = ctl($url);
    my ($db) = $url =~ m{[:/](3)$};

    is($rc, 4, "relayctl takes $url");
    like($text, qr/ in database \Q@{[$db || 0]}\E of /, 'and its database');
}

# nobody listens there, but it is an address

for my $url ('redis://[::1]', 'redis://op:hunter2@[::1]:1/2') {
    my ($ok, $said) = nginx("relay_redis $url;");

    ok($ok, "nginx takes $url") or diag $said;

    my ($rc, $text) = ctl($url);

    isnt($rc, 2, "relayctl takes $url");
    unlike($said . $text, qr/hunter2/, 'and neither repeats a password');
}

for my $bad (['rediss://op:hunter2@127.0.0.1', qr/not supported yet/],
             ['http://127.0.0.1', qr/"http" is not a scheme/],
             ['127.0.0.1:6379', qr/must begin with/],
             ['redis://', qr/a host/],
             ['redis://op:hunter2', qr/a port/],
             ['redis://op:@127.0.0.1', qr/password is empty/],
             ['redis://127.0.0.1:0', qr/a port/],
             ['redis://127.0.0.1:65536', qr/a port/],
             ['redis://127.0.0.1/x', qr/number of the database/],
             ['redis://127.0.0.1/1000001', qr/number of the database/],
             ['redis://op:hunter2%@127.0.0.1', qr/hexadecimal/],
             ['unix:run/redis.sock', qr/begins with/],
             ['unix:/run/redis.sock?db=1', qr/after a colon/],
             ['unix:/run/redis.sock:x', qr/number of the database/],
             ['unix:/' . 'x' x 107, qr/at most 107/])
{
    my ($url, $says) = @$bad;
    my ($ok, $said) = nginx("relay_redis $url;");

    ok(!$ok, "nginx refuses $url");
    like($said, $says, 'and says why');
    unlike($said, qr/hunter2/, 'without a password');

    my ($rc, $text) = ctl($url);

    is($rc, 2, "relayctl refuses $url");
    like($text, $says, 'in the same words');
    like($text, qr/^relayctl: RELAY_REDIS: /, 'and says what it read');
    unlike($text, qr/hunter2/, 'without a password');
}

# a password has no place on a command line

my ($rc, $said) = ctl('', '--redis', "redis://op:hunter2\@127.0.0.1:$port");
is($rc, 2, 'a password in --redis');
like($said, qr/--password-file, or RELAY_REDIS/, 'and where it belongs');
unlike($said, qr/hunter2/, 'it is not repeated');

my $file = $t->write_file('secret', "hunter:2\@x\r\n");

($rc) = ctl("redis://op\@127.0.0.1:$port", '--password-file', $file);
is($rc, 4, 'a user in the URL, the password in a file');

($rc, $said) = ctl("redis://op:hunter2\@127.0.0.1:$port", '--password-file',
                   $file);
is($rc, 2, 'two passwords');
like($said, qr/a second password/, 'are one too many');
unlike($said, qr/hunter/, 'none is repeated');

($rc, $said) = ctl("redis://op:hunter2\@127.0.0.1:$port");
is($rc, 3, 'a wrong password');
like($said, qr/WRONGPASS.*: user "op", AUTH, at 127\.0\.0\.1:$port: /,
     'names user and server');
unlike($said, qr/hunter2/, 'and not the password');

# one prefix

for my $prefix ('r:', 'other*:', 'p' x 128) {
    my ($ok, $said) = nginx("relay_redis unix:$sock; relay_prefix $prefix;");

    ok($ok, 'nginx takes a prefix of ' . length $prefix) or diag $said;

    my ($rc, $text) = ctl("unix:$sock", '--prefix', $prefix);
    is($rc, 4, 'and so does relayctl');
    like($text, qr/under prefix "\Q$prefix\E" in database 0 of unix:/,
         'which says where it looked');
}

for my $prefix ('', 'a b', 'a{b}', "\xc3\xa9:", 'p' x 129) {
    my ($ok, $said) = nginx("relay_redis unix:$sock; "
                            . qq(relay_prefix "$prefix";));

    ok(!$ok, 'nginx refuses a prefix of ' . length $prefix);
    like($said, qr/1 to 128 printable/, 'and says why');

    my ($rc, $text) = ctl("unix:$sock", '--prefix', $prefix);
    is($rc, 2, 'and so does relayctl');
    like($text, qr/--prefix: 1 to 128 printable/, 'in the same words');
}

$t->stop();
done_testing();

#!/usr/bin/perl

# relayctl, against a redis-server of its own on a unix socket.
#
#   prove t/ctl/relayctl.t         (from the root; RELAYCTL=path to another one)

use strict;
use warnings;

use Digest::SHA qw(sha256_base64);
use File::Temp qw(tempdir);
use IO::Select;
use IO::Socket::UNIX;
use IPC::Open3;
use JSON::PP;
use MIME::Base64 qw(decode_base64);
use POSIX qw(WNOHANG);
use Symbol qw(gensym);
use Test::More;

my $relayctl = $ENV{RELAYCTL} || 'build/relayctl';

BAIL_OUT("$relayctl is not there: run make first") if !-x $relayctl;
BAIL_OUT('schema/ is not here: run this from the root') if !-d 'schema';

my $examples = 'schema/examples';
my $pilot = "$examples/pilot.relay.json";

BAIL_OUT("$pilot is not there") if !-f $pilot;

my $dir = tempdir('relayctl-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $socket = "$dir/redis.sock";
my $json = JSON::PP->new->canonical;
my (@pids, $redis);

delete $ENV{RELAY_REDIS};
$SIG{PIPE} = 'IGNORE';

END {
    my $status = $?;
    kill 'TERM', $_ for @pids;
    waitpid $_, 0 for @pids;
    $? = $status;
}


# Runs relayctl; (exit code, standard output, standard error).

sub run {
    my ($args, $input) = @_;

    my $err = gensym();
    my $pid = open3(my $in, my $out, $err, $relayctl, @$args);

    print $in $input if defined $input;
    close $in;

    my %text = (out => '', err => '');
    my $select = IO::Select->new($out, $err);

    while ($select->count) {
        for my $fh ($select->can_read) {
            my $n = sysread $fh, my $chunk, 65536;
            $select->remove($fh), next if !$n;
            $text{$fh == $out ? 'out' : 'err'} .= $chunk;
        }
    }

    waitpid $pid, 0;

    return ($? & 127 ? "signal $?" : $? >> 8, $text{out}, $text{err});
}


# The same, on our Redis.

sub ctl {
    my ($args, $input) = @_;
    return run([@$args, '--redis', "unix:$socket"], $input);
}


sub reply {
    my ($fh) = @_;

    my $line = <$fh> // die "redis: connection closed\n";
    $line =~ s/\r\n\z//;

    my ($type, $rest) = $line =~ /^(.)(.*)\z/s;

    return $rest if $type eq '+' || $type eq ':';
    die "redis: $rest\n" if $type eq '-';
    return undef if $rest < 0;

    return [map { reply($fh) } 1 .. $rest] if $type eq '*';

    read $fh, my $data, $rest + 2;
    return substr $data, 0, $rest;
}


sub redis {
    my @args = @_;

    print $redis '*' . @args . "\r\n"
          . join '', map {; '$' . length($_) . "\r\n$_\r\n" } @args;
    $redis->flush;

    return reply($redis);
}


sub hash { my $r = redis('HGETALL', @_); return {@$r} }


sub digest {
    my $d = sha256_base64($_[0]);
    $d =~ tr{+/}{-_};
    return $d;
}


sub dump_all {
    my %all;

    for my $key (sort @{redis('KEYS', '*')}) {
        $all{$key} = unpack 'H*', redis('DUMP', $key);
    }

    return $json->encode(\%all);
}


sub receipts {
    my $r = redis('XRANGE', "relay:receipts:{$_[0]}", '-', '+');
    return map { $json->decode({@{$_->[1]}}->{r}) } @$r;
}


sub slurp {
    open my $fh, '<:raw', $_[0] or die "$_[0]: $!\n";
    local $/;
    return scalar <$fh>;
}


sub spew {
    my ($name, $text) = @_;
    open my $fh, '>:raw', "$dir/$name" or die "$dir/$name: $!\n";
    print $fh $text;
    close $fh;
    return "$dir/$name";
}


# The pilot with another head; made by text, so that its lines stay.

sub variant {
    my ($name, $edit) = @_;
    my $doc = $json->decode(slurp($pilot));
    $edit->($doc);
    return spew($name, JSON::PP->new->canonical->pretty->encode($doc));
}


sub start_redis {
    my ($name, @args) = @_;

    my $sock = "$dir/$name.sock";
    my $pid = fork // die "fork: $!\n";

    if ($pid == 0) {
        open STDOUT, '>', "$dir/$name.log";
        open STDERR, '>&', \*STDOUT;
        exec('redis-server', '--port', 0, '--unixsocket', $sock,
             '--dir', $dir, '--save', '', '--appendonly', 'no', @args)
            or POSIX::_exit(127);
    }

    push @pids, $pid;

    for (1 .. 100) {
        my $s = IO::Socket::UNIX->new(Peer => $sock);

        if ($s) {
            print $s "PING\r\n";
            my $line = <$s> // '';
            return $s if $line =~ /^(\+PONG|-NOAUTH)/;
        }

        select undef, undef, undef, 0.05;
    }

    BAIL_OUT('redis-server does not start: ' . slurp("$dir/$name.log"));
}


my ($rc, $out, $err);

# usage

($rc, $out, $err) = run(['--help']);
is($rc, 0, '--help');
like($out, qr/^NAME\n.*^SYNOPSIS\n.*^COMMANDS\n.*^EXIT STATUS\n/ms,
    'help has its sections');

for my $command (qw(validate view publish link grant revoke block import show
                    receipts token keygen))
{
    like($out, qr/^    \Q$command\E /m, "help lists $command");

    my ($rc, $text) = run([$command, '--help']);
    is($rc, 0, "$command --help");
    like($text,
        qr/^NAME\n    relayctl \Q$command\E - .*^OPTIONS\n.*EXIT STATUS/ms,
        "$command has help of its own");
}

($rc, $out) = run(['--version']);
is($rc, 0, '--version');
like($out, qr/^relayctl \d+\.\d+/, 'version');

for my $args ([], ['nonsense'], ['view', $pilot], ['validate'],
              ['validate', '--nonsense', $pilot], ['validate', $pilot, $pilot],
              ['view', '--view', 'nonsense', $pilot],
              ['view', '--view'], ['view', '--view', 'link', '--view', 'link',
               $pilot],
              ['view', '--view', 'link', '--now', 'yesterday', $pilot],
              ['show', 'x', '--redis', 'http://localhost'],
              ['show', 'x', '--redis', 'redis://u:secret@localhost'],
              ['show', 'x', '--redis', 'rediss://localhost'],
              ['show', 'x', '--prefix', 'a{b}'],
              ['show', "a\nb", '--redis', "unix:$socket"],
              ['link', 'x', '--expires', 'soon'],
              ['link', 'x', '--expires', '-1d'],
              ['link', 'x', '--view', 'owner'],
              ['grant', 'x'], ['grant', 'x', '--email', 'a@b.example', '--iss',
               'i', '--sub', 's'],
              ['grant', 'x', '--email', 'nobody'],
              ['grant', 'x', '--iss', 'i'],
              ['revoke', 'x', '--grant', 'a@b.example', '--link', 'l'],
              ['block', 'nonsense', 'x'], ['block', 'subject', 'x'],
              ['block', 'email', 'nobody'], ['block', 'domain', 'a b'],
              ['receipts', 'x', '--from', 'now'],
              ['receipts', 'x', '--count', '0'],
              ['keygen', '--kty', 'DSA', '--kid', 'k'], ['keygen'],
              ['token'])
{
    my ($rc, $out, $err) = run($args);
    is($rc, 2, 'usage: ' . join ' ', map { s/\n/\\n/gr } @$args);
    is($out, '', 'nothing on standard output');
    like($err, qr/^relayctl: /, 'a sentence on standard error');
    unlike($err, qr/secret/, 'no password in it');
}

# validate

($rc, $out, $err) = run(['validate', $pilot]);
is($rc, 0, 'validate');
like($out, qr/: valid: relay\.context-package\.v1 rly_7QmX2c9Lw4 version 3$/,
    'says what it is');
is($err, '', 'and nothing else');

($rc, $out) = run(['validate', '--json', '-'], slurp($pilot));
is($rc, 0, 'validate from standard input');
is_deeply($json->decode($out), {
    file => '-', valid => JSON::PP::true, relay => 'rly_7QmX2c9Lw4',
    schema => 'relay.context-package.v1', version => 3
}, 'validate --json');

($rc, $out, $err) = run(['validate', "$dir/none.json"]);
is($rc, 4, 'no such file');

($rc, $out, $err) = run(['validate',
    spew('bad.json', qq({\n  "a": 1,\n  "a" 2}))]);
is($rc, 1, 'not JSON');
like($err, qr/bad\.json:3:\d+: /, 'line and column');

($rc, $out, $err) = run(['validate', '--json', spew('dup.json',
    qq({"schema": 1,\n "schema": 2}))]);
is($rc, 1, 'duplicate key');
my $e = $json->decode($err);
is($e->{line}, 2, 'its line, as JSON');
ok($e->{column} > 0 && length $e->{error}, 'column and sentence');

($rc, $out, $err) = run(['validate', spew('deep.json', '[' x 100000)]);
is($rc, 1, 'too deep');

($rc, $out, $err) = run(['validate', variant('type.json',
    sub { $_[0]{schema} = 'relay.other.v1' })]);
is($rc, 1, 'another type');
like($err, qr{type\.json:\d+:\d+: /schema\b}, 'pointer and line');

my $file = variant('version.json', sub { $_[0]{version} = 'three' });
($rc, $out, $err) = run(['validate', $file]);
is($rc, 1, 'wrong type of a member');

my $n = 0;
for my $line (split /\n/, slurp($file)) { $n++; last if $line =~ /"three"/ }
like($err, qr{version\.json:$n:\d+: /version: must be an integer\n},
    'its pointer, line and what is wrong');

($rc, $out) = run(['validate', "$examples/packet.json"]);
is($rc, 0, 'a responder packet');
like($out, qr/: valid: ghostlight\.responder_packet\.v0$/, 'says what it is');

($rc, $out, $err) = run(['validate', spew('untyped.json', '[1]')]);
is($rc, 1, 'no type');
like($err, qr{untyped\.json:1:1: it does not say}, 'says so');

# every fault, in the order of the text

$file = variant('faults.json', sub {
    my ($doc) = @_;

    delete $doc->{owner}{name};
    $doc->{approvedAt} = '2026-02-30T00:00:00Z';
    $doc->{audience}{email} = 'nobody';
    $doc->{context}{sections}[1]{claims} = {};
    $doc->{representation}{opening}{starters} = ['one'];
    $doc->{summary} = 'x' x 601;
});

($rc, $out, $err) = run(['validate', $file]);
is($rc, 1, 'six faults');
is($out, '', 'nothing on standard output');

my @faults = map { s/^relayctl: \Q$file\E:\d+:\d+: //r } split /\n/, $err;

is_deeply(\@faults, [
    '/approvedAt: must be a date and time with a zone (RFC 3339)',
    '/audience/email: must be an e-mail address',
    '/context/sections/1/claims: must be an array',
    '/owner: the member "name" is missing',
    '/representation/opening/starters: must have at least 2 elements',
    '/summary: must have at most 600 characters'
], 'each of them');

spew('faults.err', $err);

($rc, $out, my $as_json) = run(['validate', '--json', $file]);
is($rc, 1, 'as JSON');
is(scalar(split /\n/, $as_json), 6, 'an object a line');

$n = 0;
for my $line (split /\n/, slurp($file)) { $n++; last if $line =~ /"nobody"/ }

is_deeply($json->decode((split /\n/, $as_json)[1]), {
    error => 'must be an e-mail address', file => $file, line => $n,
    column => index((split /\n/, slurp($file))[$n - 1], '"nobody"') + 1,
    pointer => '/audience/email', keyword => 'format',
    schema => '/properties/audience/properties/email/format'
}, 'with place and keyword');

my $packet = $json->decode(slurp("$examples/packet.json"));
$packet->{extra} = 1;
$packet->{review}{"a/b\n"} = 1;

($rc, $out, $err) = run(['validate', spew('extra.json',
    $json->encode($packet))]);
is($rc, 1, 'members that may not be');
like($err, qr{extra\.json:1:\d+: the member "extra" is not allowed\n},
    'one at the root');
like($err, qr{extra\.json:1:\d+: /review: the member "a/b\\n" is not allowed},
    'one below');

($rc, $out, $err) = run(['validate', variant('many.json',
    sub { $_[0]{context}{sections} = [(1) x 300] })]);
is($rc, 1, 'many faults');
is(scalar(grep { m{/context/sections/\d+: must be an object} }
    split /\n/, $err), 100, 'are not all shown');
like($err, qr/warning: no more than 100 faults are shown$/, 'and it says so');

# view

my $as_of = '2026-06-01T00:00:00Z';

for (['recipient', 'recipient-agent'], ['pass-on', 'pass-on'],
     ['preview', 'pre-accept'])
{
    my ($view, $name) = @$_;

    ($rc, $out, $err) = run(['view', '--view', $view, '--now', $as_of, $pilot]);
    is($rc, 0, "view $view");
    is_deeply($json->decode($out),
        $json->decode(slurp("$examples/views/$name.json")), "$view is $name");
}

($rc, $out) = run(['view', '--view=owner', $pilot]);
is($rc, 0, 'view owner');
ok($out eq slurp($pilot), 'the owner\'s view is byte for byte the document');

for (['type.json', 'unknown type'], ['bad.json', 'not JSON']) {
    ($rc, $out, $err) = run(['view', '--view', 'recipient', "$dir/$_->[0]"]);
    is($rc, 1, "$_->[1]: withheld");
    is($out, '', 'nothing of it is printed');
}

my $mark = variant('mark.json', sub {
    $_->{visibility} = 7 for @{$_[0]{context}{sections}}
});

($rc, $out, $err) = run(['view', '--view', 'recipient', $mark]);
is($rc, 1, 'wrong-typed mark: withheld');
is($out, '', 'nothing of it is printed');
like($err, qr{withheld: /context/sections/0/visibility: }, 'where and why');

# view --explain: a line for each thing that is left out or changed

for my $view (qw(recipient link pass-on preview)) {
    ($rc, $out, $err) = run(['view', '--view', $view, '--explain',
                             '--now', $as_of, $pilot]);
    is($rc, 0, "explain $view");

    my @lines = split /\n/, $out;

    cmp_ok(scalar @lines, '>=', 20, "$view: its lines");
    is(scalar(grep { !m{^/\S.*: [a-z ]+ by "[a-z+]+" of /(fields|defs)/} }
              @lines), 0, "$view: pointer, what, rule");

    ($rc, $out) = run(['view', '--view', $view, '--explain', '--json',
                       '--now', $as_of, $pilot]);
    is($rc, 0, "explain $view --json");

    my @notes = map { $json->decode($_) } split /\n/, $out;

    is(scalar @notes, scalar @lines, "$view: the same as JSON");
    is(scalar(grep { join(',', sort keys %$_)
                         ne 'at,because,pointer,rule,what,why' } @notes), 0,
       "$view: members");

    next if $view ne 'link';

    my ($claim) = grep { $_->{pointer} eq '/context/sections/2/claims/2' }
                       @notes;

    is_deeply([@$claim{qw(what rule at because)}],
              ['dropped', 'marked',
               '/fields/context/sections/$each/claims/$each',
               'visibility is "recipient-only"'], 'the mark that failed');
}

($rc, $out) = run(['view', '--view', 'owner', '--explain', $pilot]);
is($rc, 0, 'explain owner');
is($out, '', 'nothing is left out');

($rc, $out) = run(['view', '--view', 'link', '--explain', $mark]);
is($rc, 1, 'explain a withheld document');
is($out, '', 'no line of it');

# keygen, token

my %sets;

for my $kty (qw(RSA EC oct)) {
    ($rc, $out, $err) = run(['keygen', '--kty', $kty, '--kid', "k-$kty"]);
    is($rc, 0, "keygen $kty");
    $sets{$kty} = spew("$kty.jwks", $out);

    my $key = $json->decode($out)->{keys}[0];
    is($key->{kty}, $kty, 'its type');
    is($key->{kid}, "k-$kty", 'its kid');
    ok($key->{$kty eq 'oct' ? 'k' : 'd'}, 'its private part');

    next if $kty eq 'oct';

    ($rc, $out) = run(['keygen', '--public', $sets{$kty}]);
    is($rc, 0, 'keygen --public');
    $key = $json->decode($out)->{keys}[0];
    is($key->{kid}, "k-$kty", 'the same key');
    ok(!exists $key->{d} && !exists $key->{p}, 'without its private part');
}

sub claims {
    my ($token) = @_;
    chomp $token;
    my @parts = map { tr{-_}{+/}; $json->decode(decode_base64($_)) }
        (split /\./, $token)[0, 1];
    return @parts;
}

for (['RSA', 'RS256'], ['EC', 'ES256'], ['oct', 'HS256']) {
    my ($kty, $alg) = @$_;

    ($rc, $out, $err) = run(['token', '--key', $sets{$kty}, '--sub', 'u1',
        '--email', 'A@B.example', '--name', "N\xc3\xa4me \"q\"",
        '--aud', 'https://a.example', '--iss', 'https://i.example',
        '--ttl', '10m']);
    is($rc, 0, "token $kty");
    like($err, qr/development/, 'says what it is for');
    like($out, qr/\A[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\n\z/,
        'a compact JWS and nothing else');

    my ($header, $claims) = claims($out);
    is($header->{alg}, $alg, $alg);
    is($header->{kid}, "k-$kty", 'kid');
    is($claims->{exp} - $claims->{iat}, 600, 'ttl');
    ok(abs($claims->{iat} - time) < 60, 'now');
    is($claims->{$_->[0]}, $_->[1], $_->[0]) for ['sub', 'u1'],
        ['email', 'A@B.example'], ['aud', 'https://a.example'],
        ['iss', 'https://i.example'];
    ok(ref $claims->{email_verified} && $claims->{email_verified},
        'email_verified is true');
}

for (['false', JSON::PP::false], ['"true"', 'true'], ['missing', undef]) {
    my ($value, $claim) = @$_;
    ($rc, $out) = run(['token', '--key', $sets{EC}, '--email', 'a@b.example',
        '--email-verified', $value, '--ttl', '-60s']);
    is($rc, 0, "email_verified $value");
    my (undef, $claims) = claims($out);
    is($json->encode([$claims->{email_verified}]), $json->encode([$claim]),
        'as asked for');
    ok($claims->{exp} < time, 'expired');
}

my $both = spew('both.jwks', $json->encode({keys => [map {
    $json->decode(slurp($sets{$_}))->{keys}[0] } qw(RSA EC oct)]}));

($rc, $out) = run(['token', '--key', $both, '--alg-kty', 'oct', '--json']);
is($rc, 0, 'token --alg-kty --json');
is((claims($json->decode($out)->{token}))[0]{kid}, 'k-oct', 'that key');

($rc, $out) = run(['token', '--key', $sets{EC}, '--alg-kty', 'RSA']);
is($rc, 1, 'no such key');
is($out, '', 'no token');

# the store

($rc, $out, $err) = ctl(['show', 'x']);
is($rc, 3, 'no server');

$redis = start_redis('redis');

($rc) = ctl([$_, 'nothing']) and is($rc, 4, "$_: no such relay")
    for qw(show receipts link revoke);
($rc) = ctl(['grant', 'nothing', '--email', 'a@b.example']);
is($rc, 4, 'grant: no such relay');
is_deeply(redis('KEYS', '*'), [], 'and nothing was written');

{
    local $ENV{RELAY_REDIS} = "unix:$socket";
    ($rc) = run(['show', 'nothing']);
    is($rc, 4, 'RELAY_REDIS');
}

# publish

my @owner = ('--owner-iss', 'https://id.example', '--owner-sub', 'leila');
my $id = 'rly_7QmX2c9Lw4';
my $v1 = variant('v1.json', sub { $_[0]{version} = 1 });

for (['not by its owner', variant('by.json', sub {
        $_[0]{version} = 1; $_[0]{approvedBy} = 'Somebody' }), 1,
        qr{by\.json:\d+:\d+: /approvedBy: }],
     ['without an address', variant('noemail.json', sub {
        $_[0]{version} = 1; delete $_[0]{audience}{email} }), 1,
        qr{noemail\.json:\d+:\d+: /audience/email: }],
     ['of another type', "$dir/type.json", 1, qr{type\.json:\d+:\d+: /schema}],
     ['that is no JSON', "$dir/bad.json", 1, qr{bad\.json:3:\d+: }],
     ['that is a packet', "$examples/packet.json", 1,
        qr{packet\.json:1:1: /schema: .* relay\.context-package\.v1 is }],
     ['that its schema refuses', "$dir/faults.json", 1,
        qr{\Q@{[slurp("$dir/faults.err")]}\E}],
     ['with a wrong mark', $mark, 1,
        qr{mark\.json:\d+:\d+: /context/sections/.*/visibility: must be}])
{
    my ($name, $file, $code, $sentence) = @$_;
    ($rc, $out, $err) = ctl(['publish', $file, @owner]);
    is($rc, $code, "publish $name: refused");
    like($err, $sentence, 'says why and where');
    is($out, '', 'nothing on standard output');
}

($rc, $out, $err) = ctl(['publish', $v1]);
is($rc, 2, 'publish without an owner');

($rc, $out, $err) = ctl(['publish', $v1, @owner, '--approved-by', 'Bob']);
is($rc, 1, 'publish approved by somebody else');

is_deeply(redis('KEYS', '*'), [], 'and nothing was written');

($rc, $out, $err) = ctl(['publish', $v1, @owner, '--owner-email',
    'Leila@Brackwell.example', '--approved-by', 'Leila Okafor', '--json']);
is($rc, 0, 'publish') or diag($err);
my $published = $json->decode($out);
is($published->{relay}, $id, 'relay');
is($published->{version}, 1, 'version');
like($published->{receipt}, qr/^\d+-\d+$/, 'stream entry');

my $head = hash("relay:{$id}");
is_deeply({map { $_ => $head->{$_} } qw(schema version state mode access email
    owner_iss owner_sub owner_email permission epoch exp title)}, {
    schema => 'relay.context-package.v1', version => 1, state => 'active',
    mode => 'live', access => 'named',
    email => 'tomas.lindqvist@norrvik.example',
    owner_iss => 'https://id.example', owner_sub => 'leila',
    owner_email => 'leila@brackwell.example', permission => 'suggest',
    epoch => 1, exp => '1830297599000',
    title => 'Norrvik Hall 4 pollination pilot'
}, 'the head');
ok(redis('GET', "relay:doc:{$id}:1") eq slurp($v1), 'the document\'s bytes');

($rc, $out, $err) = ctl(['publish', $v1, @owner]);
is($rc, 1, 'the same version again: refused');
like($err, qr{/version: 1 does not follow 1}, 'and why');

my $v2 = variant('v2.json', sub { $_[0]{version} = 2 });
($rc, $out, $err) = ctl(['publish', $v2, '--owner-iss', 'https://id.example',
    '--owner-sub', 'mallory']);
is($rc, 1, 'another owner: refused');
like($err, qr{/id: }, 'and why');

($rc) = ctl(['publish', $v2, @owner]);
is($rc, 0, 'the next version');
is(hash("relay:{$id}")->{version}, 2, 'stored');
is(hash("relay:{$id}")->{epoch}, 2, 'a new epoch');

my @receipts = receipts($id);
is(scalar @receipts, 2, 'a receipt each');
is($receipts[0]{kind}, 'act', 'kind');
is($receipts[0]{channel}, 'ctl', 'channel');
is($receipts[0]{method}, 'publish', 'method');
is($receipts[0]{relay}, $id, 'relay');
is($receipts[0]{version}, 1, 'version');
like($receipts[0]{id}, qr/-ctl-\d+-\d+-0$/, 'id');
isnt($receipts[0]{id}, $receipts[1]{id}, 'each has its own');

# link

($rc, $out, $err) = ctl(['link', $id]);
is($rc, 0, 'link');
like($out, qr/\A[A-Za-z0-9_-]{43}\n\z/, 'a token and nothing else');
chomp(my $token = $out);

is(redis('GET', 'relay:link:' . digest($token)), $id, 'its digest leads to it');
my $link = hash("relay:{$id}:l:" . digest($token));
is($link->{state}, 'active', 'active');
is($link->{epoch}, 1, 'epoch');
is($link->{exp}, 0, 'never expires');
unlike(dump_all(), qr/\Q@{[unpack 'H*', $token]}\E/, 'no token in Redis');

($rc, $out) = ctl(['link', $id, '--view', 'pass-on', '--access', 'anyone',
    '--permission', 'read', '--expires', '2027-01-02', '--base-url',
    'https://relay.example/r', '--json']);
is($rc, 0, 'link with everything');
my $made = $json->decode($out);
is($made->{url}, "https://relay.example/r/$made->{token}", 'url');
is($made->{link}, digest($made->{token}), 'digest');
is($made->{expires}, '2027-01-02T23:59:59.999Z', 'expires');
is_deeply(hash("relay:{$id}:l:$made->{link}"), { view => 'pass-on',
    access => 'anyone', permission => 'read', exp => '1798934399999',
    state => 'active', epoch => 1 }, 'its record');

($rc, $out) = ctl(['link', $id, '--expires', '2h', '--json']);
my $two = hash("relay:{$id}:l:" . $json->decode($out)->{link})->{exp};
ok(abs($two / 1000 - time - 7200) < 60, 'a duration');

# grant

($rc, $out, $err) = ctl(['grant', $id, '--email', ' Tomas@Norrvik.Example ',
    '--view', 'recipient', '--permission', 'read', '--expires', '1d',
    '--json']);
is($rc, 0, 'grant to an address') or diag($err);
my $granted = $json->decode($out);
my $by_email = "relay:{$id}:g:" . digest('mailto:tomas@norrvik.example');
my $grant = hash($by_email);
is($grant->{id}, $granted->{grant}, 'its id');
is($grant->{email}, 'tomas@norrvik.example', 'the address, normalised');
is($grant->{state}, 'active', 'active');
is($grant->{accepted_at}, 0, 'not accepted');

($rc, $out, $err) = ctl(['grant', $id, '--email', 'tomas@norrvik.example']);
is($rc, 1, 'again: refused');

($rc, $out) = ctl(['grant', $id, '--iss', 'https://id.example', '--sub',
    'app']);
is($rc, 0, 'grant to a subject');
my $by_subject = "relay:{$id}:g:" . digest("https://id.example\napp");
is(hash($by_subject)->{sub}, 'app', 'its record');

# show

($rc, $out) = ctl(['show', $id, '--json']);
is($rc, 0, 'show --json');
my $shown = $json->decode($out);
is($shown->{relay}, $id, 'relay');
is($shown->{version}, 2, 'version');
is($shown->{exp}, '2027-12-31T23:59:59.000Z', 'a time to read');
is(scalar @{$shown->{links}}, 3, 'links');
is(scalar @{$shown->{grants}}, 2, 'grants');
ok((grep { $_->{link} eq digest($token) } @{$shown->{links}}), 'by digest');
ok((grep { ($_->{email} // '') eq 'tomas@norrvik.example' }
    @{$shown->{grants}}), 'by address');

($rc, $out) = ctl(['show', $id]);
is($rc, 0, 'show');
like($out, qr/^state +active$/m, 'lines');
unlike($out, qr/\Q$token\E/, 'no token');

redis('HSET', "relay:{$id}xyz:l:" . 'a' x 43, 'state', 'active', 'epoch', 1);
redis('HSET', "relay:{evil}", 'schema', 's', 'title', "a\e[31mb\nc",
    'state', 'nonsense', 'epoch', 1);
($rc, $out) = ctl(['show', 'evil']);
is($rc, 0, 'show of a bad record');
like($out, qr/^title +a\?\[31mb\?c$/m, 'no control characters on a terminal');
like($out, qr/^bad_record /m, 'and says that it is bad');
redis('DEL', 'relay:{evil}', "relay:{$id}xyz:l:" . 'a' x 43);

# revoke

($rc, $out, $err) = ctl(['revoke', $id, '--link', 'A' x 43]);
is($rc, 4, 'revoke: no such link');

($rc, $out, $err) = ctl(['revoke', $id, '--link', $token, '--reason',
    'a test', '--by', 'op']);
is($rc, 0, 'revoke a link by its token') or diag($err);
$link = hash("relay:{$id}:l:" . digest($token));
is($link->{state}, 'revoked', 'revoked');
is($link->{epoch}, 2, 'a new epoch');
is($link->{revoked_by}, 'op', 'by');
is($link->{revoked_reason}, 'a test', 'why');
ok(abs($link->{revoked_at} / 1000 - time) < 60, 'when');
unlike($out . $err, qr/\Q$token\E/, 'the token is not repeated');

($rc) = ctl(['revoke', $id, '--link', $made->{link}]);
is($rc, 0, 'revoke a link by its digest');
is(hash("relay:{$id}:l:$made->{link}")->{state}, 'revoked', 'revoked');

($rc, $out) = ctl(['link', $id]);
($rc) = ctl(['revoke', $id, '--link', '-'], $out);
is($rc, 0, 'revoke a link from standard input');

($rc) = ctl(['revoke', $id, '--grant', 'TOMAS@norrvik.example']);
is($rc, 0, 'revoke a grant by address');
is(hash($by_email)->{state}, 'revoked', 'revoked');
is(hash($by_email)->{email}, 'tomas@norrvik.example', 'and kept');

($rc) = ctl(['revoke', $id, '--iss', 'https://id.example', '--sub', 'app']);
is($rc, 0, 'revoke a grant by subject');
is(hash($by_subject)->{state}, 'revoked', 'revoked');

($rc, $out) = ctl(['revoke', $id, '--email', 'never@seen.example', '--json']);
is($rc, 0, 'revoke a grant that is not there');
ok($json->decode($out)->{tombstone}, 'says so');
is(hash("relay:{$id}:g:" . digest('mailto:never@seen.example'))->{state},
    'revoked', 'a tombstone');
($rc) = ctl(['grant', $id, '--email', 'never@seen.example']);
is($rc, 1, 'over which no grant is made');

@receipts = grep { $_->{method} eq 'revoke' } receipts($id);
is(scalar @receipts, 6, 'a receipt each');
is($receipts[0]{link}, digest($token), 'of the link');
is($receipts[3]{grant}, $granted->{grant}, 'of the grant');

my $notes = redis('XRANGE', 'relay:revocations', '-', '+');
is(scalar @$notes, 6, 'and a note each');
my $note = {@{$notes->[0][1]}};
is_deeply([@$note{qw(what relay link by reason)}],
    ['link', $id, digest($token), 'op', 'a test'], 'what, by whom, why');
ok($note->{at} > 0, 'when');

# replicas

($rc, $out, $err) = ctl(['revoke', $id, '--email', 'r@x.example', '--replicas',
    1, '--timeout', 100]);
is($rc, 3, 'no replica confirms');
like($err, qr/0 of 1 replicas/, 'and it says so');
is(hash("relay:{$id}:g:" . digest('mailto:r@x.example'))->{state}, 'revoked',
    'it holds on the primary');

# block

for (['email', ['X@Blocked.Example'], 'x@blocked.example'],
     ['issuer', ['https://bad.example'], 'https://bad.example'],
     ['domain', ['Blocked.Example'], 'blocked.example'],
     ['subject', ['https://id.example', 'bob'], "https://id.example\nbob"])
{
    my ($kind, $args, $value) = @$_;
    my $key = "relay:block:$kind:" . digest($value);

    ($rc) = ctl(['block', $kind, @$args, '--lift']);
    is($rc, 4, "lift of no block: $kind");

    ($rc, $out, $err) = ctl(['block', $kind, @$args, '--reason', 'spam']);
    is($rc, 0, "block $kind") or diag($err);
    my $block = hash($key);
    is($block->{state}, 'active', 'active');
    is($block->{reason}, 'spam', 'why');
    ok(abs($block->{since} / 1000 - time) < 60, 'since');

    is(hash('relay:block:domain:*')->{count}, 1, 'domains are counted')
        if $kind eq 'domain';

    ($rc) = ctl(['block', $kind, @$args, '--lift']);
    is($rc, 0, 'lift');
    is(hash($key)->{state}, 'lifted', 'lifted');
    is(hash($key)->{epoch}, 2, 'a new epoch');

    is(hash('relay:block:domain:*')->{count}, 0, 'none now')
        if $kind eq 'domain';
}

$notes = redis('XREVRANGE', 'relay:revocations', '+', '-', 'COUNT', 2);
is_deeply([map { {@{$_->[1]}}->{what} } @$notes], ['lift', 'block'],
    'blocks are noted');

# import

my $t1 = 'imported_token_0123456789';
my $d2 = digest('another');
my @lines = (
    { type => 'link', relay => $id, token => $t1, view => 'link',
      access => 'anyone', permission => 'read',
      expires => '2030-01-01T00:00:00Z' },
    { type => 'link', relay => $id, digest => $d2, state => 'revoked' },
    { type => 'grant', relay => $id, email => 'Old@Backend.example',
      permission => 'edit', accepted_at => 1760000000000,
      accepted_version => 1, iss => 'https://id.example', sub => 'old',
      name => 'Old Reader', link => digest($t1), id => 'grt_1' },
    { type => 'grant', relay => $id, iss => 'https://id.example',
      sub => 'agent', expires => undef },
    { type => 'grant', relay => $id, email => 'gone@backend.example',
      state => 'revoked' },
);
my $text = join "\n", map({ $json->encode($_) } @lines), '', '';

($rc, $out, $err) = ctl(['import', '-', '--json'], $text);
is($rc, 0, 'import') or diag($err);
is_deeply($json->decode($out), { links => 2, grants => 3, unchanged => 0,
    bad => 0 }, 'all of it');

is(redis('GET', 'relay:link:' . digest($t1)), $id, 'the link');
is_deeply(hash("relay:{$id}:l:" . digest($t1)), { view => 'link',
    access => 'anyone', permission => 'read', exp => 1893456000000,
    state => 'active', epoch => 1 }, 'its record');
is(hash("relay:{$id}:l:$d2")->{state}, 'revoked', 'a revoked link');
is(redis('GET', "relay:link:$d2"), $id, 'and where it led');

$grant = hash("relay:{$id}:g:" . digest('mailto:old@backend.example'));
is_deeply({map { $_ => $grant->{$_} } qw(id email iss sub name link permission
    accepted_at accepted_version state)}, { id => 'grt_1',
    email => 'old@backend.example', iss => 'https://id.example', sub => 'old',
    name => 'Old Reader', link => digest($t1), permission => 'edit',
    accepted_at => 1760000000000, accepted_version => 1, state => 'active' },
    'an accepted grant');
is(hash("relay:{$id}:g:" . digest("https://id.example\nagent"))->{sub},
    'agent', 'a grant to a subject');
is(hash("relay:{$id}:g:" . digest('mailto:gone@backend.example'))->{state},
    'revoked', 'a revoked grant');

my $before = dump_all();
($rc, $out) = ctl(['import', spew('again.jsonl', $text), '--json']);
is($rc, 0, 'import again');
is_deeply($json->decode($out), { links => 0, grants => 0, unchanged => 5,
    bad => 0 }, 'nothing new');
is(dump_all(), $before, 'nothing has changed');

my @bad = (
    ['{"type":"link"', qr/./],
    ['[]', qr/not an object/],
    ['{"relay":"r","token":"0123456789012345678901"}', qr{/type}],
    ['{"type":"head","relay":"r"}', qr{/type}],
    ['{"type":"link","token":"0123456789012345678901"}', qr{/relay}],
    [qq({"type":"link","relay":"$id","token":"short"}), qr{/token}],
    [qq({"type":"link","relay":"$id","digest":"short"}), qr{/digest}],
    [qq({"type":"link","relay":"$id"}), qr{/token or /digest}],
    [qq({"type":"link","relay":"nothing","token":"bbbbbbbbbbbbbbbbbbbbbbbb"}),
        qr{no such relay}],
    [qq({"type":"link","relay":"nothing",)
     . qq("state":"revoked","token":"cccccccccccccccccccccccc"}),
        qr{no such relay}],
    [qq({"type":"link","relay":"other","token":"$t1"}), qr{another relay}],
    [qq({"type":"link","relay":"$id",)
     . qq("token":"dddddddddddddddddddddddd","expire":1}),
        qr{unknown member "expire"}],
    [qq({"type":"link","relay":"$id",)
     . qq("token":"dddddddddddddddddddddddd","expires":"soon"}),
        qr{/expires}],
    [qq({"type":"link","relay":"$id",)
     . qq("token":"dddddddddddddddddddddddd","view":"owner"}),
        qr{/view}],
    [qq({"type":"link","relay":"$id",)
     . qq("token":"dddddddddddddddddddddddd","email":"a\@b.example"}),
        qr{/email: not a member}],
    [qq({"type":"grant","relay":"$id","email":"nobody"}), qr{/email}],
    [qq({"type":"grant","relay":"$id","iss":"i"}), qr{/iss and /sub}],
    [qq({"type":"grant","relay":"$id"}), qr{/email}],
    [qq({"type":"grant","relay":"$id",)
     . qq("email":"z\@b.example","access":"anyone"}),
        qr{/access: not a member}],
    [qq({"type":"grant","relay":"$id","email":"z\@b.example","state":"maybe"}),
        qr{/state}],
    [qq({"type":"grant","relay":"$id","email":"z\@b.example","accepted_at":5}),
        qr{both or neither}],
    [qq({"type":"grant","relay":"$id","email":"z\@b.example","permission":1}),
        qr{/permission: wrong type}],
    [qq({"type":"grant","relay":"$id","email":"z\@b.example","relay":"x"}),
        qr/./],
    ['{"type":"' . 'x' x 20000 . '"}', qr/longer than/],
);

$before = dump_all();
($rc, $out, $err) = ctl(['import', '-', '--json'],
    join "\n", map { $_->[0] } @bad);
is($rc, 1, 'bad lines');
is($json->decode($out)->{bad}, scalar @bad, 'are counted');

my @reports = map { $json->decode($_) } split /\n/, $err;
is(scalar @reports, scalar @bad, 'and each is reported');

for my $i (0 .. $#bad) {
    is($reports[$i]{line}, $i + 1, 'line ' . ($i + 1));
    like($reports[$i]{error}, $bad[$i][1], 'says why');
}

is(dump_all(), $before, 'nothing of them is written');

($rc, $out, $err) = ctl(['import', '-'], qq(nonsense\n)
    . qq({"type":"grant","relay":"$id","email":"good\@b.example"}\n)
    . qq(nonsense\n));
is($rc, 1, 'good among bad');
like($err, qr/-:1:1: .*-:3:1: /s, 'the bad are reported');
is(hash("relay:{$id}:g:" . digest('mailto:good@b.example'))->{state},
    'active', 'the good one is written');

# receipts

($rc, $out) = ctl(['receipts', $id, '--json']);
is($rc, 0, 'receipts');
my @all = map { $json->decode($_) } split /\n/, $out;
is(scalar @all, redis('XLEN', "relay:receipts:{$id}"), 'all of them');
is($all[0]{receipt}{method}, 'publish', 'the oldest first');

($rc, $out) = ctl(['receipts', $id, '--count', 2, '--json']);
is_deeply([map { $json->decode($_)->{entry} } split /\n/, $out],
    [map { $_->{entry} } @all[-2, -1]], 'the last two');

($rc, $out) = ctl(['receipts', $id, '--from', $all[2]{entry}, '--count', 2]);
is_deeply([map { (split / /)[0] } split /\n/, $out],
    [map { $_->{entry} } @all[2, 3]], 'two from an entry on');

# more than one page

for my $i (1 .. 1100) {
    redis('XADD', 'relay:receipts:{many}', '*', 'r', qq({"n":$i}));
}

($rc, $out) = ctl(['receipts', 'many', '--json']);
is_deeply([map { $json->decode($_)->{receipt}{n} } split /\n/, $out],
    [1 .. 1100], 'page after page, none twice');

($rc, $out) = ctl(['receipts', 'many', '--json', '--from', '0', '--count',
    600]);
is_deeply([map { $json->decode($_)->{receipt}{n} } split /\n/, $out],
    [1 .. 600], 'a count over more than one page');

# --follow

{
    my $pid = open3(my $in, my $fh, undef, $relayctl, 'receipts', $id,
        '--follow', '--count', 1, '--json', '--redis', "unix:$socket");
    push @pids, $pid;

    my $first = <$fh>;
    is($json->decode($first)->{entry}, $all[-1]{entry}, 'follow: the last');

    redis('XADD', "relay:receipts:{$id}", '*', 'r', '{"n":1}');
    is($json->decode(scalar <$fh>)->{receipt}{n}, 1, 'follow: a new one');

    select undef, undef, undef, 1.3;
    redis('XADD', "relay:receipts:{$id}", '*', 'r', 'not json');
    is($json->decode(scalar <$fh>)->{receipt}, 'not json',
        'follow: one more, after a wait');

    kill 'TERM', $pid;
    waitpid $pid, 0;
    @pids = grep { $_ != $pid } @pids;
}

# scripts that the server forgot

redis('SCRIPT', 'FLUSH');
($rc) = ctl(['link', $id]);
is($rc, 0, 'scripts are loaded again');

# prefix, database

($rc) = ctl(['publish', $v1, @owner, '--prefix', 'other*:']);
is($rc, 0, 'another prefix');
is(hash("other*:{$id}")->{version}, 1, 'its keys');
redis('HSET', "otherX:{$id}:l:" . 'a' x 43, 'state', 'active', 'epoch', 1);
($rc, $out) = ctl(['show', $id, '--prefix', 'other*:', '--json']);
is_deeply($json->decode($out)->{links}, [], 'a prefix is no pattern');

($rc) = run(['publish', $v1, @owner, '--redis', "unix:$socket:3"]);
is($rc, 0, 'another database');
redis('SELECT', 3);
is(hash("relay:{$id}")->{version}, 1, 'its keys');
redis('SELECT', 0);

# a revoked relay

($rc) = ctl(['revoke', $id]);
is($rc, 0, 'revoke the relay');
is(hash("relay:{$id}")->{state}, 'revoked', 'revoked');
($rc, $out, $err) = ctl(['publish',
    variant('v3.json', sub { $_[0]{version} = 3 }), @owner]);
is($rc, 1, 'no version after that');
like($err, qr{/id: the relay is revoked}, 'and why');

for (['link', $id], ['grant', $id, '--iss', 'https://id.example', '--sub', 'x'])
{
    ($rc, $out, $err) = ctl($_);
    is($rc, 1, "$_->[0]: refused");
    like($err, qr/the relay is revoked, and stays so/, "$_->[0]: and why");
    is($out, '', "$_->[0]: nothing is made");
}

# errors of the server

redis('CONFIG', 'SET', 'min-replicas-to-write', 1);
($rc, $out, $err) = ctl(['block', 'email', 'x@y.example']);
is($rc, 3, 'an error reply');
like($err, qr/redis: NOREPLICAS/, 'is shown');
redis('CONFIG', 'SET', 'min-replicas-to-write', 0);

redis('SET', 'relay:{wrong}', 'a string');
($rc, $out, $err) = ctl(['show', 'wrong']);
is($rc, 3, 'a key of the wrong type');
like($err, qr/WRONGTYPE/, 'is shown');

# passwords

start_redis('secure', '--requirepass', 'open sesame', '--user', 'op', 'on',
    '>pass', '~*', '&*', '+@all');

my $password = spew('password', "open sesame\n");
my @secure = ('--redis', "unix:$dir/secure.sock");

($rc, $out, $err) = run(['show', 'x', @secure]);
is($rc, 3, 'no password');
like($err, qr/NOAUTH/, 'is refused');

($rc) = run(['show', 'x', @secure, '--password-file', $password]);
is($rc, 4, 'a password from a file');

($rc) = run(['show', 'x', @secure, '--user', 'op', '--password-file',
    spew('pass', 'pass')]);
is($rc, 4, 'a user and a password');

($rc, $out, $err) = run(['show', 'x', @secure, '--user', 'op',
    '--password-file', $password]);
is($rc, 3, 'a wrong password');
unlike($err, qr/sesame/, 'is not repeated');

($rc) = run(['show', 'x', @secure, '--user', 'op']);
is($rc, 2, 'a user without a password');

# a server that talks garbage

{
    my $listen = IO::Socket::UNIX->new(Local => "$dir/garbage.sock",
        Listen => 5) or die "listen: $!\n";
    my $pid = fork // die "fork: $!\n";

    if ($pid == 0) {
        $SIG{PIPE} = 'IGNORE';

        for my $text ("HTTP/1.1 400 Bad Request\r\n\r\n", "%1\r\n+a\r\n+b\r\n",
                      "*1000000000\r\n", '')
        {
            my $c = $listen->accept;
            sysread $c, my $request, 65536;
            print $c $text;
            close $c;
        }

        POSIX::_exit(0);
    }

    push @pids, $pid;

    for (1 .. 4) {
        ($rc, $out, $err) = run(['show', 'x', '--redis',
            "unix:$dir/garbage.sock"]);
        is($rc, 3, "garbage $_");
        like($err, qr/^relayctl: redis: /, 'is an error');
    }
}

done_testing();

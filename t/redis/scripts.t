#!/usr/bin/perl

# schema/redis/*.lua and the ACLs of schema/redis/README.md against a real
# redis-server: one subtest for each word that a script answers with.

use strict;
use warnings;

use Cwd qw(getcwd);
use Digest::SHA qw(sha1_hex);
use File::Temp qw(tempdir);
use IO::Socket::UNIX;
use POSIX qw(:sys_wait_h);
use Socket qw(SOCK_STREAM);
use Test::More;
use Time::HiRes qw(sleep time);


my $root = getcwd();
my $dir = "$root/schema/redis";

-f "$dir/serve.lua" or BAIL_OUT('not started in the root of the tree');

my $server = (grep { -x } map { "$_/redis-server" }
              split(/:/, $ENV{PATH}), '/usr/sbin')[0];
defined $server or BAIL_OUT('no redis-server');


my @guarded = qw(epoch state exp access permission view version mode email iss
                 sub link accepted_at accepted_version owner_iss owner_sub
                 schema digest isolation);

my $temp = tempdir('relay-scripts-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $socket = "$temp/redis.sock";
my $main = $$;
my $pid;


# A RESP2 client that blocks: just enough for a test.

package Client;

sub new {
    my ($class, $path) = @_;

    my $s = IO::Socket::UNIX->new(Type => Socket::SOCK_STREAM, Peer => $path)
        or return undef;

    return bless { s => $s }, $class;
}

sub cmd {
    my ($self, @argv) = @_;

    my $out = '*' . @argv . "\r\n";
    $out .= '$' . length($_) . "\r\n$_\r\n" for @argv;

    local $SIG{PIPE} = 'IGNORE';
    syswrite($self->{s}, $out) == length $out or die "redis: write: $!";

    return $self->reply();
}

sub reply {
    my ($self) = @_;

    my $s = $self->{s};
    my $line = <$s>;

    defined $line or die 'redis: closed';
    $line =~ s/\r\n\z//;

    my ($type, $rest) = ($line =~ /^(.)(.*)$/s);

    return $rest if $type eq '+' || $type eq ':';
    return bless(\$rest, 'Error') if $type eq '-';

    if ($type eq '$') {
        return undef if $rest < 0;

        my $data = '';
        while (length $data < $rest + 2) {
            my $n = read($s, $data, $rest + 2 - length $data, length $data);
            $n or die 'redis: closed';
        }

        return substr($data, 0, $rest);
    }

    if ($type eq '*') {
        return undef if $rest < 0;
        return [ map { $self->reply() } 1 .. $rest ];
    }

    die "redis: not RESP: $line";
}

package main;


END {
    if (defined $main && $$ == $main && defined $pid) {
        my $status = $?;

        kill 'TERM', $pid;
        waitpid($pid, 0);
        $? = $status;
    }
}

$SIG{INT} = $SIG{TERM} = sub { exit 1 };

$pid = fork();
defined $pid or die "fork: $!";

if ($pid == 0) {
    $SIG{INT} = $SIG{TERM} = 'DEFAULT';

    open(STDIN, '<', '/dev/null');
    open(STDOUT, '>', "$temp/log");
    open(STDERR, '>&', \*STDOUT);

    exec($server, '--port', 0, '--unixsocket', $socket, '--dir', $temp,
         '--save', '', '--appendonly', 'no', '--daemonize', 'no')
        or POSIX::_exit(127);
}

my $redis;

for (1 .. 200) {
    last if waitpid($pid, WNOHANG) == $pid;

    $redis = -S $socket ? Client->new($socket) : undef;
    last if $redis && !ref $redis->cmd('PING');
    undef $redis;
    sleep 0.05;
}

defined $redis or BAIL_OUT('redis-server does not start');


my %text;

for my $name (qw(serve accept publish link grant revoke block)) {
    open(my $f, '<', "$dir/$name.lua") or die "$name.lua: $!";
    local $/;
    $text{$name} = <$f>;
}


my $h = '{acme.1}';
my $head = "relay:$h";
my $link = "relay:$h:l:" . 'L' x 43;
my $email = "relay:$h:g:" . 'E' x 43;
my $subject = "relay:$h:g:" . 'S' x 43;
my $stream = "relay:receipts:$h";
my $doc1 = "relay:doc:$h:1";


sub run_as {
    my ($client, $name, $keys, @argv) = @_;

    my $r = $client->cmd('EVALSHA', sha1_hex($text{$name}), scalar @$keys,
                         @$keys, @argv);

    if (ref $r eq 'Error' && $$r =~ /^NOSCRIPT/) {
        $r = $client->cmd('EVAL', $text{$name}, scalar @$keys, @$keys, @argv);
    }

    return $r;
}

sub run { return run_as($redis, @_) }

sub word {
    my ($r) = @_;
    return ref $r eq 'ARRAY' ? $r->[0] : ref $r eq 'Error' ? "($$r)" : '?';
}

sub refused {
    my ($r, $name) = @_;

    ok(ref $r eq 'Error' && $$r =~ /^ERR relay: /, $name)
        or diag(word($r));
}

sub fp {
    my ($key) = @_;
    return join("\n", map { defined $_ ? $_ : '' }
                      @{ $redis->cmd('HMGET', $key, @guarded) });
}

sub hash { return { @{ $redis->cmd('HGETALL', $_[0]) } } }

sub entries { return $redis->cmd('XLEN', $stream) }

sub last_receipt {
    my $r = $redis->cmd('XREVRANGE', $stream, '+', '-', 'COUNT', 1);
    return @$r ? $r->[0][1] : undef;
}

sub now { return int(time() * 1000) }

# n and the pairs

sub pairs_of { return (scalar(@_) / 2, @_) }

# everything in the database, to show that a refusal wrote nothing

sub dump_all {
    my %all;

    for my $key (@{ $redis->cmd('KEYS', '*') }) {
        my $type = $redis->cmd('TYPE', $key);

        $all{$key} = $type eq 'hash' ? hash($key)
                   : $type eq 'stream' ? $redis->cmd('XLEN', $key)
                   : $redis->cmd('GET', $key);
    }

    return \%all;
}

sub writes_nothing {
    my ($code, $name) = @_;

    my $before = dump_all();
    my $r = $code->();

    is_deeply(dump_all(), $before, "$name: nothing written");

    return $r;
}

my @head_fields = (schema => 'relay.context-package.v1', mode => 'snapshot',
                   access => 'named', email => 'alice@example.com',
                   owner_iss => 'https://id.example', owner_sub => 'owner',
                   permission => 'suggest', title => 'T');

sub fresh {
    $redis->cmd('FLUSHALL');
    run('publish', [$head, $doc1, $stream], 1, '{"n":1}', 'p1',
        pairs_of(@head_fields));
    run('link', [$head, $link, $stream], 'l1', pairs_of(view => 'pass-on'));
}

my @accepted = (id => 'g1', link => 'L' x 43, view => '', permission => '',
                state => 'active', exp => '0', iss => 'https://id.example',
                sub => 'alice', email => 'alice@example.com', name => 'Alice',
                accepted_at => '1700000000000', accepted_version => '1');

sub accept_keys { return [$head, $link, $email, $subject, $stream] }

sub accept_fps { return map { fp($_) } $head, $link, $email, $subject }

sub accept_now {
    return run('accept', accept_keys(), 'a1', accept_fps(),
               pairs_of(@_ ? @_ : @accepted));
}

sub serve_keys { return [$head, $link, $email, $subject, $stream] }


subtest 'publish: ok' => sub {
    $redis->cmd('FLUSHALL');

    my $r = run('publish', [$head, $doc1, $stream], 1, "{\"a\":\"\0\xff\"}",
                'receipt', pairs_of(@head_fields));

    is(word($r), 'ok', 'word');
    is($r->[1], $redis->cmd('XREVRANGE', $stream, '+', '-')->[0][0], 'entry');
    is($r->[2], '1', 'epoch');
    is_deeply(last_receipt(), ['r', 'receipt'], 'receipt');
    is($redis->cmd('GET', $doc1), "{\"a\":\"\0\xff\"}", 'document, every byte');
    is_deeply(hash($head), { @head_fields, state => 'active', version => '1',
                             digest => sha1_hex("{\"a\":\"\0\xff\"}"),
                             epoch => '1' }, 'head');

    $r = run('publish', [$head, "relay:doc:$h:2", $stream], 2, '2', 'r2',
             pairs_of(owner_iss => 'https://id.example', owner_sub => 'owner',
                      access => 'anyone'));
    is(word($r), 'ok', 'second version');
    is($r->[2], '2', 'its epoch');
    is(hash($head)->{version}, '2', 'its number');
    is(hash($head)->{access}, 'anyone', 'its access');
    is(hash($head)->{email}, 'alice@example.com', 'what was not given stays');
    is($redis->cmd('GET', $doc1), "{\"a\":\"\0\xff\"}", 'first one untouched');
};

subtest 'publish: version' => sub {
    $redis->cmd('FLUSHALL');

    for my $v (1, 7) {
        $redis->cmd('FLUSHALL');
        is(word(run('publish', [$head, "relay:doc:$h:$v", $stream], $v, 'd',
                    'r', pairs_of(@head_fields))),
           'ok', "a relay that is new here starts with version $v");
        is(hash($head)->{version}, $v, "its number $v");
    }

    $redis->cmd('FLUSHALL');

    fresh();

    for my $v (1, 3) {
        my $r = writes_nothing(sub {
            run('publish', [$head, "relay:doc:$h:9", $stream], $v, 'd', 'r',
                pairs_of(@head_fields))
        }, "version $v over 1");
        is_deeply($r, ['version', '1'], "version $v over 1");
    }

    for my $v ('0', '-1', '01', '1.0', '1e0', '', '9' x 16) {
        refused(writes_nothing(sub {
            run('publish', [$head, "relay:doc:$h:9", $stream], $v, 'd', 'r',
                pairs_of(@head_fields))
        }, "'$v'"), "'$v' is no version");
    }
};

subtest 'publish: owner' => sub {
    fresh();

    for my $o ([owner_iss => 'https://id.example', owner_sub => 'mallory'],
               [owner_iss => 'https://evil.example', owner_sub => 'owner'],
               [owner_iss => '', owner_sub => ''],
               [owner_sub => 'owner'],
               [])
    {
        my $r = writes_nothing(sub {
            run('publish', [$head, "relay:doc:$h:2", $stream], 2, 'd', 'r',
                pairs_of(title => 'taken', @$o))
        }, "owner (@$o)");
        is_deeply($r, ['owner'], "owner (@$o)");
    }

    $redis->cmd('HDEL', $head, 'owner_iss', 'owner_sub');
    is_deeply(run('publish', [$head, "relay:doc:$h:2", $stream], 2, 'd', 'r',
                  pairs_of(@head_fields)),
              ['owner'], 'a relay without an owner is not taken');

    $redis->cmd('FLUSHALL');
    my %no = @head_fields;
    delete $no{owner_sub};
    is_deeply(run('publish', [$head, $doc1, $stream], 1, 'd', 'r',
                  pairs_of(%no)),
              ['owner'], 'a new relay needs one');
};

subtest 'publish: email' => sub {
    $redis->cmd('FLUSHALL');

    for my $e ([], [email => '']) {
        my %f = @head_fields;
        delete $f{email};

        my $r = writes_nothing(sub {
            run('publish', [$head, $doc1, $stream], 1, 'd', 'r',
                pairs_of(%f, @$e))
        }, 'named without an address');
        is_deeply($r, ['email'], 'named without an address');
    }

    fresh();
    is_deeply(run('publish', [$head, "relay:doc:$h:2", $stream], 2, 'd', 'r',
                  pairs_of(owner_iss => 'https://id.example',
                           owner_sub => 'owner', email => '')),
              ['email'], 'nor emptied later');
};

subtest 'publish: exists' => sub {
    fresh();
    $redis->cmd('SET', "relay:doc:$h:2", 'old');

    my $r = writes_nothing(sub {
        run('publish', [$head, "relay:doc:$h:2", $stream], 2, 'new', 'r',
            pairs_of(@head_fields))
    }, 'a document that is there');
    is_deeply($r, ['exists'], 'a document that is there');
};

subtest 'publish: revoked' => sub {
    fresh();
    run('revoke', [$head, $stream], 'r', '1', 'owner', 'why');

    my $r = writes_nothing(sub {
        run('publish', [$head, "relay:doc:$h:2", $stream], 2, 'd', 'r',
            pairs_of(@head_fields))
    }, 'a revoked relay');
    is_deeply($r, ['revoked'], 'a revoked relay');

    $redis->cmd('FLUSHALL');
    run('revoke', [$head, $stream], 'r', '1', 'owner', 'why');
    is_deeply(run('publish', [$head, $doc1, $stream], 1, 'd', 'r',
                  pairs_of(@head_fields)),
              ['revoked'], 'a tombstone');
};

subtest 'publish: arguments' => sub {
    $redis->cmd('FLUSHALL');

    for my $f (qw(epoch state version revoked_at x)) {
        refused(writes_nothing(sub {
            run('publish', [$head, $doc1, $stream], 1, 'd', 'r',
                pairs_of(@head_fields, $f => '1'))
        }, $f), "field $f");
    }

    for my $f (qw(schema mode access permission)) {
        my %f = @head_fields;
        delete $f{$f};
        refused(writes_nothing(sub {
            run('publish', [$head, $doc1, $stream], 1, 'd', 'r', pairs_of(%f))
        }, "no $f"), "no $f");
    }

    refused(run('publish', [$head, $doc1, $stream], 1, 'd', 'r', 3, 'a', 'b'),
            'n is wrong');
    refused(run('publish', [$head, $doc1], 1, 'd', 'r', 0), 'a key short');
};


subtest 'link: ok, missing, exists' => sub {
    $redis->cmd('FLUSHALL');

    my $r = writes_nothing(sub {
        run('link', [$head, $link, $stream], 'r', pairs_of())
    }, 'no relay');
    is_deeply($r, ['missing'], 'no relay');

    fresh();
    is_deeply(hash($link), { state => 'active', epoch => '1',
                             view => 'pass-on' }, 'record');
    is_deeply(last_receipt(), ['r', 'l1'], 'receipt');

    $r = writes_nothing(sub {
        run('link', [$head, $link, $stream], 'r', pairs_of(view => 'recipient'))
    }, 'a link that is there');
    is_deeply($r, ['exists'], 'a link that is there');

    my $other = "relay:$h:l:" . 'M' x 43;
    $r = run('link', [$head, $other, $stream], 'r', pairs_of());
    is(word($r), 'ok', 'without terms');
    is($r->[2], '1', 'epoch');

    my $dead = "relay:$h:l:" . 'N' x 43;
    run('revoke', [$dead, $stream], 'r', '1', 'owner', '');
    is_deeply(run('link', [$head, $dead, $stream], 'r', pairs_of()),
              ['exists'], 'nor over a tombstone');

    refused(run('link', [$head, "relay:$h:l:" . 'O' x 43, $stream], 'r',
                pairs_of(state => 'active')), 'field state');
};


subtest 'grant: ok, missing, exists' => sub {
    my @g = (id => 'g9', iss => 'https://id.example', sub => 'app',
             permission => 'read');

    $redis->cmd('FLUSHALL');

    my $r = writes_nothing(sub {
        run('grant', [$head, $subject, $stream], 'r', pairs_of(@g))
    }, 'no relay');
    is_deeply($r, ['missing'], 'no relay');

    fresh();
    $r = run('grant', [$head, $subject, $stream], 'g', pairs_of(@g));
    is(word($r), 'ok', 'word');
    is($r->[2], '1', 'epoch');
    is_deeply(hash($subject), { @g, state => 'active', epoch => '1' },
              'record');
    is_deeply(last_receipt(), ['r', 'g'], 'receipt');

    $r = writes_nothing(sub {
        run('grant', [$head, $subject, $stream], 'r', pairs_of(@g))
    }, 'a grant that is there');
    is_deeply($r, ['exists'], 'a grant that is there');

    run('revoke', [$email, $stream], 'r', '1', 'owner', '');
    is_deeply(run('grant', [$head, $email, $stream], 'r',
                  pairs_of(id => 'x', email => 'a@b')),
              ['exists'], 'nor over a tombstone');

    my $k = "relay:$h:g:" . 'X' x 43;

    for my $bad ([@g, epoch => 5], [@g, state => 'revoked'], [email => 'a@b'],
                 [id => 'x'], [id => 'x', iss => 'i', email => 'a@b'])
    {
        refused(writes_nothing(sub {
            run('grant', [$head, $k, $stream], 'r', pairs_of(@$bad))
        }, "@$bad"), "refused: @$bad");
    }
};


subtest 'revoke: ok' => sub {
    fresh();

    for my $key ($head, $link, $email) {
        my $before = hash($key);
        my $n = entries();
        my $r = run('revoke', [$key, $stream], 'rv', '1700', 'owner', 'why');

        is(word($r), 'ok', $key);
        is($r->[2], ($before->{epoch} || 0) + 1, 'epoch');
        is_deeply(hash($key), { %$before, state => 'revoked',
                                epoch => $r->[2], revoked_at => '1700',
                                revoked_by => 'owner',
                                revoked_reason => 'why' }, 'record');
        is(entries(), $n + 1, 'one receipt');
        is_deeply(last_receipt(), ['r', 'rv'], 'which');
    }

    is_deeply([@{run('revoke', [$link, $stream], 'r', '1800', 'o', '')}[2, 3]],
              ['3', '1700'], 'again: a new epoch, and when it was');
    is_deeply({ map { $_ => hash($link)->{$_} }
                    qw(state revoked_at revoked_by revoked_reason) },
              { state => 'revoked', revoked_at => '1700',
                revoked_by => 'owner', revoked_reason => 'why' },
              'again: the record says who was first');

    $redis->cmd('HDEL', $link, 'revoked_at', 'revoked_by', 'revoked_reason');
    is(@{run('revoke', [$link, $stream], 'r', '1900', 'o', '')}, 3,
       'revoked by hand, without a time: as if it were not');
    is(hash($link)->{revoked_at}, '1900', 'and the record is completed');

    my $t = now();
    run('revoke', [$subject, $stream], 'r', '', 'o', '');
    my $at = hash($subject)->{revoked_at};
    ok($at >= $t - 1000 && $at <= now() + 1000, 'no time given: now');

    $redis->cmd('HSET', $subject, 'epoch', 'broken');
    is(word(run('revoke', [$subject, $stream], 'r', '1', 'o', '')), 'ok',
       'a damaged epoch does not save a grant');

    refused(writes_nothing(sub {
        run('revoke', [$head, $stream], 'r', 'soon', 'o', '')
    }, 'bad time'), 'bad time');
    refused(run('revoke', [$head, $stream], 'r', '1'), 'arguments');
};


subtest 'accept: ok' => sub {
    fresh();

    my $r = accept_now();
    is(word($r), 'ok', 'word') or diag(explain($r));
    is($r->[2], '1', 'epoch');
    is_deeply(hash($email), { @accepted, epoch => '1' }, 'record');
    is_deeply(last_receipt(), ['r', 'a1'], 'receipt');

    fresh();
    $r = run('accept', [$head, $link, $subject, $subject, $stream], 'a',
             fp($head), fp($link), fp($subject), fp($subject),
             pairs_of(@accepted));
    is(word($r), 'ok', 'a reader with one key');
    is(hash($subject)->{id}, 'g1', 'its grant');
};

subtest 'accept: ok, over an issued grant' => sub {
    for my $at ([], [accepted_at => ''], [accepted_at => '0']) {
        fresh();
        run('grant', [$head, $email, $stream], 'g',
            pairs_of(id => 'issued', email => 'alice@example.com',
                     view => 'preview', permission => 'read', exp => '',
                     @$at));

        my $r = accept_now();
        is(word($r), 'ok', "issued (@$at)") or diag(explain($r));
        is($r->[2], '2', 'epoch');

        my $g = hash($email);
        is($g->{id}, 'issued', 'its id stays');
        is($g->{view}, 'preview', 'its view stays');
        is($g->{permission}, 'read', 'its permission stays');
        is($g->{exp}, '0', 'an expiry that it had not is set');
        ok(!$g->{link}, 'it still came through no link');
        is($g->{sub}, 'alice', 'it is bound');
        is($g->{accepted_version}, '1', 'and accepted');
    }

    # the address that a grant was issued with is looked at for blocks

    fresh();
    run('grant', [$head, $subject, $stream], 'g',
        pairs_of(id => 'i', iss => 'https://id.example', sub => 'alice',
                 email => 'stored@example.com'));
    my $r = run('accept', [$head, $link, $subject, $email, $stream], 'a',
                fp($head), fp($link), fp($subject), fp($email),
                pairs_of(@accepted, email => ''));
    is(word($r), 'ok', 'a reader without an address');
    is(hash($subject)->{email}, 'stored@example.com', 'the stored one stays');
};

subtest 'accept: exists' => sub {
    fresh();
    accept_now();

    my $r = writes_nothing(sub { accept_now() }, 'accepted');
    is_deeply($r, ['exists'], 'accepted');

    fresh();
    run('revoke', [$email, $stream], 'r', '1', 'owner', '');
    $r = writes_nothing(sub { accept_now() }, 'tombstone');
    is_deeply($r, ['exists'], 'tombstone');

    fresh();
    $redis->cmd('HSET', $email, state => 'odd', epoch => 1);
    is_deeply(accept_now(), ['exists'], 'a state that nobody knows');

    fresh();
    run('grant', [$head, $email, $stream], 'g',
        pairs_of(id => 'i', email => 'alice@example.com',
                 iss => 'https://id.example', sub => 'first'));
    $r = writes_nothing(sub { accept_now() }, 'bound to another');
    is_deeply($r, ['exists'], 'bound to another subject');
};

subtest 'accept: stale' => sub {
    my @keys = ($head, $link, $email, $subject);

    for my $i (1 .. 4) {
        fresh();
        run('grant', [$head, $email, $stream], 'g',
            pairs_of(id => 'i', email => 'alice@example.com'));
        my @fps = accept_fps();

        # no new epoch: the field itself is seen
        $redis->cmd('HSET', $keys[$i - 1], 'permission', 'edit');

        my $r = writes_nothing(sub {
            run('accept', accept_keys(), 'a', @fps, pairs_of(@accepted))
        }, $keys[$i - 1]);
        is_deeply($r, ['stale', $i], "$keys[$i - 1] changed");
    }

    for my $i (1, 2, 4) {
        fresh();
        run('revoke', [$keys[$i - 1], $stream], 'r', '1', 'owner', '');

        my $r = writes_nothing(sub { accept_now() }, "revoked $i");
        is_deeply($r, ['stale', $i],
                  "a revoked record is not accepted on, known or not ($i)");
    }

    fresh();
    $redis->cmd('DEL', $link);
    is_deeply(accept_now(), ['stale', '2'], 'nor an absent link');
};

subtest 'accept: expired' => sub {
    for my $key ($head, $link, $email, $subject) {
        fresh();
        run('grant', [$head, $_, $stream], 'g',
            pairs_of(id => 'i', email => 'alice@example.com'))
            for $email, $subject;
        $redis->cmd('HSET', $key, exp => now() - 1);

        my $r = writes_nothing(sub { accept_now() }, $key);
        is(word($r), 'expired', $key);
        ok(abs($r->[1] - now()) < 5000, 'now');
    }
};

subtest 'accept: arguments' => sub {
    fresh();

    my %g = @accepted;

    for my $bad ([%g, epoch => 9], [%g, revoked_at => 1],
                 [%g, state => 'revoked'], [%g, accepted_at => ''],
                 [%g, accepted_at => '0'], [%g, accepted_version => ''],
                 [%g, accepted_version => 'x'], [%g, id => ''])
    {
        refused(writes_nothing(sub { accept_now(@$bad) }, 'bad'), 'refused');
    }

    refused(run('accept', accept_keys(), 'a', accept_fps(), 2, 'id', 'x'),
            'n is wrong');
    refused(run('accept', [$head, $link, $email, $stream], 'a', accept_fps(),
                pairs_of(@accepted)), 'a key short');
};


subtest 'serve: ok' => sub {
    fresh();
    accept_now();

    my $n = entries();
    my $r = run('serve', serve_keys(), 'read', 1, accept_fps());

    is(word($r), 'ok', 'word') or diag(explain($r));
    is($r->[1], $redis->cmd('XREVRANGE', $stream, '+', '-')->[0][0], 'entry');
    ok(abs($r->[2] - now()) < 5000, 'now');
    is(entries(), $n + 1, 'one receipt');
    is_deeply(last_receipt(), ['r', 'read'], 'which');

    $r = run('serve', [$head, $link, $subject, $stream], 'r', 1,
             fp($head), fp($link), "\n" x 18);
    is(word($r), 'ok', 'an absent grant is eighteen line feeds');

    $redis->cmd('HSET', $head, exp => '0');
    $redis->cmd('HSET', $link, exp => '');
    $redis->cmd('HSET', $email, exp => now() + 60000);
    is(word(run('serve', serve_keys(), 'r', 1, accept_fps())), 'ok',
       'never, never and later');
};

subtest 'serve: stale' => sub {
    my @keys = ($head, $link, $email, $subject);

    for my $i (1 .. 4) {
        for my $how (qw(revoke hset field)) {
            fresh();
            accept_now();
            my @fps = accept_fps();
            my $key = $keys[$i - 1];

            if ($how eq 'revoke') {
                run('revoke', [$key, $stream], 'r', '1', 'owner', '');

            } elsif ($how eq 'hset') {
                $redis->cmd('HSET', $key, state => 'revoked');

            } else {
                $redis->cmd('HSET', $key, epoch => '77');
            }

            my $r = writes_nothing(sub {
                run('serve', serve_keys(), 'r', 1, @fps)
            }, "$how $key");
            is_deeply($r, ['stale', $i], "$how $key");
        }
    }

    for my $field (@guarded) {
        fresh();
        my @fps = accept_fps();
        $redis->cmd('HSET', $head, $field, 'changed');
        is_deeply(run('serve', serve_keys(), 'r', 1, @fps), ['stale', '1'],
                  "without a new epoch: $field");
    }

    fresh();
    my @fps = accept_fps();
    $redis->cmd('DEL', $head);
    is_deeply(run('serve', serve_keys(), 'r', 1, @fps), ['stale', '1'],
              'gone');

    fresh();
    @fps = accept_fps();
    run('revoke', [$head, $stream], 'r', '1', 'owner', '');
    is(word(run('serve', serve_keys(), 'r', 0, @fps)), 'stale',
       'the owner too is guarded');
};

subtest 'serve: expired' => sub {
    for my $key ($head, $link, $email, $subject) {
        fresh();
        accept_now();
        $redis->cmd('HSET', $key, exp => now() - 1);

        my $r = writes_nothing(sub {
            run('serve', serve_keys(), 'r', 1, accept_fps())
        }, $key);
        is(word($r), 'expired', $key);
        ok(abs($r->[1] - now()) < 5000, 'now');

        is(word(run('serve', serve_keys(), 'r', 0, accept_fps())), 'ok',
           'not for the owner');
    }

    fresh();
    $redis->cmd('HSET', $head, exp => now() + 250);
    my @fps = accept_fps();
    is(word(run('serve', serve_keys(), 'r', 1, @fps)), 'ok', 'before');
    sleep 0.35;
    is(word(run('serve', serve_keys(), 'r', 1, @fps)), 'expired', 'after');

    fresh();
    $redis->cmd('HSET', $link, exp => 'tomorrow');
    is(word(run('serve', serve_keys(), 'r', 1, accept_fps())), 'expired',
       'what is no time has passed');

    fresh();
    $redis->cmd('HSET', $head, exp => now() - 1);
    @fps = accept_fps();
    $redis->cmd('HSET', $link, view => 'recipient');
    is(word(run('serve', serve_keys(), 'r', 1, @fps)), 'stale',
       'what was not decided on is stale first');
};

subtest 'serve: arguments' => sub {
    fresh();

    refused(run('serve', serve_keys(), 'r', 1, fp($head)),
            'a fingerprint short');
    refused(run('serve', [$stream], 'r', 1), 'no record');

    $redis->cmd('SET', 'relay:receipts:{w}', 'no stream');
    my $r = run('serve', ['relay:{w}', 'relay:receipts:{w}'], 'r', 1,
                "\n" x 18);
    like(word($r), qr/WRONGTYPE/, 'no receipt, no ok');
};


subtest 'block: ok' => sub {
    $redis->cmd('FLUSHALL');

    my $one = 'relay:block:domain:' . 'A' x 43;
    my $two = 'relay:block:domain:' . 'B' x 43;
    my $all = 'relay:block:domain:*';
    my $who = 'relay:block:subject:' . 'C' x 43;

    is_deeply(run('block', [$who], 'active', '17', 'why'), ['ok', '1'],
              'a subject');
    is_deeply(hash($who), { state => 'active', since => '17', reason => 'why',
                            epoch => '1' }, 'its record');
    is($redis->cmd('EXISTS', $all), 0, 'no domain counted');

    my @steps = (
        [$one, 'active', '1', '1', 'active'],
        [$one, 'active', '2', '1', 'active'],
        [$two, 'active', '1', '2', 'active'],
        [$one, 'lifted', '3', '1', 'active'],
        [$one, 'lifted', '4', '1', 'active'],
        [$two, 'lifted', '2', '0', 'lifted'],
        [$two, 'lifted', '3', '0', 'lifted'],
        [$one, 'active', '5', '1', 'active'],
    );

    my $n = 0;

    for my $s (@steps) {
        my ($key, $state, $epoch, $count, $marker) = @$s;

        is_deeply(run('block', [$key, $all], $state, '1', ''),
                  ['ok', $epoch], "$state");
        is_deeply(hash($all), { state => $marker, count => $count,
                                epoch => ++$n }, "count $count");
        is(hash($key)->{state}, $state, 'state');
    }

    refused(writes_nothing(sub {
                run('block', [$one], 'gone', '1', '')
            }, 'gone'),
            'a state that nobody knows');
    refused(run('block', [$one], 'active'), 'arguments');
};


subtest 'a revocation and what was served before it' => sub {
    fresh();
    accept_now();

    my $served = 0;
    my @fps = accept_fps();

    my $child = fork();
    defined $child or die "fork: $!";

    if ($child == 0) {
        my $c = Client->new($socket) or POSIX::_exit(1);
        sleep 0.1;
        my $r = run_as($c, 'revoke', [$email, $stream], 'revoked', '1', 'o',
                       '');
        POSIX::_exit(word($r) eq 'ok' ? 0 : 1);
    }

    for (1 .. 100000) {
        my $r = run('serve', serve_keys(), 'served', 1, @fps);
        last if word($r) ne 'ok';
        $served++;
    }

    waitpid($child, 0);
    is($?, 0, 'revoked');
    ok($served > 0, "$served served before");

    my @order = map { $_->[1][1] } @{ $redis->cmd('XRANGE', $stream, '-',
                                                  '+') };
    is($order[-1], 'revoked', 'none after');
    is(scalar(grep { $_ eq 'served' } @order), $served,
       'a receipt for each of them');
};


subtest 'ACL' => sub {
    open(my $f, '<', "$dir/README.md") or die "README.md: $!";

    my @lines = grep { /^ACL SETUSER relay-/ } <$f>;
    is(scalar @lines, 3, 'three roles in README.md');

    my %as;

    for my $line (@lines) {

        # a selector is one argument
        my @argv = map { s/^'|'$//gr } $line =~ /(\([^)]*\)|\S+)/g;

        is($redis->cmd(@argv), 'OK', $argv[2]) or return;

        my ($role) = $argv[2] =~ /^relay-(.*)$/;
        my ($password) = $line =~ />(\S+)/;

        $as{$role} = Client->new($socket);
        is($as{$role}->cmd('AUTH', $argv[2], $password), 'OK', 'signs in');
    }

    my $can = sub {
        my ($role, $name, @argv) = @_;
        my $r = $as{$role}->cmd(@argv);
        ok(ref $r ne 'Error', "$role may $name") or diag($$r);
    };

    my $cannot = sub {
        my ($role, $name, @argv) = @_;
        my $r = $as{$role}->cmd(@argv);
        ok(ref $r eq 'Error' && $$r =~ /NOPERM|can't run this command|access/,
           "$role may not $name")
            or diag(ref $r eq 'Error' ? $$r : explain($r));
    };

    my $block = 'relay:block:email:' . 'A' x 43;

    # what each role does

    $redis->cmd('FLUSHALL');

    is(word(run_as($as{backend}, 'publish', [$head, $doc1, $stream], 1, 'd',
                   'p', pairs_of(@head_fields))), 'ok', 'backend publishes');
    is(word(run_as($as{backend}, 'link', [$head, $link, $stream], 'l',
                   pairs_of())), 'ok', 'backend makes a link');
    $can->('backend', 'set a link', 'SET', 'relay:link:' . 'L' x 43, 'acme.1',
           'NX');
    is(word(run_as($as{backend}, 'grant', [$head, $subject, $stream], 'g',
                   pairs_of(id => 'i', iss => 'a', sub => 'b'))), 'ok',
       'backend issues a grant');

    is(word(run_as($as{edge}, 'accept', accept_keys(), 'a', accept_fps(),
                   pairs_of(@accepted))), 'ok', 'edge accepts');
    is(word(run_as($as{edge}, 'serve', serve_keys(), 'r', 1, accept_fps())),
       'ok', 'edge serves');
    $can->('edge', 'read a link', 'GET', 'relay:link:' . 'L' x 43);
    $can->('edge', 'read a record', 'HGETALL', $head);
    $can->('edge', 'read a block', 'HGETALL', $block);
    $can->('edge', 'read the marker', 'HGETALL', 'relay:block:domain:*');
    $can->('edge', 'read a document', 'GET', $doc1);
    $can->('edge', 'append a receipt', 'XADD', $stream, '*', 'r', 'denial');
    $can->('edge', 'ping', 'PING');
    $can->('edge', 'see durability', 'INFO', 'persistence');

    is(word(run_as($as{backend}, 'revoke', [$link, $stream], 'r', '1', 'o',
                   '')), 'ok', 'backend revokes');
    $can->('backend', 'say so', 'XADD', 'relay:revocations', '*', 'r', '{}');
    $can->('backend', 'wait', 'WAIT', 0, 1);

    is(word(run_as($as{operator}, 'revoke', [$head, $stream], 'r', '1', 'o',
                   '')), 'ok', 'operator revokes');
    is(word(run_as($as{operator}, 'block',
                   ['relay:block:domain:' . 'A' x 43, 'relay:block:domain:*'],
                   'active', '1', '')), 'ok', 'operator blocks');
    $can->('operator', 'read receipts', 'XRANGE', $stream, '-', '+');
    $can->('operator', 'scan', 'SCAN', 0, 'MATCH', 'relay:*');

    # what each role does not

    my @forge = (1, $head, 'active');
    my $forge = 'return redis.call("HSET", KEYS[1], "state", ARGV[1])';
    my $del = 'return redis.call("DEL", KEYS[1])';

    for my $key ($head, $link) {
        $cannot->('edge', "write $key", 'HSET', $key, 'state', 'active');
        $cannot->('edge', "write $key in a script", 'EVAL', $forge, 1, $key,
                  'active');
    }

    $cannot->('edge', 'write a block', 'HSET', $block, 'state', 'lifted');
    $cannot->('edge', 'write a block in a script', 'EVAL', $forge, 1, $block,
              'lifted');
    $cannot->('edge', 'write a document', 'SET', $doc1, 'x');
    $cannot->('edge', 'write a link', 'SET', 'relay:link:x', 'x');
    $cannot->('edge', 'read receipts', 'XRANGE', $stream, '-', '+');
    $cannot->('edge', 'write revocations', 'XADD', 'relay:revocations', '*',
              'r', 'x');
    $cannot->('edge', 'read other keys', 'GET', 'session:1');
    $cannot->('edge', 'list keys', 'KEYS', '*');

    my $r = run_as($as{edge}, 'revoke', [$head, $stream], 'r', '1', 'o', '');
    is(ref $r, 'Error', 'edge revokes no relay');

    $cannot->('backend', 'block', 'HSET', $block, 'state', 'active');
    $cannot->('backend', 'read receipts', 'XRANGE', $stream, '-', '+');
    $cannot->('backend', 'replace the stream', 'SET', $stream, 'x');
    $cannot->('backend', 'reach other keys', 'SET', 'session:1', 'x');

    for my $role (sort keys %as) {
        $cannot->($role, 'delete', 'DEL', $email);
        $cannot->($role, 'delete in a script', 'EVAL', $del, 1, $head);
        $cannot->($role, 'let a record lapse', 'EXPIRE', $email, 1);
        $cannot->($role, 'trim', 'XTRIM', $stream, 'MAXLEN', 0);
        $cannot->($role, 'empty it', 'FLUSHALL');
        $cannot->($role, 'configure', 'CONFIG', 'SET', 'save', '');
        $cannot->($role, 'make users', 'ACL', 'SETUSER', 'x', 'on');
    }
};


undef $redis;

done_testing();

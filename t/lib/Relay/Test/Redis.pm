package Relay::Test::Redis;

# The part of Relay::Test that starts, breaks and asks its Redis.

use strict;
use warnings;

use IO::Select;
use IO::Socket::UNIX;
use JSON::PP ();
use Socket qw(SOCK_STREAM);

my $json = JSON::PP->new->canonical->allow_nonref;
my $utf8 = JSON::PP->new->canonical->allow_nonref->utf8;


sub redis_url { return "unix:$_[0]->{sockets}/redis.sock" }


sub redis_start {
    my ($self) = @_;

    my $dir = $self->{dir};
    my $sync = $self->{opts}{appendonly};

    my $server = Relay::Test::_which('redis-server')
        || die "redis-server is not installed: make test installs it\n";

    $self->write_file('redis.conf', join("\n",
        'bind 127.0.0.1',
        'port ' . $self->port('redis'),
        "unixsocket $self->{sockets}/redis.sock",
        'unixsocketperm 700',
        "dir $dir",
        "logfile $dir/redis.log",
        'save ""',
        'maxmemory-policy noeviction',
        'appendonly ' . ($sync ? 'yes' : 'no'),
        'appendfsync ' . ($sync // 'no'),
        'enable-debug-command local',
        $self->{opts}{redis_conf} // '',
        ''));

    $self->{redis_pid} = $self->_spawn("$dir/redis.out", $server,
                                       "$dir/redis.conf");

    $self->wait_for(sub {
        return 1 if eval { $self->_redis(['PING']) };

        # one that wants a password, or is still loading, runs as well

        return $@ =~ /^(?:NOAUTH|NOPERM|LOADING|MISCONF)/;
    }) or die "redis-server does not start; see $dir/redis.log\n";

    return $self;
}


sub redis_pid { return $_[0]->{redis_pid} }


# Ends it at once, as a power cut would; redis_start() brings it back.

sub redis_kill {
    my ($self) = @_;

    return $self->_redis_end('KILL');
}


sub redis_stop {
    my ($self) = @_;

    return $self->_redis_end('TERM');
}


sub _redis_end {
    my ($self, $signal) = @_;

    my $pid = delete $self->{redis_pid} or return $self;

    delete $self->{redis_socket};

    kill($signal, $pid);
    kill('CONT', $pid);

    if (!Relay::Test::_reap($pid, 5)) {
        kill('KILL', $pid);
        Relay::Test::_reap($pid, 5);
    }

    return $self;
}


# Freezes and thaws it.

sub redis_pause { kill('STOP', $_[0]->{redis_pid}); return $_[0] }


sub redis_resume { kill('CONT', $_[0]->{redis_pid}); return $_[0] }


# One command.  A string, a number, undef or an array; dies with an error reply.

sub redis {
    my ($self, @cmd) = @_;

    return $self->_redis([@cmd]);
}


# Many commands in one go: their replies.

sub redis_pipeline {
    my ($self, @cmds) = @_;

    return $self->_redis(@cmds);
}


sub redis_hash {
    my ($self, $key) = @_;

    return { @{$self->redis('HGETALL', $key)} };
}


sub _redis {
    my ($self, @cmds) = @_;

    my $socket = $self->{redis_socket};

    if (!$socket || $self->{redis_socket_pid} != $$) {
        $socket = IO::Socket::UNIX->new(
            Type => SOCK_STREAM, Peer => "$self->{sockets}/redis.sock")
            or die "redis: $!\n";

        $self->{redis_socket} = $socket;
        $self->{redis_socket_pid} = $$;
        $self->{redis_buf} = '';

        if (my $auth = $self->{opts}{redis_auth}) {
            $self->_redis(['AUTH', ref $auth ? @$auth : $auth]);
        }
    }

    my $out = '';

    for my $cmd (@cmds) {
        $out .= '*' . @$cmd . "\r\n";

        for my $arg (@$cmd) {
            my $bytes = $arg;
            utf8::encode($bytes) if utf8::is_utf8($bytes);
            $out .= '$' . length($bytes) . "\r\n$bytes\r\n";
        }
    }

    my @replies = eval {
        my $done = 0;

        while ($done < length $out) {
            my $n = syswrite($socket, $out, length($out) - $done, $done);
            die "redis: $!\n" if !defined $n;
            $done += $n;
        }

        map { $self->_redis_reply() } @cmds;
    };

    if (my $error = $@) {
        delete $self->{redis_socket};
        die $error;
    }

    for my $reply (@replies) {
        die "$$reply\n" if ref $reply eq 'SCALAR';
    }

    return @cmds == 1 ? $replies[0] : @replies;
}


sub _redis_reply {
    my ($self) = @_;

    my $line = $self->_redis_read(sub {
        my $end = index($_[0], "\r\n");
        return $end < 0 ? -1 : $end + 2;
    });

    $line =~ s/^(.)//s;
    my $type = $1;
    $line =~ s/\r\n$//;

    return $line if $type eq '+' || $type eq ':';
    return \"$line" if $type eq '-';

    if ($type eq '$') {
        return undef if $line < 0;

        my $bulk = $self->_redis_read(sub {
            return length($_[0]) >= $line + 2 ? $line + 2 : -1;
        });

        return substr($bulk, 0, $line);
    }

    if ($type eq '*') {
        return undef if $line < 0;

        my @elts = map { $self->_redis_reply() } 1 .. $line;

        return \@elts;
    }

    die "redis: an answer that starts with $type\n";
}


sub _redis_read {
    my ($self, $complete) = @_;

    my $n;

    while (($n = $complete->($self->{redis_buf})) < 0) {
        die "redis: no answer\n"
            if !IO::Select->new($self->{redis_socket})->can_read(10);

        my $got = sysread($self->{redis_socket}, $self->{redis_buf}, 65536,
                          length $self->{redis_buf});

        die "redis: the connection ended\n" if !$got;
    }

    return substr($self->{redis_buf}, 0, $n, '');
}


# The receipts of a relay, oldest first, decoded; "stream" is the entry's id.

sub receipts {
    my ($self, $relay) = @_;

    $relay //= $self->relay();

    my $entries = $self->redis('XRANGE', "$self->{prefix}receipts:{$relay}",
                               '-', '+');

    return map {
        my ($id, $fields) = @$_;
        my %fields = @$fields;
        my ($text) = grep { /^\{/ } values %fields;

        +{ %{$text ? $utf8->decode($text) : \%fields}, stream => $id };
    } @$entries;
}


# What is in Redis, in a file that the token check reads.

sub _dump_redis {
    my ($self) = @_;

    return if !$self->{redis_pid};

    kill('CONT', $self->{redis_pid});

    my $out = '';

    eval {
        my ($cursor, %seen) = (0);

        do {
            my $reply = $self->redis('SCAN', $cursor, 'COUNT', 1000);
            $cursor = $reply->[0];
            @seen{@{$reply->[1]}} = ();
        } while ($cursor ne '0');

        for my $key (sort keys %seen) {
            my $type = $self->redis('TYPE', $key);
            my $value = $type eq 'hash' ? $self->redis('HGETALL', $key)
                : $type eq 'stream' ? $self->redis('XRANGE', $key, '-', '+')
                : $type eq 'string' ? $self->redis('GET', $key)
                : $type;

            $out .= "$key $type " . $json->encode([$value]) . "\n";
        }
    };

    $out .= "not dumped: $@" if $@;

    $self->write_file('redis.dump', $out);
}


1;

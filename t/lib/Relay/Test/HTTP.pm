package Relay::Test::HTTP;

# The part of Relay::Test that asks nginx, and the answers.

use strict;
use warnings;

use IO::Select;
use IO::Socket::INET;
use JSON::PP ();
use Time::HiRes qw(time);

my $utf8 = JSON::PP->new->canonical->allow_nonref->utf8;


sub get {
    my ($self, $path, @rest) = @_;

    return $self->request('GET', $path, @rest);
}


sub post {
    my ($self, $path, $body, %rest) = @_;

    $body = $utf8->encode($body) if ref $body;

    return $self->request('POST', $path, 'Content-Type' => 'application/json',
                          %rest, -body => $body);
}


# One request on a connection of its own.  What follows the path are headers (a
# list for a repeated one, undef for none of it) and options: -bearer, -body,
# -port, -timeout, -version ("1.1").

sub request {
    my ($self, $method, $path, %args) = @_;

    my ($bytes, $o) = $self->_request_bytes($method, $path, %args);

    return Relay::Test::Response->parse(
        $self->raw($bytes, %$o), $method);
}


sub _request_bytes {
    my ($self, $method, $path, %args) = @_;

    my ($headers, $o) = $self->_headers(%args);
    my $version = delete $o->{-version} // '1.1';
    my $body = delete $o->{-body};

    my $bytes = "$method $path HTTP/$version\r\n"
        . join('', map { "$_->[0]: $_->[1]\r\n" }
                   [Host => 'localhost'], [Connection => 'close'],
                   defined $body ? ['Content-Length' => length $body] : (),
                   @$headers)
        . "\r\n" . ($body // '');

    # a header that the caller gives stands in place of ours

    for my $name (qw(Host Connection Content-Length)) {
        next if !grep { lc $_ eq lc $name } keys %args;
        $bytes =~ s/\r\n\Q$name\E: [^\r]*//i;
    }

    return ($bytes, $o);
}


sub _headers {
    my ($self, %args) = @_;

    my %o = map { $_ => delete $args{$_} } grep { /^-/ } keys %args;
    my @headers;

    for my $name (sort keys %args) {
        my $value = $args{$name};
        push @headers, map { [$name, $_] }
                       ref $value ? @$value : defined $value ? $value : ();
    }

    my $bearer = delete $o{-bearer};
    push @headers, [Authorization => "Bearer $bearer"] if defined $bearer;

    return (\@headers, \%o);
}


# Sends bytes as they are and returns all that comes until the connection ends
# or -timeout (10 s) passes.

sub raw {
    my ($self, $bytes, %o) = @_;

    my $socket = $self->connect($o{-port});
    my $timeout = $o{-timeout} // 10;

    _write($socket, $bytes);
    shutdown($socket, 1) if $o{-shutdown};

    return _read_all($socket, $timeout);
}


# Sends a request and returns the socket, for a test that reads later, or goes.

sub send_request {
    my ($self, $method, $path, %args) = @_;

    my ($bytes, $o) = $self->_request_bytes($method, $path, %args);
    my $socket = $self->connect($o->{-port});

    _write($socket, $bytes);

    return $socket;
}


sub read_response {
    my ($self, $socket, %o) = @_;

    return Relay::Test::Response->parse(
        _read_all($socket, $o{-timeout} // 10), $o{-method} // 'GET');
}


sub connect {
    my ($self, $port) = @_;

    return IO::Socket::INET->new(
        PeerAddr => '127.0.0.1', PeerPort => $port // $self->port(),
        Proto => 'tcp', Timeout => 5)
        || die "connect: $!\n";
}


sub _write {
    my ($socket, $bytes) = @_;

    my $done = 0;

    while ($done < length $bytes) {
        my $n = syswrite($socket, $bytes, length($bytes) - $done, $done);
        last if !defined $n;
        $done += $n;
    }
}


sub _read_all {
    my ($socket, $timeout) = @_;

    my $select = IO::Select->new($socket);
    my $end = time() + $timeout;
    my $in = '';

    while ((my $left = $end - time()) > 0) {
        next if !$select->can_read($left);
        last if !sysread($socket, $in, 65536, length $in);
    }

    return $in;
}


# The same over HTTP/2 without TLS, by curl, at a port that listens for it.

sub h2 {
    my ($self, $method, $path, %args) = @_;

    my ($headers, $o) = $self->_headers(%args);
    my $port = $o->{-port} // $self->port();
    my $dir = $self->{dir};

    $self->write_file('h2.body', $o->{-body} // '');

    my $pid = $self->_spawn("$dir/h2.err", 'curl', '-sS', '--globoff',
        '--path-as-is', '--http2-prior-knowledge', '--max-time',
        $o->{-timeout} // 10, '-D', "$dir/h2.head", '-o', "$dir/h2.out",
        $method eq 'HEAD' ? '-I' : ('-X', $method),
        defined $o->{-body} ? ('--data-binary', "\@$dir/h2.body") : (),
        (map { ('-H', "$_->[0]: $_->[1]") } @$headers),
        "http://127.0.0.1:$port$path");

    waitpid($pid, 0);

    my ($head, $body, $err) =
        map { Relay::Test::_slurp("$dir/h2.$_") } qw(head out err);

    unlink map { "$dir/h2.$_" } qw(head out err body);

    $body = '' if $method eq 'HEAD';

    return Relay::Test::Response->parse("$head$body", $method, $err);
}


###############################################################################

package Relay::Test::Response;

# An answer: status (0 when none came), header(name), headers(name), body,
# json, and raw, all its bytes.

sub parse {
    my ($class, $raw, $method, $error) = @_;

    my $self = bless {
        raw => $raw, status => 0, headers => {}, names => [], body => '',
        error => $error // '', complete => 0,
    }, $class;

    my $rest = $raw;

    # a 100 or 103 precedes the answer

    while ($rest =~ s{\A(HTTP/[\d.]+ (\d+)[^\r\n]*\r\n.*?)\r\n\r\n}{}s) {
        my ($head, $status) = ($1, $2);

        $self->{status} = $status;
        $self->{head} = $head;
        last if $status >= 200;
    }

    return $self if !$self->{status};

    for my $line (split /\r\n/, $self->{head}) {
        next if $line !~ /^([^:\s]+):\s*(.*)$/;
        push @{$self->{names}}, lc $1;
        push @{$self->{headers}{lc $1}}, $2;
    }

    if (lc($self->header('Transfer-Encoding') // '') eq 'chunked') {
        while ($rest =~ s/\A([0-9a-fA-F]+)[^\r\n]*\r\n//) {
            my $len = hex $1;

            if ($len == 0) {
                $self->{complete} = 1;
                last;
            }

            last if length($rest) < $len + 2;
            $self->{body} .= substr($rest, 0, $len + 2, '');
            substr($self->{body}, -2) = '';
        }

    } else {
        $self->{body} = $rest;

        my $len = $self->header('Content-Length');
        $self->{complete} = $method eq 'HEAD' ? $rest eq ''
            : !defined $len || $len == length $rest;
    }

    return $self;
}


sub status { return $_[0]->{status} }


sub body { return $_[0]->{body} }


sub raw { return $_[0]->{raw} }


# What curl said of an answer that did not come whole.

sub error { return $_[0]->{error} }


# Whether as many bytes came as were announced.

sub complete { return $_[0]->{complete} }


sub header {
    my ($self, $name) = @_;

    my $values = $self->{headers}{lc $name};

    return $values ? $values->[0] : undef;
}


sub headers {
    my ($self, $name) = @_;

    return @{$self->{headers}{lc $name} // []};
}


# The names of all headers, in their order.

sub names { return @{$_[0]->{names}} }


sub json {
    my ($self) = @_;

    return eval { JSON::PP->new->utf8->allow_nonref->decode($self->{body}) };
}


1;

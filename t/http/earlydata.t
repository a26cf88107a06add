#!/usr/bin/perl

# TLS 1.3 early data, which anybody who saw it can send again: 425, no grant and
# no read, whoever it is; the same request after the handshake is served.

use strict;
use warnings;

use lib 't/lib';

use IO::Select;
use IO::Socket::INET;
use Relay::Test;
use Test::More;

Relay::Test->need('openssl');

my $t = Relay::Test->new(http => <<'EOC');
    log_format early '$status $ssl_early_data $relay_reason';
    access_log %%DIR%%/early.log early;

    %%RELAY%%

    server {
        listen 127.0.0.1:%%PORT%% ssl;
        ssl_certificate %%DIR%%/server.pem;
        ssl_certificate_key %%DIR%%/server.key;
        ssl_protocols TLSv1.3;
        ssl_early_data on;
        add_header X-Reason $relay_reason always;

        location = /ticket { return 200 "a ticket"; }

        location ~ ^/r/(?<t1>.*)$ {
            relay_link $t1;
            relay_package on;
        }

        location ~ ^/basic/(?<t2>.*)$ {
            relay_jwt_keys off;
            relay_identity issuer=https://basic.example subject=$arg_who
                           email=tomas.lindqvist@norrvik.example
                           email_trust=on;
            relay_accept on-read;
            relay_link $t2;
            relay_package on;
        }
    }
EOC

my $dir = $t->dir();

system("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=edge "
       . "-keyout $dir/server.key -out $dir/server.pem "
       . ">>$dir/openssl.log 2>&1") == 0 or die "no certificate\n";

my $id = $t->publish();
my $link = $t->link();
my $bearer = $t->token();

$t->run();


# A network that hands the server's bytes over only when it has said all that it
# has to say: until then the client cannot finish the handshake, which would end
# the early data, and what the client has sent is all that an attacker can have.

my $network = $t->port(1);

$t->run_daemon(sub {
    my $listener = $t->listener($network);

    while (my $client = $listener->accept()) {
        my $server = IO::Socket::INET->new(
            PeerAddr => '127.0.0.1', PeerPort => $t->port())
            or die "connect: $!\n";
        my $select = IO::Select->new($client, $server);
        my ($flight, $held) = ('', '');

        NETWORK: while (my @ready = $select->can_read()) {
            for my $fh (@ready) {
                last NETWORK if !sysread($fh, my $buf, 65536);

                if ($fh == $client) {
                    $flight .= $buf;
                    syswrite($server, $buf);
                } else {
                    $held .= $buf;
                }
            }
        }

        $t->write_file('flight', $flight);
        syswrite($client, $held);
        1 while sysread($client, my $rest, 65536);
        close $_ for $client, $server;
    }
});

$t->wait_for_socket($network);


# One request over TLS 1.3, as early data or after the handshake: what openssl
# printed, and the answer in it.

sub tls {
    my ($request, @options) = @_;

    my $file = $t->write_file('request', $request);
    my $early = grep { $_ eq '-early_data' } @options;
    my $connect = '127.0.0.1:' . ($early ? $network : $t->port());

    # without early data the request is its standard input

    my $said = `openssl s_client -connect $connect -tls1_3 -ign_eof @options \\
                    2>&1 <@{[$early ? '/dev/null' : $file]}`;

    unlink $file;

    my ($answer) = $said =~ m{^(HTTP/1\.1 .*)}ms;

    return ($said, $answer // '');
}


sub request {
    my ($path, @headers) = @_;

    return join("\r\n", "GET $path HTTP/1.1", 'Host: edge',
                'Connection: close', @headers, '', '');
}


sub grants { return scalar(@{$t->redis('KEYS', 'relay:{*:g:*')}) }

sub reads { return scalar(grep { $_->{kind} ne 'act' } $t->receipts($id)) }


my ($said, $answer) = tls(request('/ticket'), '-sess_out', "$dir/session");

like($answer, qr/^HTTP\/1\.1 200 .*a ticket/s, 'a full handshake');
like($said, qr/^New, TLSv1\.3/m, 'and a new session');
ok(-s "$dir/session", 'its ticket is kept');

my @again = ('-sess_in', "$dir/session");
my @early = (@again, '-early_data', "$dir/request");

# nobody has to sign in first, early or not

for my $case (['a bearer token', 425, 'early_data', "/r/$link",
               "Authorization: Bearer $bearer"],
              ['a link unknown', 425, 'early_data', '/r/' . 'u' x 43,
               "Authorization: Bearer $bearer"],
              ['an identity by nginx', 425, 'early_data',
               "/basic/$link?who=tomas"],
              ['nobody', 401, 'sign_in', "/r/$link"])
{
    my ($name, $status, $reason, $path, @headers) = @$case;

    ($said, $answer) = tls(request($path, @headers), @early);

    like($said, qr/^Reused, TLSv1\.3/m, "$name: a session resumed");
    like($said, qr/^Early data was accepted/m, "$name: early data");
    like($answer, qr/^HTTP\/1\.1 $status /, "$name: $status");
    like($answer, qr/^X-Reason: $reason\r$/m, "$name: the reason");
    unlike($answer, qr/Norrvik|Brackwell|\Q$link\E/,
           "$name: no content, no token");
    is(grants(), 0, "$name: no grant");
    is(reads(), 0, "$name: no receipt");
}

# sent once more, byte by byte, as an attacker would

($said, $answer) = tls(request("/r/$link", "Authorization: Bearer $bearer"),
                       @early);

like($answer, qr/^HTTP\/1\.1 425 /, 'by its reader: 425');

for my $round (1 .. 3) {
    my $r = $t->raw($t->read_file("$dir/flight"));

    cmp_ok(length($r), '>', 500, "replayed, $round: the server answers");
}

my $log = $t->read_file("$dir/early.log");

is(() = $log =~ /^425 1 early_data$/mg, 7, 'all of them are refused');
is(grants(), 0, 'replayed: no grant');
is(reads(), 0, 'replayed: no receipt');

# what does not go through us may be sent early

($said, $answer) = tls(request('/ticket'), @early);
like($answer, qr/^HTTP\/1\.1 200 /, 'early data elsewhere: served');

# replayed as a client does that was told 425: after the handshake

($said, $answer) = tls(request("/r/$link", "Authorization: Bearer $bearer"),
                       @again);

like($said, qr/^Reused, TLSv1\.3/m, 'the same request in a resumed session');
like($said, qr/^Early data was not sent/m, 'after the handshake');
like($answer, qr/^HTTP\/1\.1 200 /, 'is served');
like($answer, qr/Norrvik/, 'with the view');
is(grants(), 1, 'a grant');
is(scalar(grep { $_->{kind} eq 'read' } $t->receipts($id)), 1, 'and a receipt');

unlike($t->read_file("$dir/$_"), qr/\Q$link\E|u{43}/, "$_: no token")
    for qw(error.log early.log openssl.log);

$t->stop();
done_testing();

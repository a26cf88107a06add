#!/usr/bin/perl

# A client certificate as identity: $ssl_client_s_dn, over TLS.

use strict;
use warnings;

use lib 't/lib';

use Relay::Test;
use Test::More;

Relay::Test->need('curl');
Relay::Test->need('openssl');

my $t = Relay::Test->new(http => <<'EOC');
    server {
        listen 127.0.0.1:%%PORT%% ssl;
        ssl_certificate %%DIR%%/server.pem;
        ssl_certificate_key %%DIR%%/server.key;
        ssl_client_certificate %%DIR%%/ca.pem;
        ssl_verify_client optional;
        add_header X-Reason $relay_reason always;

        location ~ ^/r/(?<relay_token>.*)$ {
            relay_redis %%REDIS%%;
            relay_identity issuer=https://ca.example subject=$ssl_client_s_dn;
            relay_accept on-read;
            relay_link $relay_token;
            relay_package on;
        }
    }
EOC

my $dir = $t->dir();

sub openssl { system("openssl @_ >>$dir/openssl.log 2>&1") == 0 or die "@_\n" }

openssl("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ca",
        "-keyout $dir/ca.key -out $dir/ca.pem");

for my $name (qw(server app-1 app-2)) {
    openssl("req -newkey rsa:2048 -nodes -subj /CN=$name",
            "-keyout $dir/$name.key -out $dir/$name.csr");
    openssl("x509 -req -in $dir/$name.csr -CA $dir/ca.pem -CAkey $dir/ca.key",
            "-CAcreateserial -days 2 -out $dir/$name.pem");
}

my $id = $t->publish();
my $link = $t->link();

$t->grant('--iss', 'https://ca.example', '--sub', 'CN=app-1');
$t->run();


# (status and reason, body)

sub ask {
    my ($name) = @_;

    my $cert = $name ? "--cert $dir/$name.pem --key $dir/$name.key" : '';
    my $url = 'https://127.0.0.1:' . $t->port() . "/r/$link";
    my $out = `curl -skD - $cert $url`;
    my ($head, $body) = split /\r\n\r\n/, $out, 2;
    my ($status) = $head =~ m{^HTTP/\S+ (\d+)};
    my ($reason) = $head =~ /^X-Reason: (\S+)/mi;

    return ($status . ' ' . ($reason // ''), $body);
}

my ($answer, $body) = ask('app-1');
is($answer, '200 accepted', 'the certificate that was granted');
like($body, qr/Norrvik/, 'its view');

($answer, $body) = ask('app-2');
is($answer, '403 not_named', 'another certificate');
unlike($body, qr/Norrvik/, 'nothing of the content');

($answer, $body) = ask('');
is($answer, '401 sign_in', 'no certificate');

is(join(' ', map { $_->{reader}{subject} } grep { $_->{kind} eq 'read' }
             $t->receipts($id)),
   'CN=app-1', 'the receipt carries the subject');

$t->stop();
done_testing();

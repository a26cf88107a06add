#!/usr/bin/perl

# Identity that other modules vouch for, and what a browser's ambient identity
# may not do.

use strict;
use warnings;

use lib 't/lib';

use JSON::PP ();
use Relay::Test;
use Test::More;

my $t = Relay::Test->new(server => <<'EOC');
    relay_redis %%REDIS%%;
    add_header X-Reason $relay_reason always;
    add_header X-Reader $relay_reader always;

    location = /auth {
        internal;
        proxy_pass http://127.0.0.1:%%PORT1%%/auth;
        proxy_pass_request_body off;
        proxy_set_header Content-Length "";
    }

    location ~ ^/oauth2/(?<t1>[^/]+)$ {
        auth_request /auth;
        auth_request_set $user $upstream_http_x_user;
        auth_request_set $mail $upstream_http_x_email;
        relay_identity issuer=https://proxy.example subject=$user email=$mail
                       email_trust=on;
        relay_link $t1;
        relay_package on;
        error_page 401 = @sign_in;
    }

    location ~ ^/oauth2-plain/(?<t2>[^/]+)$ {
        auth_request /auth;
        auth_request_set $user2 $upstream_http_x_user;
        auth_request_set $mail2 $upstream_http_x_email;
        relay_identity issuer=https://proxy.example subject=$user2 email=$mail2
                       email_trust=on;
        relay_link $t2;
        relay_package on;
    }

    location @sign_in {
        return 302 https://sign-in.example/start;
    }

    location ~ ^/basic/(?<t3>[^/]+)$ {
        auth_basic "relays";
        auth_basic_user_file %%DIR%%/htpasswd;
        relay_identity issuer=https://basic.example subject=$remote_user;
        relay_link $t3;
        relay_package on;
    }

    location ~ ^/both/(?<t4>[^/]+)$ {
        relay_jwt_keys %%KEYS%% issuer=https://id.example
                       audience=https://edge.example email=trusted;
        relay_identity issuer=https://cookie.example subject=$cookie_user
                       email=$cookie_mail email_trust=on;
        relay_link $t4;
        relay_package on;
    }
EOC

my $mail = 'tomas.lindqvist@norrvik.example';
my $id = $t->publish();
my $link = $t->link();

$t->write_file('htpasswd', "app-1:{PLAIN}secret\n");

$t->run_daemon(sub {
    my $listener = $t->listener($t->port(1));

    while (my $client = $listener->accept()) {
        my $buf = '';
        while ($buf !~ /\r\n\r\n/) {
            sysread($client, $buf, 65536, length $buf) or last;
        }
        my ($user) = $buf =~ /^Cookie: session=(\w+)/mi;
        print $client $user
            ? "HTTP/1.0 200 OK\r\nX-User: $user\r\nX-Email: $mail\r\n"
              . "Content-Length: 0\r\n\r\n"
            : "HTTP/1.0 401 Unauthorized\r\nWWW-Authenticate: Cookie\r\n"
              . "Set-Cookie: state=1\r\nContent-Length: 5\r\n\r\nlogin";
        close $client;
    }
});

$t->wait_for_socket($t->port(1));
$t->run();


sub grants { return scalar(grep { /:g:/ } @{$t->redis('KEYS', 'relay:{*')}) }

my $r = $t->get("/oauth2/$link");
is($r->status, 302, 'auth_request: a redirect to sign in');
is($r->header('Location'), 'https://sign-in.example/start',
   'to the right place');
unlike($r->raw, qr/Norrvik/, 'no byte of content');

$r = $t->get("/oauth2-plain/$link");
is($r->status, 401, "auth_request's own 401");
is($r->header('WWW-Authenticate'), 'Cookie', 'with its challenge');

$r = $t->get("/oauth2-plain/$link", Cookie => 'session=tomas');
is($r->status, 200, 'signed in by auth_request');
is($r->header('X-Reason'), 'preview', 'accepts explicitly: preview first');
is($r->header('X-Reader'), $mail, 'the reader');
is(grants(), 0, 'a GET has made no grant');

for my $case (
    ['cross-site', 403, 'cross_site', 'Sec-Fetch-Site' => 'cross-site'],
    ['a prefetch', 403, 'prefetch', 'Sec-Purpose' => 'prefetch;prerender'],
    ['an old prefetch', 403, 'prefetch', 'Purpose' => 'prefetch'],
    ['early data', 425, 'early_data', 'Early-Data' => '1'],
) {
    my ($name, $status, $reason, @headers) = @$case;

    for my $method (qw(GET POST)) {
        $r = $t->request($method, "/oauth2-plain/$link",
                         Cookie => 'session=tomas', @headers,
                         $method eq 'POST'
                         ? ('Content-Type' => 'application/json',
                            -body => '{"version":3}') : ());
        is($r->status, $status, "$name: $method");
        is($r->header('X-Reason'), $reason, "$name: $method: the reason");
    }
}

# a link in a mail: one click makes it this site's own request

my @navigation = (Cookie => 'session=tomas', 'Sec-Fetch-Mode' => 'navigate',
                  'Sec-Fetch-Dest' => 'document', Accept => 'text/html');

$r = $t->get("/oauth2-plain/$link", @navigation,
             'Sec-Fetch-Site' => 'cross-site');
is($r->status, 403, 'a navigation that another site began');
like($r->header('Content-Type'), qr{^text/html}, 'is answered with a page');
like($r->body, qr/<a href="">/, 'whose link leads to the same place');
unlike($r->raw, qr/Norrvik|\Q$link\E/, 'and which says nothing else');

$r = $t->get("/oauth2-plain/A$link", @navigation,
             'Sec-Fetch-Site' => 'cross-site');
is($r->status, 403, 'the same for a link that does not exist');

$r = $t->get("/oauth2-plain/$link", @navigation,
             'Sec-Fetch-Site' => 'same-origin');
is($r->header('X-Reason'), 'preview', 'the click leads on');

$r = $t->request('POST', "/oauth2-plain/$link", Cookie => 'session=tomas',
                 'Content-Type' => 'text/plain', -body => '{"version":3}');
is($r->status, 415, 'a text/plain POST');
is(grants(), 0, 'none of these made a grant');

$r = $t->post("/oauth2-plain/$link", '{"version":3}',
              Cookie => 'session=tomas', 'Sec-Fetch-Site' => 'same-origin');
is($r->status, 200, 'a POST of the same origin');
is($r->header('X-Reason'), 'accepted', 'accepts');
is(grants(), 1, 'and made the grant');
is($t->get("/oauth2-plain/$link", Cookie => 'session=tomas')
     ->header('X-Reason'), 'served', 'served from now on');

# auth_basic

$r = $t->get("/basic/$link");
is($r->status, 401, "auth_basic's own 401");
like($r->header('WWW-Authenticate') // '', qr/^Basic realm="relays"/,
     'with its challenge');
unlike($r->raw, qr/Norrvik/, 'no byte of content');

my $basic = 'Basic YXBwLTE6c2VjcmV0';

is($t->get("/basic/$link", Authorization => $basic)->header('X-Reason'),
   'not_named', 'auth_basic: nobody has granted it');
$t->grant('--iss', 'https://basic.example', '--sub', 'app-1');
is($t->get("/basic/$link", Authorization => $basic)->header('X-Reason'),
   'preview', 'granted by subject');
is($t->post("/basic/$link", '{"version":3}', Authorization => $basic)
     ->header('X-Reason'), 'accepted', 'accepted');

# bearer beside a cookie: a token that does not hold is not made up for

my $cookie = "user=tomas; mail=$mail";

is($t->get("/both/$link", Cookie => $cookie)->status, 200, 'the cookie alone');
is($t->get("/both/$link", Cookie => $cookie, -bearer => 'a.b.c')->status, 401,
   'a bad bearer token is not made up for by a cookie');
is($t->get("/both/$link", -bearer => $t->token(sub => 'other'))->status, 200,
   'a good one alone');
is($t->get("/both/$link")->status, 401, 'nothing at all');

$t->stop();
done_testing();

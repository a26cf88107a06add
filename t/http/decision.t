#!/usr/bin/perl

# The decision table, row by row: status, $relay_reason and receipt.

use strict;
use warnings;

use lib 't/lib';

use JSON::PP ();
use Relay::Test;
use Test::More;
use Time::HiRes qw(sleep time);

my $t = Relay::Test->new(http => <<'EOC', timeout => 300);
    relay_zone views:1m;

    map $relay_decision $decision { default $relay_decision; }

    server {
        listen 127.0.0.1:%%PORT%%;
        add_header X-Decision $relay_decision always;
        add_header X-Reason $relay_reason always;
        add_header X-Grant $relay_grant always;
        add_header X-Reader $relay_reader always;
        add_header X-Receipt $relay_receipt always;
        add_header X-View $relay_view always;
        add_header X-Version $relay_version always;

        %%RELAY%%
        relay_block_bound 0;

        location ~ ^/r/(?<t1>[^/]+)$ {
            relay_link $t1;
            relay_package on;
        }

        location ~ ^/conceal/(?<t2>[^/]+)$ {
            relay_link $t2;
            relay_package on;
            relay_conceal on;
        }

        location ~ ^/untrusted/(?<t3>[^/]+)$ {
            relay_jwt_keys %%KEYS%% issuer=https://id.example
                           audience=https://edge.example;
            relay_link $t3;
            relay_package on;
        }

        location ~ ^/explicit/(?<t4>[^/]+)$ {
            relay_link $t4;
            relay_package on;
            relay_accept explicit;
        }

        location ~ ^/bind/(?<t5>[^/]+)$ {
            relay_link $t5;
            relay_package on;
            relay_bind_subject on;
        }

        location ~ ^/pass-on/(?<t6>[^/]+)$ {
            relay_link $t6;
            relay_package on;
            relay_view pass-on;
        }

        location ~ ^/bound/(?<t8>[^/]+)$ {
            relay_link $t8;
            relay_package on;
            relay_block_bound 500ms;
        }

        location ~ ^/wide/(?<t7>[^/]+)$ {
            relay_link $t7;
            relay_package on;
            relay_anyone_view recipient;
        }
    }
EOC

my $pilot = $t->read_json('schema/examples/pilot.relay.json');
my $serial = 0;


# A fresh relay of the worked example's content: (its id, a link's token).

sub relay {
    my (%o) = @_;

    my $doc = JSON::PP->new->decode(JSON::PP->new->encode($pilot));

    $doc->{id} = 'rly_' . ++$serial;
    $doc->{version} = 1;
    $doc->{audience}{access} = $o{access} if $o{access};
    delete $doc->{audience}{email} if ($o{access} // '') eq 'anyone';
    $doc->{lifecycle}{mode} = $o{mode} if $o{mode};
    $doc->{lifecycle}{expiresAt} = $o{expires} if exists $o{expires};

    my $id = $t->publish(-document => $doc);

    return ($id, $t->link(@{$o{link} // []}), $doc);
}


sub is_answer {
    my ($r, $status, $reason, $name) = @_;

    is($r->status . ' ' . ($r->header('X-Reason') // ''), "$status $reason",
       $name);

    # no byte of the package in a refusal

    if ($status != 200) {
        unlike($r->raw, qr/Norrvik|Brackwell/, "$name: nothing of the content");
    }
}


sub reads { return grep { $_->{kind} eq 'read' } $t->receipts(@_) }

sub last_receipt { return ($t->receipts(@_))[-1] }

sub bump {
    my ($key, @fields) = @_;

    my $epoch = $t->redis('HGET', $key, 'epoch') // 0;
    $t->redis('HSET', $key, @fields, 'epoch', $epoch + 1);
}

$t->run();


subtest 'named reader' => sub {
    my ($id, $link) = relay();
    my $r = $t->get("/r/$link", -bearer => $t->token());

    is_answer($r, 200, 'accepted', 'first read accepts');
    is($r->header('X-View'), 'recipient', 'view');
    is($r->header('X-Reader'), 'tomas.lindqvist@norrvik.example', 'reader');

    my ($read) = reads($id);
    is($read->{id}, $r->header('X-Receipt'), 'the receipt is the one named');
    is($read->{reason}, 'accepted', 'its reason');
    is($read->{grant}, $r->header('X-Grant'), 'its grant');
    is($read->{bytes}, length $r->body, 'its bytes');

    $r = $t->get("/r/$link", -bearer => $t->token());
    is_answer($r, 200, 'served', 'second read');
    is(scalar(reads($id)), 2, 'one receipt a read');

    $r = $t->get("/r/$link", -bearer => $t->token(
        email => 'Tomas.Lindqvist@NORRVIK.example'));
    is_answer($r, 200, 'served', 'e-mail in another case');
};


subtest 'tokens of links and of readers' => sub {
    my ($id, $link) = relay();
    my $before = $t->redis('DBSIZE');
    my $good = $t->token();

    is_answer($t->get('/r/short', -bearer => $good), 404, 'unknown_link',
              'malformed link token');
    is_answer($t->get('/r/short'), 404, 'unknown_link',
              'malformed link token, no identity');
    is_answer($t->get("/r/" . 'A' x 43, -bearer => $good), 404,
              'unknown_link', 'made-up link');

    my $r = $t->get("/r/$link");
    is_answer($r, 401, 'sign_in', 'no token');
    is(scalar($r->headers('WWW-Authenticate')), 1, 'one challenge');

    my $other = $t->get('/r/' . 'B' x length $link);
    my ($a, $b) = map { my $s = $_->raw; $s =~ s/Date: [^\r]*//; $s }
                      $r, $other;
    is($b, $a, 'a stranger cannot tell a real link from a made-up one');

    my %bad = (
        'expired' => $t->token(exp => int(time()) - 120),
        'wrong audience' => $t->token(aud => 'https://other.example'),
        'wrong issuer' => $t->token(iss => 'https://evil.example'),
        'alg none' => $t->token(-alg => 'none'),
        'HS256 with the RSA public key' =>
            $t->token(-alg => 'HS256', -key => $t->public_pem()),
        'unknown kid' => $t->token(-kid => 'nobody'),
        'foreign key' => $t->token(-key => $t->foreign_key()),
        'no expiry' => $t->token(exp => undef),
        'no subject' => $t->token(sub => undef),
        'not yet' => $t->token(nbf => int(time()) + 600),
        'garbage' => 'aaaa.bbbb.cccc',
    );

    for my $name (sort keys %bad) {
        $r = $t->get("/r/$link", -bearer => $bad{$name});
        is_answer($r, 401, 'bad_token', $name);
        like($r->header('WWW-Authenticate') // '', qr/invalid_token/,
             "$name: the challenge says so");
    }

    is_answer($t->get("/r/$link", -bearer => $t->token(-alg => 'ES256')),
              200, 'accepted', 'ES256');

    is(scalar(grep { $_->{kind} eq 'denial' } $t->receipts($id)), 0,
       'denials before a relay is known are not in Redis');
};


subtest 'an unauthenticated request changes nothing' => sub {
    my ($id, $link) = relay();
    my $dump = sub { join "\n", map { "$_ " . ($t->redis('DUMP', $_) // '') }
                                sort @{$t->redis('KEYS', '*')} };
    my $before = $dump->();

    $t->request($_, "/r/$link") for qw(GET HEAD);
    $t->request('POST', "/r/$link", 'Content-Type' => 'application/json',
                -body => '{"version":1}');

    is($dump->(), $before, 'nothing in Redis has changed');
};


subtest 'who is named' => sub {
    my ($id, $link) = relay();

    my $r = $t->get("/r/$link", -bearer => $t->token_of('ana@calder.example'));
    is_answer($r, 403, 'not_named', 'wrong person');
    my $d = last_receipt($id);
    is("$d->{kind} $d->{reason}", 'denial not_named', 'a receipt of it');
    is($d->{reader}{email}, 'ana@calder.example', 'with her address');

    is_answer($t->get("/conceal/$link",
                      -bearer => $t->token_of('ana@calder.example')),
              404, 'not_named', 'wrong person, concealed');

    my $mail = 'tomas.lindqvist@norrvik.example';

    is_answer($t->get("/r/$link", -bearer => $t->token(
                  sub => 's1', email_verified => JSON::PP::false)),
              403, 'not_named', 'email_verified false');
    is_answer($t->get("/r/$link", -bearer => $t->token(
                  sub => 's2', email_verified => undef)),
              403, 'not_named', 'email_verified missing');
    is_answer($t->get("/r/$link", -bearer => $t->token(
                  sub => 's3', email_verified => 'yes')),
              403, 'not_named', 'email_verified "yes"');
    is_answer($t->get("/untrusted/$link", -bearer => $t->token(sub => 's4')),
              403, 'not_named', 'an issuer that is not trusted for addresses');

    (my $dotless = $mail) =~ s/i/\x{131}/;
    is_answer($t->get("/r/$link", -bearer => $t->token(
                  sub => 's5', email => $dotless)),
              403, 'not_named', 'dotless i');

    is_answer($t->get("/r/$link", -bearer => $t->token(
                  sub => 's6', email_verified => 'true')),
              200, 'accepted', 'email_verified "true"');
};


subtest 'the owner' => sub {
    my ($id, $link) = relay();
    my $owner = $t->token(sub => 'leila', email => 'leila@brackwell.example');

    my $r = $t->get("/r/$link", -bearer => $owner);
    is_answer($r, 200, 'owner', 'the owner');
    is($r->header('X-View'), 'owner', 'in her own view');
    is($r->body, $t->redis('GET', "relay:doc:{$id}:1"), 'byte for byte');

    bump("relay:{$id}", 'exp', int(time() * 1000) - 1000);

    is_answer($t->get("/r/$link", -bearer => $owner), 200, 'owner',
              'after expiry');
    is_answer($t->get("/r/$link", -bearer => $t->token()), 404,
              'unknown_link', 'somebody without a grant, after expiry');
    is_answer($t->get("/r/$link", -bearer => $t->token(
                  sub => 'leila', iss => 'https://evil.example')),
              401, 'bad_token', 'her subject at another issuer');
};


subtest 'an app without an address' => sub {
    my ($id, $link) = relay();
    my $app = $t->token(sub => 'app-7', email => undef,
                        email_verified => undef, name => 'Board portal');

    is_answer($t->get("/r/$link", -bearer => $app), 403, 'not_named',
              'not granted');

    $t->grant('--iss', $t->issuer(), '--sub', 'app-7');

    is_answer($t->get("/r/$link", -bearer => $app), 200, 'accepted',
              'granted by subject');
    is_answer($t->get("/r/$link", -bearer => $app), 200, 'served', 'again');
};


subtest 'anyone' => sub {
    my ($id, $link) = relay(access => 'anyone');
    my ($ana, $ben) = map { $t->token_of($_) }
                          qw(ana@calder.example ben@calder.example);

    my $r = $t->get("/r/$link", -bearer => $ana);
    is_answer($r, 200, 'accepted', 'first reader');
    is($r->header('X-View'), 'link', 'the link view');
    unlike($r->body, qr/38,500/, 'without what is for the recipient alone');
    my $grant = $r->header('X-Grant');

    $r = $t->get("/r/$link", -bearer => $ben);
    is_answer($r, 200, 'accepted', 'second reader');
    isnt($r->header('X-Grant'), $grant, 'a grant of her own each');

    is(join(' ', sort map { $_->{reader}{name} } reads($id)),
       'ana ben', 'receipts carry the names');

    $r = $t->get("/wide/$link", -bearer => $ana);
    is($r->header('X-View'), 'recipient', 'relay_anyone_view recipient');

    bump("relay:{$id}", 'access', 'named', 'email',
         'tomas.lindqvist@norrvik.example');
    is_answer($t->get("/r/$link", -bearer => $ana), 403, 'not_named',
              'narrowed to named');

    bump("relay:{$id}", 'access', 'anyone');
    is_answer($t->get("/r/$link", -bearer => $ana), 200, 'served',
              'and back');
};


subtest 'expiry' => sub {
    for my $which (qw(link relay grant)) {
        my ($id, $link) = relay();
        my $tomas = $t->token();

        is($t->get("/r/$link", -bearer => $tomas)->status, 200,
           "before the $which expires");

        my ($grant) = grep { /:g:/ } @{$t->redis('KEYS', "relay:{$id}:*")};
        my ($record) = grep { /:l:/ } @{$t->redis('KEYS', "relay:{$id}:*")};

        bump($which eq 'link' ? $record : $which eq 'grant' ? $grant
             : "relay:{$id}", 'exp', int(time() * 1000) + 400);

        is($t->get("/r/$link", -bearer => $tomas)->status, 200,
           "just before the $which expires");

        sleep 0.5;

        is_answer($t->get("/r/$link", -bearer => $tomas), 410, 'expired',
                  "expired $which");
    }
};


subtest 'revocation' => sub {
    for my $which (qw(link relay grant)) {
        my ($id, $link) = relay();
        my $tomas = $t->token();

        is($t->get("/r/$link", -bearer => $tomas)->status, 200,
           "before the $which is revoked");

        $t->revoke($which eq 'link' ? ('--link', $link)
                   : $which eq 'grant'
                   ? ('--grant', 'tomas.lindqvist@norrvik.example') : ());

        is_answer($t->get("/r/$link", -bearer => $tomas), 410, 'revoked',
                  "revoked $which");

        my @r = $t->receipts($id);
        my ($at) = grep { ($r[$_]{method} // '') eq 'revoke' } 0 .. $#r;
        ok(defined $at, 'the revocation is a receipt');
        is(scalar(grep { $_->{kind} eq 'read' } @r[$at .. $#r]), 0,
           'no read stands after it');

        is_answer($t->get("/r/$link",
                          -bearer => $t->token_of('zoe@calder.example')),
                  $which eq 'grant' ? (403, 'not_named')
                                    : (404, 'unknown_link'),
                  'somebody who never had a grant');
    }

    my ($id, $link) = relay();
    $t->revoke('--grant', 'tomas.lindqvist@norrvik.example');
    is_answer($t->get("/r/$link", -bearer => $t->token()), 410, 'revoked',
              'a tombstone: revoked before it was made');

    # a revoked link, read through the grant that it made

    ($id, $link) = relay(access => 'anyone');
    my $ana = $t->token_of('ana@calder.example');
    is($t->get("/r/$link", -bearer => $ana)->status, 200, 'through the link');
    $t->revoke('--link', $link);
    my $second = $t->link();
    is_answer($t->get("/r/$link", -bearer => $ana), 410, 'revoked',
              'the link is revoked for the grant that it made');
};


subtest 'versions' => sub {
    for my $mode (qw(snapshot live)) {
        my ($id, $link, $doc) = relay(mode => $mode);
        my $tomas = $t->token();

        is($t->get("/r/$link", -bearer => $tomas)->json->{version}, 1,
           "$mode: first version");

        $doc->{version} = 2;
        $doc->{title} = 'Second';
        $t->publish(-document => $doc);

        my $r = $t->get("/r/$link", -bearer => $tomas);
        is($r->json->{version}, $mode eq 'live' ? 2 : 1,
           "$mode: after a second version");
        is($r->header('X-Version'), $mode eq 'live' ? 2 : 1, '$relay_version');
    }
};


subtest 'acceptance' => sub {
    my ($id, $link, $doc) = relay();
    my $tomas = $t->token();

    my $r = $t->get("/explicit/$link", -bearer => $tomas);
    is_answer($r, 200, 'preview', 'explicit: the preview first');
    is_deeply([sort keys %{$r->json}], [qw(owner summary title)],
              'nothing but title, summary, owner');

    is_answer($t->post("/explicit/$link", '{"version": 2}',
                       -bearer => $tomas), 409, 'conflict', 'another version');
    is_answer($t->post("/explicit/$link", '{"version": 1.5}',
                       -bearer => $tomas), 400, 'bad_request', 'no version');
    is_answer($t->post("/explicit/$link", '{"version": 1, "x": 1}',
                       -bearer => $tomas), 400, 'bad_request', 'more members');
    is_answer($t->post("/explicit/$link", '[1]', -bearer => $tomas),
              400, 'bad_request', 'no object');
    is_answer($t->request('POST', "/explicit/$link",
                          'Content-Type' => 'text/plain',
                          -body => '{"version":1}', -bearer => $tomas),
              415, 'media_type', 'text/plain');
    is(scalar(grep { /:g:/ } @{$t->redis('KEYS', "relay:{$id}:*")}), 0,
       'no grant so far');

    is_answer($t->get("/explicit/$link", -bearer => $tomas), 200, 'preview',
              'still the preview');

    is_answer($t->post("/explicit/$link", '{"version": 1}',
                       -bearer => $tomas), 200, 'accepted', 'accepted');
    is_answer($t->get("/explicit/$link", -bearer => $tomas), 200, 'served',
              'served');

    is(join(' ', map { $_->{kind} } grep { $_->{kind} ne 'denial'
                                           && $_->{kind} ne 'act' }
                     $t->receipts($id)),
       'preview preview accept read read', 'receipts in order');
};


subtest 'bodies of a POST' => sub {
    my ($id, $link) = relay();
    my $tomas = $t->token();
    my $made_up = 'A' x 43;
    my $empty = "POST /r/$made_up HTTP/1.1\r\nHost: localhost\r\n"
        . "Authorization: Bearer $tomas\r\nConnection: close\r\n"
        . "Content-Type: application/json\r\n";

    for my $case (['no bytes', "Content-Length: 0\r\n\r\n"],
                  ['no chunk', "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
                  ['a bad chunk', "Transfer-Encoding: chunked\r\n\r\nzz\r\n"])
    {
        my ($name, $rest) = @$case;

        like($t->raw("$empty$rest"), qr{^HTTP/1\.1 400 }, $name);
    }

    my $body = '{"version":1}';

    (my $chunked = $empty) =~ s/$made_up/$link/;
    like($t->raw($chunked . "Transfer-Encoding: chunked\r\n\r\n"
                 . "3\r\n{\"v\r\na\r\nersion\":1}\r\n0\r\n\r\n"),
         qr{^HTTP/1\.1 200 }, 'a chunked body');
};


subtest 'a relay that was wiped and published anew' => sub {
    my ($id, $link, $doc) = relay();

    is($t->get("/r/$link", -bearer => $t->token())->json->{title},
       $doc->{title}, 'the first');

    $t->redis('FLUSHALL');
    $doc->{title} = 'Another';
    $t->publish(-document => $doc);
    $link = $t->link();

    is($t->get("/r/$link", -bearer => $t->token())->json->{title}, 'Another',
       'no view of the first is left');
};


subtest 'an id that could not stand in a log' => sub {
    my ($id, $link) = relay();
    my ($key) = grep { $t->redis('GET', $_) eq $id }
                     @{$t->redis('KEYS', 'relay:link:*')};

    $t->redis('SET', $key, "x\n2026/12/01 00:00:00 [alert] forged");
    is_answer($t->get("/r/$link", -bearer => $t->token()), 503, 'bad_record',
              'a line feed in an id');
};


subtest 'rebound' => sub {
    my ($id, $link) = relay();

    is($t->get("/r/$link", -bearer => $t->token())->status, 200, 'first');

    my $second = $t->token(sub => 'tomas-2');

    is_answer($t->get("/bind/$link", -bearer => $second), 403, 'rebound',
              'relay_bind_subject on');
    is_answer($t->get("/r/$link", -bearer => $second), 200, 'preview',
              'off: must accept explicitly');

    my $preview = last_receipt($id);
    ok($preview->{rebound}, 'the receipt says so');

    is_answer($t->post("/r/$link", '{"version":1}', -bearer => $second), 200,
              'accepted', 'accepted');
    is_answer($t->get("/r/$link", -bearer => $second), 200, 'served',
              'and served');
};


subtest 'blocks' => sub {
    my @blocks = (
        [subject => $t->issuer(), 'tomas'],
        [email => 'Tomas.Lindqvist@norrvik.example'],
        [domain => 'norrvik.example'],
        [issuer => $t->issuer()],
    );

    for my $block (@blocks) {
        my ($kind, @value) = @$block;
        my ($id, $link) = relay();
        my $tomas = $t->token();

        is($t->get("/r/$link", -bearer => $tomas)->status, 200,
           "before the $kind is blocked");

        $t->relayctl('block', $kind, @value, '--reason', 'test');
        is_answer($t->get("/r/$link", -bearer => $tomas), 403, 'blocked',
                  "blocked $kind");

        if ($kind eq 'email') {
            is_answer($t->get("/r/$link", -bearer => $t->token(
                          sub => 'x', email_verified => undef)),
                      403, 'blocked', 'an address that is not verified');
        }

        $t->relayctl('block', $kind, @value, '--lift');
        is_answer($t->get("/r/$link", -bearer => $tomas), 200, 'served',
                  "lifted $kind");
    }

    my ($id, $link) = relay();
    my $tomas = $t->token();

    $t->relayctl('block', 'email', 'tomas.lindqvist@norrvik.example');
    is_answer($t->get("/conceal/$link", -bearer => $tomas), 403, 'blocked',
              'concealed: a link that there is');
    is_answer($t->get('/conceal/' . 'A' x 43, -bearer => $tomas), 403,
              'blocked', 'concealed: one that there is not');
    $t->relayctl('block', 'email', 'tomas.lindqvist@norrvik.example', '--lift');

    ($id, $link) = relay(access => 'anyone');
    my $app = $t->token(sub => 'app-9', email => undef);

    is($t->get("/r/$link", -bearer => $app)->status, 200,
       'no address, no domain blocked');
    $t->relayctl('block', 'domain', 'evil.example');
    is_answer($t->get("/r/$link", -bearer => $app), 403, 'blocked',
              'no address, domains blocked, an anyone relay');
    $t->relayctl('block', 'domain', 'evil.example', '--lift');
};


subtest 'blocks are remembered for their bound' => sub {
    my ($id, $link) = relay();
    my $tomas = $t->token();

    is_answer($t->get("/bound/$link", -bearer => $tomas), 200, 'accepted',
              'read');
    is_answer($t->get("/bound/$link", -bearer => $tomas), 200, 'served',
              'read again');

    my $calls = sub {
        my ($n) = $t->redis('INFO', 'commandstats')
                  =~ /cmdstat_hgetall:calls=(\d+)/;
        return $n;
    };

    my $asked = $calls->();
    is_answer($t->get("/bound/$link", -bearer => $tomas), 200, 'served',
              'and again');
    cmp_ok($calls->() - $asked, '<=', 6,
           'no record is asked for, blocks at most');

    $t->relayctl('block', 'email', 'tomas.lindqvist@norrvik.example');
    select undef, undef, undef, 0.5;
    is_answer($t->get("/bound/$link", -bearer => $tomas), 403, 'blocked',
              'blocked when the bound has passed');

    $t->relayctl('block', 'email', 'tomas.lindqvist@norrvik.example', '--lift');
    is_answer($t->get("/bound/$link", -bearer => $tomas), 200, 'served',
              'lifted: at once, since a denial is never from memory');
};


subtest 'records that this process remembers' => sub {
    my ($id, $link) = relay();
    my $tomas = $t->token();
    my $get = sub { $t->get("/bound/$link", -bearer => $tomas) };

    is_answer($get->(), 200, 'accepted', 'read');

    # a change that the edge did not make, whatever it is, holds at once

    my ($grant) = @{$t->redis('KEYS', "relay:{$id}:g:*")};

    for my $case (["relay:{$id}", 'state', 'revoked', 410, 'revoked'],
                  ["relay:{$id}", 'exp', 1, 410, 'expired'],
                  ["relay:{$id}", 'email', 'x@y.example', 403, 'not_named'],
                  [$grant, 'state', 'revoked', 410, 'revoked'],
                  [$grant, 'exp', 1, 410, 'expired'])
    {
        my ($key, $field, $value, $status, $reason) = @$case;

        is_answer($get->(), 200, 'served', 'served from memory');

        my $was = $t->redis('HGET', $key, $field);

        $t->redis('HSET', $key, $field, $value);
        is_answer($get->(), $status, $reason, "$field of $key");

        $t->redis('HSET', $key, $field, $was);
        is_answer($get->(), 200, 'served', 'restored');
    }

    # as after a wipe: another document as the same version of the same epoch

    my $doc = $t->read_json('schema/examples/pilot.relay.json');
    @$doc{qw(id version title)} = ($id, 1, 'Another title');

    $t->redis('HSET', "relay:{$id}", 'digest', 'another');
    $t->redis('SET', "relay:doc:{$id}:1", JSON::PP->new->encode($doc));
    is($get->()->json->{title}, 'Another title', 'another document');

    $t->redis('DEL', "relay:{$id}");
    is_answer($get->(), 404, 'unknown_link', 'the head is gone');
};


subtest 'views of a location' => sub {
    my ($id, $link) = relay();
    my $r = $t->get("/pass-on/$link", -bearer => $t->token());

    is($r->header('X-View'), 'pass-on', 'narrowed by relay_view');
    unlike($r->body, qr/38,500|misset/, 'shareable items only');

    ($id, $link) = relay(link => ['--view', 'pass-on']);
    is($t->get("/r/$link", -bearer => $t->token())->header('X-View'),
       'pass-on', 'narrowed by the link');
};


subtest 'bad records' => sub {
    for my $field (qw(state access permission mode version epoch)) {
        my ($id, $link) = relay();
        my $tomas = $t->token();

        $t->redis('HSET', "relay:{$id}", $field, 'x');
        is_answer($t->get("/r/$link", -bearer => $tomas), 503, 'bad_record',
                  "head: $field");
    }

    like($t->error_log(),
         qr/bad record in Redis: key "relay:\{rly_\d+\}", field "mode"/,
         'the log names key and field');

    my ($id, $link) = relay();
    $t->redis('DEL', "relay:{$id}");
    $t->redis('SET', "relay:{$id}", 'x');
    is($t->get("/r/$link", -bearer => $t->token())->status, 503,
       'a head that is no hash');
};


subtest 'documents that got into Redis some other way' => sub {
    my %bad = (
        'not JSON' => '{"schema":"relay.context-package.v1",',
        'duplicate key' => '{"id":"ID","id":"ID","version":1}',
        'another id' => '{"schema":"relay.context-package.v1","id":"x",'
            . '"version":1}',
        'too deep' => '[' x 3000 . ']' x 3000,
        'empty' => '',
    );

    for my $name (sort keys %bad) {
        my ($id, $link) = relay();
        (my $doc = $bad{$name}) =~ s/ID/$id/g;

        $t->redis('SET', "relay:doc:{$id}:1", $doc);
        is_answer($t->get("/r/$link", -bearer => $t->token()), 502,
                  'withheld', $name);
        is(last_receipt($id)->{reason}, 'withheld', "$name: a receipt");

        my %at = ('not JSON' => 37, 'duplicate key' => 9 + length $id,
                  'too deep' => 64, empty => undef, 'another id' => undef);
        is(last_receipt($id)->{offset}, $at{$name}, "$name: where");
    }

    my ($id, $link) = relay();
    my $doc = $t->read_json('schema/examples/pilot.relay.json');
    @$doc{qw(id version)} = ($id, 1);
    $doc->{context}{sections}[1]{visibility} = 1;

    $t->redis('SET', "relay:doc:{$id}:1", JSON::PP->new->encode($doc));
    is_answer($t->get("/r/$link", -bearer => $t->token()), 502, 'withheld',
              'a mark of the wrong type');
    is(last_receipt($id)->{pointer}, '/context/sections/1/visibility',
       'its receipt has the place');
    ok(last_receipt($id)->{offset} > 0, 'and the offset');
};


subtest 'denials are aggregated' => sub {
    my ($id, $link) = relay();
    my $ana = $t->token_of('ana@calder.example');

    is($t->get("/r/$link", -bearer => $ana)->status, 403, "denial $_")
        for 1 .. 5;

    is(scalar(grep { $_->{kind} eq 'denial' } $t->receipts($id)), 1,
       'one receipt in its minute');

    $t->reload();

    my @d = grep { $_->{kind} eq 'denial' } $t->receipts($id);
    is(scalar(@d), 2, 'the others as one, at the latest when a worker ends');
    is($d[-1]{count}, 4, 'with their number');
};


$t->stop();
done_testing();

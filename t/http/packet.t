#!/usr/bin/perl

# Responder packets: the prompt as text, or the packet as JSON with all else
# withheld; the rules before that; and callers that must be isolated.

use strict;
use warnings;

use lib 't/lib';

use JSON::PP ();
use Test::More;

use Relay::Test;


my $locations = join '', map { <<"EOC" } (
        location ~ ^/$_->[0]/(?<relay_token>[^/]+)\$ {
            relay_link \$relay_token;
            relay_package on;
            $_->[1]
        }

EOC
    ['r', ''],
    ['explicit', 'relay_accept explicit;'],
    ['lax', 'relay_packet_rules P17=warn P18=warn drafts;'],
    ['strict', 'relay_packet_rules P27=refuse P9=refuse marker=Harbour.Plan;'],
    ['pass', 'relay_view pass-on;'],
    ['isolated', 'relay_jwt_keys %%KEYS%% issuer=' . Relay::Test->issuer()
                 . ' audience=' . Relay::Test->audience()
                 . ' email=trusted isolation=how;'],
);

my $t = Relay::Test->new(http => <<"EOC");
    %%RELAY%%
    relay_zone views:1m;

    server {
        listen 127.0.0.1:%%PORT%%;
        listen 127.0.0.1:%%PORT1%% http2;

$locations
    }
EOC

my $json = JSON::PP->new->canonical->utf8;
my $example = 'schema/examples/packet.json';
my $id = $t->read_json($example)->{packet_id};
my $prompt = $t->read_json($example)->{packet_prompt_text};
my $email = 'tomas.lindqvist@norrvik.example';


# Publishes a packet as the next version of its relay.

my $version = 0;

sub publish {
    my ($text, %head) = @_;

    my %fields = (
        schema => 'ghostlight.responder_packet.v0', mode => 'live',
        access => 'named', email => $email, permission => 'read',
        owner_iss => $t->issuer(), owner_sub => 'leila', %head
    );

    $version++;

    my $answer = $t->redis('EVAL', $t->read_file('schema/redis/publish.lua'),
        3, "relay:{$id}", "relay:doc:{$id}:$version", "relay:receipts:{$id}",
        $version, $text, '{"kind":"act"}', scalar(keys %fields), %fields);

    is($answer->[0], 'ok', "version $version is published");

    return $text;
}


# The example with one thing changed.

sub changed {
    my ($change) = @_;

    my $packet = $t->read_json($example);
    $change->($packet);

    return $json->encode($packet);
}


my $packet = publish($t->read_file($example));
my $link = $t->link(-relay => $id);

$t->run();

my $reader = $t->token();
my $r;


# the two forms

$r = $t->get("/r/$link", -bearer => $reader);

is($r->status, 200, 'the reader');
is($r->header('Content-Type'), 'text/plain; charset=utf-8', 'gets text');
is($r->body, $prompt, 'the prompt, byte for byte');
like($r->header('Cache-Control'), qr/\bno-store\b/, 'not to be stored');
is($r->header('X-Content-Type-Options'), 'nosniff', 'nor to be guessed at');

my $form = $t->relayctl('view', '--view', 'responder', $example);

for ([undef, 'text'], ['', 'text'], ['*/*', 'text'], ['text/plain', 'text'],
     ['application/json', 'json'], ['Application/JSON', 'json'],
     ['application/*', 'json'], ['text/html', 'text'],
     ['application/json, */*', 'text'], ['application/json, */*;q=0.1', 'json'],
     ['text/plain;q=0.4, application/json;q=0.5', 'json'],
     ['text/plain;q=0.5, application/json;q=0.5', 'text'],
     ['application/json;q=0', 'text'], ['application/json;q=0.001', 'json'],
     ['text/*;q=0.9, application/json; charset=utf-8 ; q=1', 'json'],
     ['application/json;q=0.2, text/*;q=0.9', 'text'],
     ['application/jsonx', 'text'], ['application/json;q=', 'text'],
     ["application/json;q=0.\x{e9}", 'text'], [';;,,q=,;q', 'text'],
     ['a/*', 'text'], [',' x 2000, 'text'])
{
    my ($accept, $type) = @$_;
    my $name = defined $accept ? '"' . substr($accept, 0, 60) . '"' : 'none';

    $r = $t->get("/r/$link", -bearer => $reader, Accept => $accept);

    is($r->status, 200, "Accept: $name");
    is($r->body, $type eq 'json' ? $form : $prompt, "gets $type");
    like($r->header('Content-Type'),
         $type eq 'json' ? qr{^application/json$} : qr{^text/plain;}, 'typed');
}

my @receipts = grep { $_->{kind} eq 'read' } $t->receipts($id);

is($receipts[0]{view}, 'responder', 'the receipt names the view');
is($receipts[0]{bytes}, length $prompt, 'and its bytes');
ok($receipts[0]{withheld} > 0, 'and that something was withheld');

$r = $t->request('HEAD', "/r/$link", -bearer => $reader);
is($r->status, 200, 'HEAD');
is($r->header('Content-Length'), length $prompt, 'has its length');

$r = $t->h2('GET', "/r/$link", -bearer => $reader, -port => $t->port(1));
is($r->status, 200, 'HTTP/2');
is($r->body, $prompt, 'the same');

# who else

$r = $t->get("/r/$link", -bearer => $t->token(sub => 'leila',
                                              email => undef));
is($r->status, 200, 'the owner');
is($r->header('Content-Type'), 'application/json', 'gets JSON');
is($r->body, $packet, 'the packet, byte for byte');

$r = $t->get("/r/$link", -bearer => $t->token_of('bram@elsewhere.example'));
is($r->status, 403, 'another person');

$r = $t->get("/r/$link");
is($r->status, 401, 'nobody');
unlike($r->body, qr/Ines/, 'gets nothing');


sub withheld {
    my ($path, $log, $name, %args) = @_;

    my $from = length $t->error_log();

    $r = $t->get($path, -bearer => $reader, %args);

    is($r->status, 502, "$name: status");
    like($r->body, qr/"reason":"withheld"/, 'the reason');
    unlike($r->body, qr/Ines|cargo|P\d/, 'and nothing else');
    like(substr($t->error_log(), $from), $log, 'the log says why');
}


# views that no packet has, and one that no package has

withheld("/pass/$link", qr/the policy has no such view/, 'passed on');

{
    my $passed = $t->link(-relay => $id, '--view', 'pass-on');
    withheld("/r/$passed", qr/the policy has no such view/, 'a pass-on link');

    my $said = $t->link(-relay => $id, '--view', 'responder');
    $r = $t->get("/r/$said", -bearer => $reader);
    is($r->body, $prompt, "a link to the responder's view");

    my $relay = $t->publish();
    my $other = $t->link(-relay => $relay, '--view', 'responder');
    withheld("/r/$other", qr/the policy has no such view/, 'a package');

    $other = $t->link(-relay => $relay);
    $r = $t->get("/r/$other", -bearer => $reader,
                 Accept => 'text/plain');
    is($r->status, 200, 'a package beside it');
    is($r->header('Content-Type'), 'application/json', 'is JSON');
    is($r->json->{id}, $relay, 'as ever');
}


# the rules

publish(changed(sub {
    $_[0]->{packet_prompt_text} .= ' The Second Boat: Cargo Manifest, 0.5'
}));

withheld("/r/$link", qr/P22: .*P17: the prompt names what is omitted, byte /s,
         'a prompt that names what is omitted');
withheld("/r/$link", qr/P17: /, 'as JSON', Accept => 'application/json');

ok($t->wait_for(sub {
    grep { ($_->{rule} // '') eq 'P17' && $_->{pointer} && $_->{offset} > 0 }
        $t->receipts($id)
}), 'the receipt names the rule and the place');

$r = $t->get("/lax/$link", -bearer => $reader);
is($r->status, 200, 'where the rule only warns');
like($r->body, qr/Cargo Manifest/, 'it is served');
like($t->error_log(), qr/\[warn\].*P17: the prompt names what is omitted/,
     'with a warning');

withheld("/r/$link", qr/P17: /, 'and nowhere else, cached or not');

$r = $t->get("/r/$link", -bearer => $t->token(sub => 'leila',
                                              email => undef));
is($r->status, 200, 'the owner sees it, to mend it');

publish(changed(sub { $_[0]->{review}{extra} = 1 }));
withheld("/lax/$link", qr{P1: "/review": "additionalProperties" of its schema},
         'a member that its schema does not know');

publish(changed(sub { $_[0]->{review_status} = 'draft' }));
withheld("/r/$link", qr/P16: the packet is a draft/, 'a draft');
$r = $t->get("/lax/$link", -bearer => $reader);
is($r->body, $prompt, 'where drafts are served');

publish(changed(sub { $_[0]->{review}{accepted_for_sandbox_use}
                          = JSON::PP::false }));
withheld("/lax/$link", qr/P14: /, 'a packet that is not accepted');

publish(changed(sub { $_[0]->{packet_prompt_text} .= ' harbour.plan' }));
withheld("/strict/$link", qr/P9: the prompt holds a forbidden marker/,
         'a marker');
$r = $t->get("/r/$link", -bearer => $reader);
is($r->status, 200, 'that nobody else knows');

publish(changed(sub { $_[0]->{packet_id} = 'another' }));
withheld("/r/$link", qr/its id is not the relay's/, "another's packet");

publish('{"schema_version":"ghostlight.responder_packet.v0","packet_id":"'
        . $id . '"}');
withheld("/r/$link", qr/P1: it is missing, byte 0/,
         'a packet without a prompt');


# not accepted yet: a packet has no preview

publish($packet);

{
    my $new = $t->token(sub => 'tomas-2', email => $email);

    $t->redis('DEL', grep { /:g:/ } @{$t->redis('KEYS', "relay:{$id}:g:*")});

    my $from = length $t->error_log();
    $r = $t->get("/explicit/$link", -bearer => $new);
    is($r->status, 502, 'before acceptance there is nothing to see');
    unlike($r->body, qr/Ines/, 'of the prompt');

    $r = $t->post("/explicit/$link", {version => $version}, -bearer => $new);
    is($r->status, 200, 'accepted');
    is($r->body, $prompt, 'and read');
}


# isolation

{
    my $as = sub {
        my ($how) = @_;
        return $t->token(sub => 'tomas-2', defined $how ? (how => $how) : ());
    };

    for my $form ('text/plain', 'application/json') {

        for my $how ('manual_packet_only', 'manual_packet_only') {
            $r = $t->get("/isolated/$link", -bearer => $as->($how),
                         Accept => $form);
            is($r->status, 200, "isolated as the packet wants, $form");
        }

        for my $how (undef, 'subagent_no_fork', 'Manual_packet_only', '',
                     ['manual_packet_only'], 'none')
        {
            withheld("/isolated/$link", qr/P26: /,
                     'isolated otherwise', Accept => $form,
                     -bearer => $as->($how));
        }
    }

    $r = $t->get("/r/$link", -bearer => $as->(undef));
    is($r->status, 200, 'where no claim says so');

    publish($packet, isolation => 'manual_packet_only');
    withheld("/r/$link", qr/P26: /, 'unless the relay asks for it',
             -bearer => $as->('manual_packet_only'));
    $r = $t->get("/isolated/$link", -bearer => $as->('manual_packet_only'));
    is($r->status, 200, 'and somebody can tell');

    publish($packet, isolation => 'subagent_no_fork');

    for my $how ('manual_packet_only', 'subagent_no_fork') {
        withheld("/isolated/$link", qr/P26: /, "a relay that asks for another",
                 -bearer => $as->($how));
    }
}


# after a reload

publish($packet, isolation => '');
$t->reload();
$r = $t->get("/r/$link", -bearer => $t->token(sub => 'tomas-2'));
is($r->body, $prompt, 'after a reload');


# what nginx does not start with

for (['relay_packet_rules P1=off;', qr/invalid parameter "P1=off"/],
     ['relay_packet_rules P20=warn;', qr/invalid parameter "P20=warn"/],
     ['relay_packet_rules P17=no;', qr/invalid parameter "P17=no"/],
     ['relay_packet_rules default P17=off;', qr/invalid parameter "default"/],
     ['relay_packet_rules marker=;', qr/invalid parameter "marker="/],
     ['relay_packet_rules drafts; relay_packet_rules drafts;',
      qr/"relay_packet_rules" directive is duplicate/],
     ['relay_packet_rules;', qr/invalid number of arguments/],
     ['relay_jwt_keys %%KEYS%% issuer=a audience=b isolation=;',
      qr/isolation=/])
{
    my ($line, $error) = @$_;

    my ($good, $said) = $t->conf_test("%%GLOBALS%%\nevents {\n}\n\nhttp {\n"
                                      . "    %%GLOBALS_HTTP%%\n    $line\n}\n");
    ok(!$good, $line);
    like($said, $error, 'is said to be wrong');
}

{
    my ($good, $said) = $t->conf_test("%%GLOBALS%%\nevents {\n}\n\nhttp {\n"
        . "    %%GLOBALS_HTTP%%\n    relay_packet_rules P17=off;\n    server {"
        . " relay_packet_rules default; }\n}\n");
    ok($good, 'back to the defaults') or diag($said);
}

$t->stop();

done_testing();

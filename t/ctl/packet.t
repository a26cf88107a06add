#!/usr/bin/perl

# relayctl on responder packets: check, check --response, view.  No store.
#
#   prove t/ctl/packet.t           (from the root; RELAYCTL=path to another one)

use strict;
use warnings;

use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;

my $relayctl = $ENV{RELAYCTL} || 'build/relayctl';

BAIL_OUT("$relayctl is not there: run make first") if !-x $relayctl;
BAIL_OUT('schema/ is not here: run this from the root') if !-d 'schema';

my $example = 'schema/examples/packet.json';
my $dir = tempdir('relayctl-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $files = 0;


sub slurp {
    my ($file) = @_;

    open my $fh, '<:raw', $file or die "$file: $!\n";
    local $/;
    return scalar <$fh>;
}


sub spurt {
    my ($text) = @_;

    my $file = "$dir/" . ++$files . '.json';
    open my $fh, '>:raw', $file or die "$file: $!\n";
    print $fh $text;
    close $fh or die "$file: $!\n";

    return $file;
}


# The example with one thing changed.

sub changed {
    my ($change) = @_;

    my $packet = decode_json(slurp($example));
    $change->($packet);

    return spurt(JSON::PP->new->canonical->utf8->encode($packet));
}


# (exit code, standard output, standard error)

sub ctl {
    my @args = @_;

    my $out = "$dir/out";
    my $err = "$dir/err";
    my $pid = fork;

    die "fork: $!\n" if !defined $pid;

    if (!$pid) {
        open STDIN, '<', '/dev/null' or die;
        open STDOUT, '>', $out or die;
        open STDERR, '>', $err or die;
        exec $relayctl, @args or die;
    }

    waitpid $pid, 0;

    return ($? & 127 ? "signal $?" : $? >> 8, slurp($out), slurp($err));
}


sub check {
    my ($expected, $args, $name) = @_;

    my ($rc, $out, $err) = ctl('check', @$args);
    is($rc, $expected, $name) or diag($out, $err);

    return ($out, $err);
}


my $prompt = decode_json(slurp($example))->{packet_prompt_text};


# the rules

{
    my ($out, $err) = check(0, [$example], 'a packet that meets all rules');
    like($out, qr{^\Q$example\E: may be served, 0 refused, 0 warned\n}, 'so');
    like($out, qr{^\Q$example\E: 0 to block, 0 flagged, }m,
         'nor text for agents');
    is($err, '', 'without a word on standard error');

    my $leak = changed(sub {
        $_[0]->{packet_prompt_text} .= 'The Second Boat: Cargo Manifest. 0.5'
    });

    ($out) = check(1, [$leak], 'a prompt that names what is omitted');
    my @lines = split /\n/, $out;
    is(@lines, 4, 'two rules have something to say');
    my $place = '/hidden_context_audit/omitted_context_refs/1';
    like($out, qr{^\Q$leak\E:1:\d+: P17 refuse: $place: the prompt names }m,
         'the rule, the place, a sentence');
    like($out, qr{: P22 warn: /packet_prompt_text: }, 'a warning');
    is($lines[2], "$leak: may not be served, 1 refused, 1 warned", 'the sum');

    ($out) = check(1, [$leak, '--json'], 'the same as JSON');
    my @notes = map { decode_json($_) } split /\n/, $out;
    is(@notes, 4, 'one object a line');
    my ($note) = grep { ($_->{rule} // '') eq 'P17' } @notes;
    is($note->{action}, 'refuse', 'its action');
    is($note->{pointer}, $place, 'its pointer');
    is(substr(slurp($leak), $note->{offset}, 28),
       '"second_boat.cargo_manifest"', 'its offset');
    is($note->{column}, $note->{offset} + 1, 'its column');
    is($notes[2]->{verdict}, 'may not be served', 'the verdict');
    is($notes[2]->{refused}, 1, 'how many refuse');

    check(0, [$leak, '--rules', 'P17=warn'], 'a rule made a warning');
    ($out) = check(0, [$leak, '--rules', 'P17=off,P22=off'], 'rules left out');
    unlike($out, qr/P17|P22/, 'say nothing');
    check(1, [$leak, '--rules', 'P17=off,P22=refuse'],
          'a warning that refuses');
}

for my $rules (qw(P1=off P3=warn P14=off P16=warn P20=off P99=off P17 P17=no
                  =off), 'P17=off,,P18=off', 'P17=off P18=off')
{
    my (undef, $err) = check(2, [$example, '--rules', $rules],
                             "--rules $rules");
    like($err, qr/--rules: /, 'is said to be wrong');
}

{
    my $draft = changed(sub { $_[0]->{review_status} = 'draft' });
    my ($out) = check(1, [$draft], 'a draft');
    like($out, qr{: P16 refuse: /review_status: }, 'is refused');
    check(0, [$draft, '--allow-draft'], 'unless drafts are allowed');

    my $rejected = changed(sub { $_[0]->{review_status} = 'rejected' });
    check(1, [$rejected, '--allow-draft'], 'a rejected one never is');

    my $marked = changed(sub {
        $_[0]->{packet_prompt_text} .= ' Harbour.Plan'
    });
    check(0, [$marked], 'a marker that nobody asked for');
    ($out) = check(1, [$marked, '--markers', 'x_y,harbour.plan',
                       '--rules', 'P9=refuse'], 'a marker');
    like($out, qr{: P9 refuse: }, 'refuses');
    check(2, [$marked, '--markers', join ',', ('x') x 65], 'too many');

    check(0, [$example, '--isolation', 'manual_packet_only'],
          'a caller isolated as the packet wants');
    for my $method ('subagent_no_fork', '', 'manual_packet_only ') {
        ($out) = check(1, [$example, '--isolation', $method],
                       "a caller isolated as '$method'");
        like($out, qr{: P26 refuse: /isolation_requirements: }, 'P26');
    }
}

{
    my ($out, $err) = check(1, [spurt('{"schema_version":1}')], 'no packet');
    like($err, qr/neither a \S+ nor a \S+$/, 'says so');

    ($out) = check(1, [spurt('{"schema_version":'
                             . '"ghostlight.responder_packet.v0"}')],
                   'a packet without members');
    like($out, qr/:1:1: P1 refuse: it is missing/, 'P1');

    ($out, $err) = check(1, [changed(sub { $_[0]{extra} = 1 })],
                         'a member that its schema does not know');
    like($out, qr/: P1 refuse: the packet does not meet its schema/, 'P1');
    like($err, qr/: the member "extra" is not allowed$/, 'and which');

    (undef, $err) = check(1, [spurt("\xef\xbb\xbf" . slurp($example))],
                          'a BOM');
    like($err, qr/:1:1: /, 'is refused before any rule');

    my $twice = slurp($example);
    $twice =~ s/"review": /"review": {}, "review": /;
    check(1, [spurt($twice)], 'a member given twice');

    check(4, ["$dir/none"], 'a file that is not there');
    check(2, [], 'no file');
}


# the answer

{
    my %answer = (
        responder_agent_id => 'ines_varga', action_label => 'wait',
        visible_action => 'She waits.', spoken_text => '',
        private_interpretation => 'He wants the gate.',
        intended_effect => 'He tells more.', state_update_candidates => [],
        relationship_update_candidates => [], unresolved_hooks => ['the pin']
    );

    my $file = sub { spurt(encode_json({%answer, @_})) };
    my $good = $file->();

    my ($out) = check(0, ['--response', $good, $example], 'an answer');
    is($out, "$good: answers the packet, 0 refused, 0 warned\n", 'says so');

    my $attack = $file->(action_label => 'attack');
    ($out) = check(1, ['--response', $attack, $example],
                   'an action that is not allowed');
    like($out, qr{^\Q$attack\E:1:\d+: allowed refuse: /action_label: }m,
         'is named');

    ($out) = check(1, ['--response', $file->(responder_agent_id => 'bram_oke'),
                       $example, '--json'], 'another responder');
    is(decode_json((split /\n/, $out)[0])->{rule}, 'responder', 'is named');

    ($out) = check(1, ['--response', $file->(note => ['Author-Only']),
                       $example], 'hidden state');
    like($out, qr{: marker refuse: /note/0: }, 'is named');

    check(1, ['--response', spurt('{}'), $example], 'nothing');
    check(1, ['--response', spurt('He waits.'), $example], 'no JSON');
    check(4, ['--response', "$dir/none", $example], 'no file');
}


# the view

{
    my ($rc, $out, $err) = ctl('view', '--view', 'responder', '--text',
                               $example);
    is($rc, 0, 'the prompt');
    is($out, $prompt, 'byte for byte');

    ($rc, $out) = ctl('view', '--view', 'responder', $example);
    is($rc, 0, 'the view as JSON');
    is("$out\n", slurp('schema/examples/views/responder.json'), 'as expected');

    ($rc, $out) = ctl('view', '--view', 'owner', $example);
    is($out, slurp($example), "the owner's view is the packet");

    for my $view (qw(recipient link pass-on preview)) {
        ($rc, $out, $err) = ctl('view', '--view', $view, $example);
        is($rc, 1, "a packet has no view $view");
        is($out, '', 'and shows nothing');
    }

    ($rc, $out) = ctl('view', '--view', 'responder',
                      'schema/examples/pilot.relay.json');
    is($rc, 1, 'a package has no view responder');
    is($out, '', 'and shows nothing');

    ($rc) = ctl('view', '--view', 'recipient', '--text',
                'schema/examples/pilot.relay.json');
    is($rc, 2, 'nor a prompt');
}

# every text that the responder must not see, in both forms

{
    my (@secrets, $n);
    my $secret = sub { push @secrets, 'Kestrel' . ++$n; $secrets[-1] };

    my $file = changed(sub {
        my ($p) = @_;

        $p->{$_} = $secret->() . '/x.json'
            for qw(coordinator_artifact_ref projected_context_ref);
        $p->{hidden_context_audit}{$_} = [$secret->() . ' a', $secret->()]
            for keys %{$p->{hidden_context_audit}};
        $_->{source_ref} = $secret->()
            for @{$p->{visible_context}{source_excerpts}};
        $p->{review}{reviewer} = $secret->();
        $p->{review}{review_notes} = [$secret->(), $secret->()];
        $p->{lore_access}{allowed_scope} = [$secret->()];
        $p->{lore_access}{research_instructions} = [$secret->()];
    });

    for my $form ([], ['--text']) {
        my ($rc, $out) = ctl('view', '--view', 'responder', @$form, $file);
        is($rc, 0, "a view, @$form");
        is(join(' ', grep { $out =~ /$_\b/ } @secrets), '', 'without a secret');
    }

    cmp_ok(scalar @secrets, '>=', 14, 'all of them');
}

{
    my $leak = changed(sub {
        $_[0]->{packet_prompt_text} .= 'second boat, cargo manifest'
    });

    for my $form ([], ['--text'], ['--json']) {
        my ($rc, $out, $err) = ctl('view', '--view', 'responder', @$form,
                                   $leak);
        is($rc, 1, "a packet that is refused, @$form");
        is($out, '', 'shows nothing');
        like($err, qr/withheld: P17: the prompt names what is omitted/,
             'and says why');
    }

    my ($rc, $out) = ctl('view', '--view', 'responder', '--text', '--rules',
                         'P17=warn', $leak);
    is($rc, 0, 'unless the rule only warns');
}

done_testing();

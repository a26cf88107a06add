#!/usr/bin/perl

# What --help says is true: every option stands in the synopsis, options of
# Redis only where Redis is used, and each example runs as it is printed.

use strict;
use warnings;

use lib 't/lib';

use File::Copy qw(copy);
use Relay::Test;
use Test::More;

my $t = Relay::Test->new();
my $dir = $t->dir() . '/examples';
my $program = $ENV{RELAYCTL} || "$Relay::Test::ROOT/build/relayctl";

my @commands = qw(validate check view publish link grant revoke block import
                  show receipts token keygen);
my %file = map { $_ => 1 } qw(validate check view token keygen);
my %help = map { $_ => scalar $t->relayctl($_, '--help') } @commands;

# the general page

my $page = $t->relayctl('--help');

is($page, scalar $t->relayctl('help'), 'help and --help are one');
is_deeply([$page =~ /^COMMANDS\n(.*?)\n\n/ms && $1 =~ /^    (\w+)/mg],
          \@commands, 'it lists the commands');
is_deeply([sort split / /, $page =~ /^OPTIONS OF (.*)$/m ? $1 : ''],
          [sort grep { !$file{$_} } @commands],
          'and those that use Redis');

my %global = map { $_ => 1 } ($page =~ /^    --([a-z-]+)/mg);

for my $command (@commands) {
    my $text = $help{$command};

    is(scalar $t->relayctl('help', $command), $text, "help $command");
    is((grep { length > 79 } split /\n/, $text), 0, "$command: 79 columns");

    my ($synopsis) = $text =~ /^SYNOPSIS\n(.*?)\n\n/ms;
    my ($options) = $text =~ /^OPTIONS\n(.*?)\n\n/ms;
    my @own = grep { !$global{$_} } $options =~ /^    --([a-z-]+)/mg;

    like($synopsis, qr/--\Q$_\E\b/, "$command: --$_ is in the synopsis")
        for @own;

    unlike($options, qr/^    --\S+[^\n]*\n(?:    -|\z)/m,
           "$command: each option says what it is");

    if ($file{$command}) {
        unlike($text, qr/--redis|--prefix|--password-file|RELAY_REDIS/,
               "$command: nothing of Redis");
    } else {
        like($options, qr/^    --\Q$_\E /m, "$command: --$_")
            for qw(redis prefix user password-file);
        like($text, qr/^ENVIRONMENT\n    RELAY_REDIS /m,
             "$command: RELAY_REDIS");
    }
}

# the examples, in an order in which each finds what it needs

mkdir $dir or die "$dir: $!\n";
copy("$Relay::Test::ROOT/schema/examples/pilot.relay.json",
     "$dir/pilot.relay.json") or die "copy: $!\n";
$t->write_file('examples/grants.jsonl', '{"type":"grant",'
    . '"relay":"rly_7QmX2c9Lw4","email":"imported@norrvik.example"}' . "\n");

sub example {
    my ($command) = @_;

    my ($text) = $help{$command} =~ /^EXAMPLE\n(.*)\z/ms;

    ok($text, "$command has an example") or return;

    $t->write_file('example.sh', "relayctl() { $program \"\$\@\"; }\n"
        . "RELAY_REDIS='" . $t->redis_url() . "'; export RELAY_REDIS\n"
        . "cd $dir || exit 99\n$text");

    my $said = `sh $dir/../example.sh 2>$dir/err </dev/null`;

    is($? >> 8, 0, "$command: its example runs")
        or diag $text, $t->read_file("$dir/err");

    return $said;
}

my %said;

for my $command (qw(keygen token validate view publish link grant import show
                    receipts revoke block))
{
    $said{$command} = example($command);
}

like($said{token}, qr/^[\w-]+\.[\w-]+\.[\w-]+$/, 'token: of the key made');
like($said{link}, qr{^https://relay\.example/r/[\w-]{43}$}, 'link');
like($said{revoke}, qr/^revoked +grant$/m, 'revoke');
like($said{receipts}, qr/"method":"publish"/, 'receipts');
is((grep { /\S/ } split /\n/, $said{show}), 1, 'show: one object');

is_deeply({ @{$t->redis('XREVRANGE', 'relay:revocations', '+', '-', 'COUNT',
                        2)->[1][1]} }->{reason},
          'left the company', 'a reason in quotes stays whole');

$t->stop();
done_testing();

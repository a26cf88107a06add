#!/usr/bin/perl

# Documents of both types, and of a schema that has every other keyword, each
# changed at a few places by a seeded generator: ajv and relay_schema must agree
# on every one.
#
#   prove t/schema/ajv.t           (from the root)
#
# DOCUMENTS (6000) makes it longer, SEED (1) makes it other documents.

use strict;
use warnings;

use Test::More;

my $lines = ($ENV{UNIT} || $ENV{BUILD} || 'build') . '/t/lines';
my $modules = 'build/node/node_modules';
my $count = $ENV{DOCUMENTS} || 6000;
my $seed = $ENV{SEED} || 1;

BAIL_OUT("$lines is not there: run make unit first") if !-x $lines;

plan skip_all => 'node is not installed'
    if system('command -v node > /dev/null') != 0;
plan skip_all => 'ajv is not installed: sh t/tools/node.sh'
    if !-d "$modules/ajv" || !-d "$modules/ajv-formats";

my @schemas = ('relay=schema/relay.context-package.v1.json',
               'packet=schema/ghostlight.responder_packet.v0.json',
               'features=t/schema/features.json');

$ENV{NODE_PATH} = $modules;

my $out = qx(node t/schema/ajv.js $seed $count | $lines @schemas);
my $rc = $? >> 8;

like($out, qr/^documents $count valid \d+ differ \d+$/m, 'all were judged');

my ($valid, $differ) = $out =~ /^documents \d+ valid (\d+) differ (\d+)$/m;

is($differ, 0, "the same verdict on $count documents, seed $seed")
    or diag(substr $out, 0, 20000);
is($rc, 0, 'exit code');

# a generator of nothing but one kind of verdict would show little

cmp_ok($valid, '>', $count / 5, "$valid valid");
cmp_ok($valid, '<', $count * 4 / 5, 'and enough that are not');

done_testing();

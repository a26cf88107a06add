#!/usr/bin/perl

# Documents that got into Redis without relayctl's checks: whatever cannot be
# judged is withheld, whatever can is served without what is not the reader's,
# and neither answer nor log holds a byte of the rest.

use strict;
use warnings;

use lib 't/lib';

use JSON::PP ();
use Relay::Test;
use Test::More;

my $t = Relay::Test->new(http => <<'EOC');
    relay_zone views:4m;

    server {
        listen 127.0.0.1:%%PORT%%;
        add_header X-Reason $relay_reason always;
        add_header X-View $relay_view always;

        %%RELAY%%

        location ~ ^/r/(?<t1>[^/]+)$ {
            relay_link $t1;
            relay_package on;
        }

        location ~ ^/pass-on/(?<t2>[^/]+)$ {
            relay_link $t2;
            relay_package on;
            relay_view pass-on;
        }

        location ~ ^/preview/(?<t3>[^/]+)$ {
            relay_link $t3;
            relay_package on;
            relay_view preview;
        }
    }
EOC

my $SECRET = 'SALT of the sea';
my @LOCATIONS = qw(r pass-on preview);

my $json = JSON::PP->new->utf8;
my $doc = $t->read_json('schema/examples/pilot.relay.json');

$doc->{version} = 1;

my $id = $t->publish(-document => $doc);
my $link = $t->link();
my $bearer = $t->token();

# without it no view is kept: what is stored now is what is judged

$t->redis('HDEL', "relay:{$id}", 'digest');


# The relay's document is these bytes, ID standing for its id.

sub stored {
    my ($bytes) = @_;

    $bytes =~ s/ID/$id/g;
    $t->redis('SET', "relay:doc:{$id}:1", $bytes);
}


# A package around what is to be said in its root and in its one section.

sub package_of {
    my ($root, $section) = @_;

    return '{"schema":"relay.context-package.v1","id":"ID","version":1,'
        . '"title":"T","intent":{"statement":"' . $SECRET . '"},'
        . ($root ne '' ? "$root," : '')
        . '"context":{"sections":[{"id":"z","visibility":"shareable"},'
        . '{"id":"a"' . ($section ne '' ? ",$section" : '') . '}]}}';
}


sub wide {
    my ($bytes, $width, $little) = @_;

    my $zeros = "\0" x ($width - 1);

    return join '', map { $little ? $_ . $zeros : $zeros . $_ }
                        split //, $bytes;
}


$t->run();

my $whole = package_of('', '"body":"' . $SECRET . '"');

my %withheld = (
    'a byte order mark' => "\xef\xbb\xbf$whole",
    'UTF-16, little-endian' => wide($whole, 2, 1),
    'UTF-16, big-endian, with a mark' => "\xfe\xff" . wide($whole, 2, 0),
    'UTF-32' => wide($whole, 4, 1),
    'ISO-8859-1' => package_of("\"x\":\"caf\xe9\"", ''),
    'an overlong sequence' => package_of("\"x\":\"\xc0\xaf\"", ''),
    'a surrogate as bytes' => package_of("\"x\":\"\xed\xa0\x80\"", ''),
    'CESU-8' => package_of("\"x\":\"\xed\xa0\xbd\xed\xb8\x80\"", ''),
    'a lone surrogate' => package_of('"x":"\ud800"', ''),
    'a sequence cut short' => package_of("\"x\":\"\xe2\x82\"", ''),
    'a raw control character' => package_of("\"x\":\"a\nb\"", ''),
    'a name twice' => package_of('"summary":"a","summary":"b"', ''),
    'a name twice, once with escapes' =>
        package_of('"summary":"a","summar\u0079":"' . $SECRET . '"', ''),
    'marks that contradict each other' => package_of('',
        '"visibility":"shareable","visibility":"recipient-only"'),
    'the same, the other one first' => package_of('',
        '"v\u0069sibility":"recipient-only","visibility":"shareable"'),
    'a mark that is true' => package_of('', '"visibility":true'),
    'a mark that is null' => package_of('', '"visibility":null'),
    'a mark that is a list' => package_of('', '"visibility":["shareable"]'),
    'a verdict that is a number' => package_of(
        '"interpretation":{"restatementVerdict":1}', ''),
    'a flag that is a text' => package_of('"representation":{"fidelity":'
        . '{"labelInterpretations":"true"}}', ''),
    'a statement that is a list' => do {
        (my $list = $whole) =~ s/"statement":("[^"]*")/"statement":[$1]/;
        $list
    },
    'trailing data' => "$whole$whole",
    'lines of JSON' => "$whole\n$whole\n",
    'a trailing comma' => do {
        (my $comma = $whole) =~ s/\}$/,}/;
        $comma
    },
    'a comment' => "/* $SECRET */$whole",
    'a prefix' => ")]}'\n$whole",
    'single quotes' => do {
        (my $quotes = $whole) =~ tr/"/'/;
        $quotes
    },
    'a list of documents' => "[$whole]",
    'a text' => qq("$SECRET"),
    'white space' => "  \n",
    '1000 levels' => package_of('"x":' . '[' x 1000 . ']' x 1000, ''),
    '100,000 levels' => package_of('"x":' . '[' x 100_000 . ']' x 100_000, ''),
    '100,000 names' => package_of(
        join(',', map { qq("name-$_":0) } 1 .. 100_000), ''),
    'a name of a megabyte' => package_of('"' . 'k' x 1_048_576 . '":0', ''),
    'a leading zero' => package_of('"depth":01', ''),
    'NaN' => package_of('"depth":NaN', ''),
    'more than eight megabytes' =>
        package_of('', '"body":"' . $SECRET . '"') . ' ' x (8 * 1024 * 1024),
);

for my $name (sort keys %withheld) {
    stored($withheld{$name});

    for my $location (@LOCATIONS) {
        my $r = $t->get("/$location/$link", -bearer => $bearer);

        is($r->status . ' ' . ($r->header('X-Reason') // ''), '502 withheld',
           "$name: $location");
        unlike($r->raw, qr/SALT|\0S|"schema"/, "$name: nothing of it");
    }
}


# What may be in a document, and still does not leave.

my %served = (
    'a name with escapes' => package_of('"changeNote":"c",'
        . '"interpretation":{"restatement":"r","cl\u0061rifications":'
        . '["' . $SECRET . '"]}', ''),
    'unknown names' => package_of('"x":"' . $SECRET . '","Title":"' . $SECRET
        . '","title ":"' . $SECRET . '","__proto__":{"' . $SECRET . '":1},'
        . '"":"' . $SECRET . '","title\u0000":"' . $SECRET . '"', ''),
    'a private text said again' => package_of(
        '"summary":"It is the ' . $SECRET . '."', ''),
    'the same with escapes' => package_of(
        '"summary":"S\u0041LT of\u0020the sea"', ''),
    'the same in JSON in a text' => package_of(
        '"summary":"{\"statement\":\"' . $SECRET . '\"}"', ''),
    'a text where an object is expected' => package_of(
        '"owner":"' . $SECRET . '","lifecycle":"' . $SECRET . '"', ''),
    'an object where a text is expected' => package_of(
        '"summary":{"text":"' . $SECRET . '"},"changeNote":["' . $SECRET
        . '"]', ''),
);

for my $name (sort keys %served) {
    stored($served{$name});

    for my $location (@LOCATIONS) {
        my $r = $t->get("/$location/$link", -bearer => $bearer);

        is($r->status, 200, "$name: $location");
        unlike($r->raw, qr/SALT/, "$name: $location: not in its bytes");
        unlike($json->canonical->encode($r->json // {}), qr/SALT/,
               "$name: $location: nor once it is decoded");
    }
}


# A section without a mark is for the recipient alone, wherever its mark is not.

my %marked = (
    'no mark' => '"body":"KEPT"',
    'a mark of another case' => '"body":"KEPT","visibility":"Shareable"',
    'a mark under another name' => '"body":"KEPT","Visibility":"shareable"',
    'a mark with a NUL' => '"body":"KEPT","visibility":"shareable\u0000"',
    'a mark one level down' => '"body":"KEPT","claims":[{"id":"c","text":'
        . '"KEPT","visibility":"shareable"}]',
    'a mark behind' => '"body":"KEPT","visibility":"recipient-only"',
    'a mark in front' => '"visibility":"recipient-only","body":"KEPT"',
);

for my $name (sort keys %marked) {
    stored(package_of('', $marked{$name}));

    my $r = $t->get("/r/$link", -bearer => $bearer);
    is($r->status, 200, "$name: recipient");
    like($r->body, qr/KEPT/, "$name: the recipient has it");

    $r = $t->get("/pass-on/$link", -bearer => $bearer);
    is($r->status, 200, "$name: pass-on");
    unlike($r->raw, qr/KEPT/, "$name: nobody else has");
}


# Numbers and texts as they are written.

my $numbers = package_of('"representation":{"opening":{"starters":[1e400,-0,'
    . '9007199254740993,12345678901234567890123,1E-999,"\u00e9\/"]}}',
    '"body":"KEPT"');

stored($numbers);

my $r = $t->get("/r/$link", -bearer => $bearer);

is($r->status, 200, 'numbers: served');
like($r->body, qr/\[1e400,-0,9007199254740993,12345678901234567890123,1E-999,/,
     'numbers: byte for byte');
like($r->body, qr/"\\u00e9\\\/"/, 'escapes: byte for byte');


# The log says where, and nothing of what.

like($t->error_log(), qr{withheld: /context/sections/1/visibility: },
     'the log has the place');
unlike($t->error_log(), qr/SALT|KEPT/, 'and nothing of the content');

$t->stop();
done_testing();

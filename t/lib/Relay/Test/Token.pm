package Relay::Test::Token;

# The part of Relay::Test that makes keys and signs bearer tokens.

use strict;
use warnings;

use Digest::SHA qw(hmac_sha256);
use Fcntl qw(:DEFAULT :flock);
use File::Path qw(make_path);
use JSON::PP ();
use MIME::Base64 qw(encode_base64url);
use POSIX ();

my $ISSUER = 'https://id.example';
my $AUDIENCE = 'https://edge.example';

my $utf8 = JSON::PP->new->canonical->utf8;


sub issuer { return $ISSUER }


sub audience { return $AUDIENCE }


# The key set, as a file: RSA "k1" and P-256 "e1".

sub keys_file {
    my ($self) = @_;

    my $file = "$self->{dir}/jwks.json";

    return -f $file ? $file
                    : $self->write_file('jwks.json', $self->jwks('k1', 'e1'));
}


# The public halves of keys by kid, P-256 where it starts with "e", else RSA.

sub jwks {
    my ($self, @kids) = @_;

    return $utf8->encode({ keys => [map { _jwk($_) } @kids] });
}


sub _jwk {
    my ($kid) = @_;

    if ($kid =~ /^e/) {
        open my $fh, '-|', 'openssl', 'pkey', '-in', _key($kid), '-pubout',
            '-outform', 'DER' or die "openssl: $!\n";
        binmode $fh;
        my $der = do { local $/; <$fh> };
        close $fh;

        my ($x, $y) = unpack('a32a32', substr($der, -64));

        return { kty => 'EC', kid => $kid, use => 'sig', alg => 'ES256',
                 crv => 'P-256', x => encode_base64url($x),
                 y => encode_base64url($y) };
    }

    open my $fh, '-|', 'openssl', 'rsa', '-in', _key($kid), '-noout',
        '-modulus' or die "openssl: $!\n";
    my ($modulus) = join('', <$fh>) =~ /^Modulus=([0-9A-F]+)/;
    close $fh;

    return { kty => 'RSA', kid => $kid, use => 'sig', alg => 'RS256',
             n => encode_base64url(pack('H*', $modulus)), e => 'AQAB' };
}


# The file of the private key of a kid.

sub private_key { return _key($_[1]) }


# The RSA public key as a PEM file's bytes: what a confused verifier would take
# for an HMAC secret.

sub public_pem {
    my ($self) = @_;

    open my $fh, '-|', 'openssl', 'pkey', '-in', _key('k1'), '-pubout'
        or die "openssl: $!\n";
    my $pem = do { local $/; <$fh> };
    close $fh;

    return $pem;
}


# A bearer token.  Its claims are the named reader's of the worked example;
# those given replace them, undef leaves one out.  Options: -alg, -kid (undef:
# none), -key (the file of a private key, or the secret of HS256), -header.

sub token {
    my ($self, %args) = @_;

    my %o = map { $_ => delete $args{$_} } grep { /^-/ } keys %args;

    my %claims = (
        iss => $ISSUER,
        aud => $AUDIENCE,
        sub => 'tomas',
        email => 'tomas.lindqvist@norrvik.example',
        email_verified => JSON::PP::true,
        name => "Tom\x{e1}s Lindqvist",
        iat => int(time()),
        exp => int(time()) + 3600,
        %args,
    );

    delete @claims{grep { !defined $claims{$_} } keys %claims};

    my $alg = $o{-alg} // 'RS256';
    my $kid = exists $o{-kid} ? $o{-kid} : $alg eq 'ES256' ? 'e1' : 'k1';
    my %header = (alg => $alg, typ => 'JWT',
                  defined $kid ? (kid => $kid) : (), %{$o{-header} // {}});

    my $input = join '.', map { encode_base64url($utf8->encode($_)) }
                              \%header, \%claims;

    my $jwt = "$input." . encode_base64url(_sign($self, $alg, $input, \%o));

    return $self->secret($jwt);
}


# A token of somebody else, by address.

sub token_of {
    my ($self, $email, %args) = @_;

    my ($name) = $email =~ /^([^@]+)/;

    return $self->token(sub => "sub-$name", email => $email, name => $name,
                        %args);
}


sub _sign {
    my ($self, $alg, $input, $o) = @_;

    return '' if $alg eq 'none';

    return hmac_sha256($input, $o->{-key} // 'a secret of thirty-two bytes!!!!')
        if $alg eq 'HS256';

    my $key = $o->{-key} // _key($alg =~ /^ES/ ? 'e1' : 'k1');
    my $file = "$self->{dir}/signed";

    $self->write_file('signed', $input);

    open my $fh, '-|', 'openssl', 'dgst', '-sha' . ($alg =~ /(\d+)$/)[0],
        '-sign', $key,
        $alg =~ /^PS/ ? ('-sigopt', 'rsa_padding_mode:pss',
                         '-sigopt', 'rsa_pss_saltlen:-1') : (), $file
        or die "openssl: $!\n";
    binmode $fh;
    my $sig = do { local $/; <$fh> };
    close $fh or die "openssl dgst failed\n";

    unlink $file;

    return $sig if $alg !~ /^ES/;

    # from DER's two integers to two halves of fixed length

    my @halves;
    my $pos = 2;

    for (1, 2) {
        my $len = ord(substr($sig, $pos + 1, 1));
        my $int = substr($sig, $pos + 2, $len);
        $int =~ s/^\0+//;
        push @halves, ("\0" x (32 - length $int)) . $int;
        $pos += 2 + $len;
    }

    return join '', @halves;
}


# A private key, made once for the whole suite.

sub _key {
    my ($name) = @_;

    my $dir = "$Relay::Test::ROOT/build/t/keys";
    my $file = "$dir/$name.pem";

    make_path($dir);

    open my $lock, '>>', "$dir/lock" or die "$dir/lock: $!\n";
    flock($lock, LOCK_EX);

    return $file if -f $file;

    my @cmd = $name =~ /^e/
        ? ('-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256')
        : ('-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048');

    my $pid = fork() // die "fork: $!\n";

    if ($pid == 0) {
        open STDERR, '>', '/dev/null';
        exec 'openssl', 'genpkey', @cmd, '-out', "$file.new"
            or POSIX::_exit(127);
    }

    waitpid($pid, 0);
    die "openssl genpkey failed: is openssl installed?\n" if $?;

    rename "$file.new", $file or die "$file: $!\n";

    return $file;
}


# A private key that no key set has.

sub foreign_key { return _key('k2') }


# Notes a token or another secret: it may occur in no log, see t/tools/leaks.sh.

sub secret {
    my ($self, $secret) = @_;

    my $line = "$secret\n";

    # of a JWT also its last part alone

    $line .= "$1\n" if $secret =~ /^[^.]+\.[^.]+\.([^.]{32,})$/;

    my $dir = "$Relay::Test::ROOT/build/t";

    make_path($dir);
    sysopen(my $fh, "$dir/tokens", O_WRONLY | O_APPEND | O_CREAT, 0600)
        or die "$dir/tokens: $!\n";
    syswrite($fh, $line);
    close $fh;

    return $secret;
}


1;

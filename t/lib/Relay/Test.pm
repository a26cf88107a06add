package Relay::Test;

# The test harness: a real nginx with the module, a real Redis, relayctl, and
# small clients for all three.  Perl's core modules only.
#
#   use lib 't/lib';
#   use Relay::Test;
#   use Test::More;
#
#   my $t = Relay::Test->new(server => <<'EOC');
#       location ~ ^/r/(?<relay_token>[^/]+)$ {
#           relay_link $relay_token;
#           relay_package on;
#       }
#   EOC
#
#   $t->publish();
#   $t->run();
#
#   my $r = $t->get('/r/' . $t->link(), -bearer => $t->token());
#   is($r->status, 200, 'the named reader');
#
#   $t->stop();
#   done_testing();
#
# stop() is part of the test: it asserts that nginx has gone, that it left
# neither an alert nor a sanitizer's line, and it leaves everything that the
# token check reads in build/t/logs/.

use strict;
use warnings;

use Cwd qw(abs_path);
use Fcntl qw(:flock);
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use IO::Socket::INET;
use IO::Socket::UNIX;
use JSON::PP ();
use POSIX qw(:sys_wait_h);
use Socket qw(SOCK_STREAM);
use Test::More ();
use Time::HiRes qw(sleep time);

use Relay::Test::HTTP;
use Relay::Test::Redis;
use Relay::Test::Token;

our @ISA = qw(Relay::Test::HTTP Relay::Test::Redis Relay::Test::Token);

our $ROOT = abs_path(dirname(__FILE__) . '/../../..');

my $utf8 = JSON::PP->new->canonical->allow_nonref->utf8;
my $instances = 0;
my @live;


###############################################################################
# making and running

# Options:
#   conf, http, server   the whole nginx.conf, or what stands in its http block
#                        or in its one server block
#   redis => 0           no Redis
#   redis_conf           more lines for redis.conf
#   appendonly           "always", "everysec" or "no": what it is synced by
#   workers              worker processes (1)
#   timeout              seconds that the test file may take (120)
#
# Placeholders: %%GLOBALS%% and %%GLOBALS_HTTP%% (what a whole nginx.conf or
# http block starts with), %%RELAY%% (relay_redis and relay_jwt_keys),
# %%PORT%%, %%PORT1%% to %%PORT9%%, %%REDIS%%, %%REDIS_PORT%%, %%KEYS%%,
# %%DIR%%, %%ROOT%%.

sub new {
    my ($class, %opts) = @_;

    my $name = $0;
    $name =~ s{^\Q$ROOT\E/}{};
    $name =~ s{^(?:\./)?t/}{};
    $name =~ s{\.t$}{};
    $name =~ s{[^A-Za-z0-9._-]+}{-}g;

    my $self = bless {
        opts => \%opts,
        name => $name . '.' . ++$instances,
        owner => $$,
        ports => {},
        daemons => [],
        allowed => [],
        prefix => $opts{prefix} // 'relay:',
    }, $class;

    $self->{dir} = "$ROOT/build/t/logs/$self->{name}";
    remove_tree($self->{dir});
    make_path($self->{dir}, map { "$self->{dir}/$_" }
                            qw(body proxy fastcgi uwsgi scgi html));

    # a socket's path has 107 bytes, and a clone may lie deep

    $self->{sockets} = $self->{dir};

    if (length("$self->{dir}/redis.sock") > 100) {
        $self->{sockets} = tempdir('relayXXXXXX', TMPDIR => 1, CLEANUP => 1);
    }

    $self->{nginx} = $ENV{RELAY_NGINX} || _which('nginx')
        || die "nginx is not installed: make test installs it\n";

    $self->{module} = $ENV{RELAY_MODULE}
        // "$ROOT/build/nginx/ngx_http_relay_module.so";

    if ($self->{module} ne '' && !-f $self->{module}) {
        die "$self->{module} is not there: run make all\n";
    }

    push @live, $self;

    # before any fork, so that all processes of a test agree on them

    for my $text (grep { defined } @opts{qw(conf http server)}) {
        $self->port($_ || 0) for $text =~ /%%PORT(\d*)%%/g;
    }

    $self->port($_) for qw(0 redis);

    # the one guard against a test that hangs

    $SIG{ALRM} = sub { die "$0: out of time\n" };
    alarm($opts{timeout} // 120);

    $SIG{PIPE} = 'IGNORE';
    $SIG{$_} = sub { exit 1 } for qw(INT TERM HUP);

    $self->redis_start() unless defined $opts{redis} && !$opts{redis};

    return $self;
}


# Writes nginx.conf and starts nginx; dies with its words when it will not.

sub run {
    my ($self) = @_;

    $self->write_conf();

    my ($rc, $out) = $self->_nginx();

    die "nginx does not start ($rc):\n$out\n" if $rc;

    $self->wait_for(sub { $self->master() }) or die "no nginx.pid\n";
    $self->{started} = 1;

    $self->wait_for(sub { @{[ $self->workers() ]} }) or die "no worker\n";

    return $self;
}


sub write_conf {
    my ($self, $conf) = @_;

    my $opts = $self->{opts};

    $conf //= $opts->{conf};
    $conf //= "%%GLOBALS%%\nevents {\n}\n\nhttp {\n    %%GLOBALS_HTTP%%\n"
        . ($opts->{http}
           // "    %%RELAY%%\n\n    server {\n"
              . "        listen 127.0.0.1:%%PORT%%;\n\n"
              . ($opts->{server} // '') . "    }\n")
        . "}\n";

    $self->write_file('nginx.conf', $self->expand($conf));

    return $self;
}


# nginx -t over a whole configuration: (whether it is good, what it said).

sub conf_test {
    my ($self, $conf) = @_;

    $self->write_file('tested.conf', $self->expand($conf));

    my ($rc, $out) = $self->_nginx('-t', -conf => 'tested.conf');

    return ($rc == 0, $out);
}


sub expand {
    my ($self, $text) = @_;

    for (1 .. 2) {
        $text =~ s/%%([A-Z_]+)(\d*)%%/$self->_placeholder($1, $2)/ge;
    }

    return $text;
}


sub _placeholder {
    my ($self, $name, $n) = @_;

    my $dir = $self->{dir};

    return $self->port($n || 0) if $name eq 'PORT';
    return $dir if $name eq 'DIR';
    return $ROOT if $name eq 'ROOT';
    return $self->redis_url() if $name eq 'REDIS';
    return $self->port('redis') if $name eq 'REDIS_PORT';
    return $self->keys_file() if $name eq 'KEYS';

    if ($name eq 'RELAY') {
        return "relay_redis %%REDIS%%;\n"
            . "    relay_jwt_keys %%KEYS%% issuer="
            . $self->issuer() . ' audience=' . $self->audience()
            . " email=trusted;";
    }

    if ($name eq 'GLOBALS') {
        my $s = $self->{module} ne '' ? "load_module $self->{module};\n" : '';
        my $level = $ENV{RELAY_DEBUG} ? 'debug' : 'info';

        $s .= "user root root;\n" if $> == 0;
        $s .= "pid $dir/nginx.pid;\nerror_log $dir/error.log $level;\n";
        $s .= 'worker_processes ' . ($self->{opts}{workers} // 1) . ";\n";
        $s .= "env $_;\n"
            for qw(ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS);

        return $s;
    }

    if ($name eq 'GLOBALS_HTTP') {
        return "access_log $dir/access.log;\n    root $dir/html;\n"
            . "    client_body_temp_path $dir/body;\n"
            . join('', map { "    ${_}_temp_path $dir/$_;\n" }
                           qw(proxy fastcgi uwsgi scgi));
    }

    die "unknown placeholder %%$name$n%%\n";
}


sub _nginx {
    my ($self, @args) = @_;

    my $conf = 'nginx.conf';

    if (@args >= 2 && $args[-2] eq '-conf') {
        $conf = pop @args;
        pop @args;
    }

    my $log = $conf eq 'nginx.conf' ? 'error.log' : 'tested.log';

    # nginx -t ends without giving back what it took

    local $ENV{ASAN_OPTIONS} = ($ENV{ASAN_OPTIONS} // '')
        . ($conf eq 'nginx.conf' ? '' : ':detect_leaks=0');

    my $out = "$self->{dir}/nginx.out";

    my $pid = $self->_spawn($out, $self->{nginx}, '-p', "$self->{dir}/",
                            '-e', "$self->{dir}/$log",
                            '-c', "$self->{dir}/$conf", @args);

    waitpid($pid, 0);
    my $rc = $? & 127 ? 128 + ($? & 127) : $? >> 8;

    my $text = _slurp($out);
    $self->append_file('nginx.err', $text);

    return ($rc, $text);
}


# Asserts and cleans up; see the head of this file.

sub stop {
    my ($self) = @_;

    return if $self->{stopped};

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $gone = $self->_stop_nginx();

    $self->_dump_redis();
    $self->_kill_children();

    if ($self->{started}) {
        Test::More::ok($gone, 'nginx and its workers exit');

        my $log = $self->error_log();
        my @bad = grep {
            my $line = $_;
            $line =~ /\[(?:alert|emerg|crit)\]/
                && !grep { $line =~ $_ } @{$self->{allowed}}
        } split /\n/, $log;

        Test::More::is(join("\n", @bad), '', 'no alerts in error.log');
    }

    my @lines = $self->sanitizer_lines();

    Test::More::is(join("\n", @lines), '', 'no sanitizer lines')
        if $self->{started};

    $self->{stopped} = 1;
    @live = grep { $_ != $self } @live;

    return;
}


# A pattern of [crit] and worse lines that this test brings about on purpose.

sub allow {
    my ($self, @patterns) = @_;

    push @{$self->{allowed}}, @patterns;

    return $self;
}


sub sanitizer_lines {
    my ($self) = @_;

    my @lines;

    for my $file ("$self->{dir}/error.log", "$self->{dir}/nginx.err",
                  "$self->{dir}/relayctl.log", glob("$self->{dir}/asan.*"))
    {
        # nginx's own sources (src/...) have undefined corners of their own

        push @lines, grep {
            /Sanitizer|runtime error:/ && !m{^src/\S+: runtime error:}
                && !m{SUMMARY: UndefinedBehaviorSanitizer: \S+ src/}
        } split /\n/, _slurp($file);
    }

    return @lines;
}


sub _stop_nginx {
    my ($self) = @_;

    my %pids = map { $_ => 1 } $self->processes();

    return 1 if !%pids;

    $self->_signal('QUIT', $_) for grep { $_ } $self->master(), $self->old();

    my $gone = $self->wait_for(sub { !grep { _alive($_) } keys %pids }, 15);

    return 1 if $gone;

    kill('KILL', $_) for grep { _alive($_) } keys %pids;
    $self->wait_for(sub { !grep { _alive($_) } keys %pids }, 5);

    return 0;
}


sub _kill_children {
    my ($self) = @_;

    for my $pid (@{$self->{daemons}}) {
        kill('CONT', $pid);
        kill('TERM', $pid);
        _reap($pid, 3) or do { kill('KILL', $pid); _reap($pid, 3) };
    }

    $self->{daemons} = [];

    $self->redis_stop();
}


END {
    my $rc = $?;

    for my $self (grep { $_->{owner} == $$ } @live) {
        eval { $self->_stop_nginx() };
        eval { $self->_dump_redis() };
        eval { $self->_kill_children() };

        if ($self->{started} && $rc == 0) {
            print STDERR "$self->{name}: stop() was not called\n";
            $rc = 1;
        }
    }

    $? = $rc;
}


###############################################################################
# nginx's processes

sub dir { return $_[0]->{dir} }


sub master {
    my ($self) = @_;

    return _pid_in("$self->{dir}/nginx.pid");
}


# The master that a binary upgrade leaves behind, as long as it is there.

sub old {
    my ($self) = @_;

    return _pid_in("$self->{dir}/nginx.pid.oldbin");
}


sub _pid_in {
    my ($file) = @_;

    my ($pid) = _slurp($file) =~ /^(\d+)/;

    return $pid && _alive($pid) ? $pid : undef;
}


# The workers of a master (of the current one), those still leaving included.

sub workers {
    my ($self, $master) = @_;

    $master //= $self->master();

    return $master ? _children_of($master) : ();
}


sub processes {
    my ($self) = @_;

    return map { ($_, _children_of($_)) }
           grep { $_ } $self->master(), $self->old();
}


# A second master of an upgrade is a child too, but not a worker.

sub _children_of {
    my ($parent) = @_;

    my @pids;

    for my $stat (glob('/proc/[0-9]*/stat')) {
        my ($pid, $state, $ppid) =
            _slurp($stat) =~ /^(\d+) \(.*\) (\S) (\d+) /s;

        next if !$pid || $ppid != $parent || $state eq 'Z';
        next if _slurp("/proc/$pid/cmdline") !~ /^nginx: worker/;

        push @pids, $pid;
    }

    @pids = sort { $a <=> $b } @pids;

    return @pids;
}


sub signal {
    my ($self, $signal) = @_;

    return $self->_signal($signal, $self->master());
}


sub _signal {
    my ($self, $signal, $pid) = @_;

    return kill($signal, $pid);
}


# Reloads and waits until the new workers run and the old ones have left;
# with -wait => 0 only until the new ones run.

sub reload {
    my ($self, %o) = @_;

    my %before = map { $_ => 1 } $self->workers();
    my $n = $self->{opts}{workers} // 1;

    $self->signal('HUP');

    $self->wait_for(sub {
        return 0 if $n > grep { !$before{$_} } $self->workers();
        return 1 if defined $o{-wait} && !$o{-wait};
        return !grep { $before{$_} } $self->workers();
    }, $o{-timeout} // 15)
        or die "reload: the workers were not replaced\n";

    # a worker has its title before it accepts

    sleep(0.05);

    return $self;
}


# A binary upgrade: a second master takes over and the first one quits.

sub upgrade {
    my ($self, %o) = @_;

    my $first = $self->master();

    kill('USR2', $first);

    $self->wait_for(sub {
        my $new = $self->master();
        return $new && $new != $first && $self->workers($new);
    }) or die "upgrade: no second master\n";

    kill('QUIT', $first);

    if (!defined $o{-wait} || $o{-wait}) {
        $self->wait_for(sub { !_alive($first) }, $o{-timeout} // 15)
            or die "upgrade: the first master stays\n";
    }

    return $self;
}


# Resident memory of a process, in kilobytes.

sub rss {
    my ($self, $pid) = @_;

    my ($kb) = _slurp("/proc/$pid/status") =~ /^VmRSS:\s+(\d+)/m;

    return $kb;
}


sub error_log { return _slurp("$_[0]->{dir}/error.log") }


sub access_log { return _slurp("$_[0]->{dir}/access.log") }


# Waits until error.log has a line that matches.

sub wait_log {
    my ($self, $pattern, $timeout) = @_;

    return $self->wait_for(sub { $self->error_log() =~ $pattern }, $timeout);
}


###############################################################################
# relayctl

# Runs relayctl against this test's Redis and returns what it printed; in list
# context (exit code, standard output, standard error).  In scalar context it
# dies when relayctl fails.

sub relayctl {
    my ($self, @args) = @_;

    my $dir = $self->{dir};
    my $program = $ENV{RELAYCTL} || "$ROOT/build/relayctl";

    unshift @args, '--prefix', $self->{prefix} if $self->{prefix} ne 'relay:';

    my $pid = fork() // die "fork: $!\n";

    if ($pid == 0) {
        _child();
        $ENV{RELAY_REDIS} = $self->redis_url();
        chdir $ROOT;
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', "$dir/relayctl.out";
        open STDERR, '>', "$dir/relayctl.err";
        exec { $program } $program, @args or POSIX::_exit(127);
    }

    waitpid($pid, 0);
    my $rc = $? & 127 ? 128 + ($? & 127) : $? >> 8;

    my ($out, $err) = map { _slurp("$dir/relayctl.$_") } qw(out err);

    # it may print a token, which is what it is for; an error never does

    unlink "$dir/relayctl.out", "$dir/relayctl.err";
    $self->append_file('relayctl.log', "-> $rc\n$err");

    return ($rc, $out, $err) if wantarray;

    die "relayctl @args failed ($rc): $err\n" if $rc;

    return $out;
}


# Publishes the worked example, or -file, or -document (a structure), as its
# owner: subject "leila" of our issuer.  Returns the relay's id.

sub publish {
    my ($self, %o) = @_;

    my $file = $o{-file} // 'schema/examples/pilot.relay.json';

    if ($o{-document}) {
        $file = $self->write_file('published.json',
                                  $utf8->encode($o{-document}));
    }

    my $id = $self->read_json($file)->{id};

    my $out = $self->relayctl('publish', $file,
        '--owner-iss', $o{-iss} // $self->issuer(),
        '--owner-sub', $o{-sub} // 'leila',
        '--owner-email', $o{-email} // 'leila@brackwell.example');

    return $self->{relay} = $id;
}


# The relay that publish() published last.

sub relay { return $_[0]->{relay} // die "nothing is published\n" }


# Makes a link to it (to -relay), with relayctl's options: its token.

sub link {
    my ($self, @options) = @_;

    my $relay = $self->_relay_option(\@options);

    my $out = $self->relayctl('link', $relay, '--json', @options);

    return $self->secret($utf8->decode($out)->{token});
}


sub grant {
    my ($self, @options) = @_;

    my $relay = $self->_relay_option(\@options);

    return scalar $self->relayctl('grant', $relay, @options);
}


# The whole relay, or what the options say: --link TOKEN, --grant ADDRESS.

sub revoke {
    my ($self, @options) = @_;

    my $relay = $self->_relay_option(\@options);

    return scalar $self->relayctl('revoke', $relay, @options);
}


sub _relay_option {
    my ($self, $options) = @_;

    return $self->relay() if !@$options || $options->[0] ne '-relay';

    return (splice @$options, 0, 2)[1];
}


###############################################################################
# daemons, files, ports, waiting

# Runs a sub in a process of its own until stop().

sub run_daemon {
    my ($self, $code, @args) = @_;

    my $pid = fork() // die "fork: $!\n";

    if ($pid == 0) {
        _child();
        eval { $code->(@args) };
        print STDERR "daemon: $@" if $@;
        POSIX::_exit($@ ? 1 : 0);
    }

    push @{$self->{daemons}}, $pid;

    return $pid;
}


# Ends one of them now.

sub stop_daemon {
    my ($self, $pid) = @_;

    kill('KILL', $pid);
    @{$self->{daemons}} = grep { $_ != $pid } @{$self->{daemons}};

    return _reap($pid, 5);
}


# A listening socket: at a port, or at a path when where has a slash.

sub listener {
    my ($self, $where) = @_;

    if ($where =~ m{/}) {
        unlink $where;
        return IO::Socket::UNIX->new(Type => SOCK_STREAM, Local => $where,
                                     Listen => 128)
            || die "$where: $!\n";
    }

    return IO::Socket::INET->new(
        Proto => 'tcp', LocalAddr => '127.0.0.1', LocalPort => $where,
        Listen => 128, ReuseAddr => 1)
        || die "port $where: $!\n";
}


sub wait_for_socket {
    my ($self, $where, $timeout) = @_;

    return $self->wait_for(sub {
        return $where =~ m{/}
            ? IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $where)
            : IO::Socket::INET->new(PeerAddr => '127.0.0.1', Proto => 'tcp',
                                    PeerPort => $where);
    }, $timeout);
}


# Polls until code is true (its value is returned) or the time is over.

sub wait_for {
    my ($self, $code, $timeout) = @_;

    my $end = time() + ($timeout // 10);

    while (1) {
        my $value = $code->();
        return $value if $value;
        return if time() > $end;
        sleep(0.02);
    }
}


# A port of this test by name or number, free when first asked for.  It is kept
# for it by a lock, and lies below those that the kernel gives to clients.

sub port {
    my ($self, $name) = @_;

    $name //= 0;

    return $self->{ports}{$name} if $self->{ports}{$name};

    my $dir = "$ROOT/build/t/ports";
    make_path($dir);

    for (1 .. 500) {
        my $port = 10000 + int(rand(20000));

        open my $lock, '>', "$dir/$port" or die "$dir/$port: $!\n";
        next if !flock($lock, LOCK_EX | LOCK_NB);

        IO::Socket::INET->new(
            Proto => 'tcp', LocalAddr => '127.0.0.1', LocalPort => $port,
            Listen => 1) or next;

        push @{$self->{locks}}, $lock;

        return $self->{ports}{$name} = $port;
    }

    die "no free port\n";
}


sub write_file {
    my ($self, $name, $content) = @_;

    return _store('>', "$self->{dir}/$name", $content);
}


sub append_file {
    my ($self, $name, $content) = @_;

    return _store('>>', "$self->{dir}/$name", $content);
}


sub read_file {
    my ($self, $name) = @_;

    return _slurp($name =~ m{^/} ? $name : "$ROOT/$name");
}


sub read_json {
    my ($self, $name) = @_;

    return $utf8->decode($self->read_file($name));
}


# Skips the whole file, saying why, unless a program is there.

sub need {
    my ($self, @programs) = @_;

    for my $program (@programs) {
        next if _which($program);
        Test::More::plan(skip_all => "$program is not installed");
    }

    return $self;
}


# Whether nginx was built with sanitizers, whose memory is never flat.

sub sanitized {
    my ($self) = @_;

    return $self->_configure_options() =~ /-fsanitize=/;
}


# Whether nginx has a module that its configure was asked for.

sub has_module {
    my ($self, $name) = @_;

    return $self->_configure_options() =~ /--with-\Q$name\E(?:_module)?\b/;
}


sub _configure_options {
    my ($self) = @_;

    # a sanitizer would have its say about nginx -V too

    local $ENV{ASAN_OPTIONS} = 'detect_leaks=0';

    return $self->{built} //= do {
        open my $fh, '-|', "$self->{nginx} -V 2>&1" or die "nginx: $!\n";
        local $/;
        <$fh>;
    };
}


###############################################################################

sub _spawn {
    my ($self, $out, @cmd) = @_;

    my $pid = fork() // die "fork: $!\n";

    if ($pid == 0) {
        _child();
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', $out;
        open STDERR, '>&', \*STDOUT;
        exec { $cmd[0] } @cmd or POSIX::_exit(127);
    }

    return $pid;
}


# A child answers signals as a program does, not as this test.

sub _child {
    $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP ALRM PIPE);
    alarm(0);
    @live = ();
}


sub _alive {
    my ($pid) = @_;

    my ($state) = _slurp("/proc/$pid/stat") =~ /^\d+ \(.*\) (\S)/s;

    return defined $state && $state ne 'Z';
}


sub _reap {
    my ($pid, $timeout) = @_;

    my $end = time() + $timeout;

    while (waitpid($pid, WNOHANG) == 0) {
        return 0 if time() > $end;
        sleep(0.01);
    }

    return 1;
}


sub _which {
    my ($program) = @_;

    for my $dir (split(/:/, $ENV{PATH}), '/usr/sbin', '/sbin') {
        return "$dir/$program" if -x "$dir/$program";
    }

    return undef;
}


sub _slurp {
    my ($file) = @_;

    open my $fh, '<', $file or return '';
    binmode $fh;
    local $/;
    my $content = <$fh>;

    return $content // '';
}


sub _store {
    my ($how, $file, $content) = @_;

    open my $fh, $how, $file or die "$file: $!\n";
    binmode $fh;
    utf8::encode($content) if utf8::is_utf8($content);
    print $fh $content;
    close $fh or die "$file: $!\n";

    return $file;
}


1;

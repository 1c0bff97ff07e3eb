package SymTest;

# A real nginx for a test: its own folder, its own port, its own store.
#
#     my $t = SymTest->new->load_fixtures->start;
#     my $r = $t->post_json('/symbolicate/v5', { jobs => [...] });
#     is($r->{status}, 200, 'answered');
#     is($t->stop->log_trouble, '', 'a clean log');
#
# The test holds the listening socket and nginx inherits it (as it does when its
# binary is exchanged), so no other process can take the port, and a connection
# made before nginx is ready waits in the socket's queue: nothing here sleeps.
#
# Environment:
#   SYM_BUILD=build-asan   the build to test; default build.  If it was made with
#                          sanitizers, nginx runs with their library preloaded
#   SYM_NGINX=/path/nginx  the binary; default: nginx from PATH
#   SYM_STATIC=1           the module is part of that binary, so none is loaded
#   SYM_VALGRIND=1         nginx and its workers under valgrind

use strict;
use warnings;

use Cpanel::JSON::XS ();
use Cwd qw(abs_path);
use Fcntl qw(F_SETFD);
use File::Basename qw(dirname);
use File::Path qw(remove_tree);
use File::Temp qw(tempdir);
use IO::Select;
use IO::Socket::INET;
use JSON::PP;
use POSIX qw(:sys_wait_h);
use Socket qw(SOL_SOCKET SO_RCVBUF);
use SymFixtures qw(fixtures);
use SymTools;
use Test::More;
use Time::HiRes qw(time);

our $ROOT = abs_path(dirname(__FILE__) . '/../..');
# seconds, then a test fails; longer than a request waits for its modules
our $PATIENCE = $ENV{SYM_VALGRIND} ? 120 : 60;

my $JSON = JSON::PP->new->utf8->canonical->allow_nonref;
# a hundred times faster; it reads the same
my $READER = Cpanel::JSON::XS->new->utf8->allow_nonref;

sub root {$ROOT}
sub is_valgrind { return $ENV{SYM_VALGRIND} ? 1 : 0 }

sub build_dir {
    my $dir = $ENV{SYM_BUILD} || 'build';
    return $dir =~ m{^/} ? $dir : "$ROOT/$dir";
}

sub symbol_file {
    my ($name, $id) = @_;
    my ($file) = glob(fixtures("symbols/$name/$id") . '/*.sym');
    return $file;
}

sub new {
    my ($class, %opt) = @_;
    my $self = bless {
        dir => tempdir('symtest-XXXXXX', TMPDIR => 1),
        workers => 1,
        connections => 512,
        parts => {},
        allowed => [],
        owner => $$,
        %opt,
    }, $class;
    chmod 0755, $self->{dir};
    mkdir "$self->{dir}/$_" for qw(logs tmp);

    return $self->listen;
}

# At a free port, or at the same one as before.
sub listen {
    my ($self) = @_;
    $self->{listen} = IO::Socket::INET->new(
        LocalAddr => '127.0.0.1', LocalPort => $self->{port} // 0,
        ReuseAddr => 1, Proto => 'tcp', Listen => 511,
        Blocking => 0)    # used without changes
        or die "cannot listen: $!";
    fcntl($self->{listen}, F_SETFD, 0) or die "fcntl: $!";
    $self->{port} = $self->{listen}->sockport;
    return $self;
}

sub dir { return $_[0]{dir} }
sub port { return $_[0]{port} }
sub store { return "$_[0]{dir}/store" }
sub address { return "127.0.0.1:$_[0]{port}" }

# --- symbols ---

# Runs symloader; dies with its output if it fails.
sub symloader {
    my ($self, $command, @args) = @_;
    my $log = "$self->{dir}/logs/symloader";
    my $code = run_quietly($log, build_dir() . '/symloader', $command,
        '--store', $self->store, @args);
    die "symloader $command @args: exit code $code\n" . slurp($log)
        if $code != 0;
    return slurp($log);
}

sub run_quietly {
    my ($log, @command) = @_;
    my $pid = fork;
    if (!$pid) {
        open STDOUT, '>', $log;
        open STDERR, '>&', \*STDOUT;
        $ENV{ASAN_OPTIONS} = 'detect_leaks=0';
        exec @command or POSIX::_exit(127);
    }
    waitpid $pid, 0;
    return $? >> 8 || $? & 127;
}

sub load {
    my ($self, @files) = @_;
    $self->symloader('load', @files);
    return $self;
}

sub load_fixtures {
    my ($self) = @_;
    return $self->load(fixtures('symbols'));
}

# --- nginx ---

# Parts of the configuration: main, http, server, locations.  The last one
# replaces the default locations.
sub conf {
    my ($self, %parts) = @_;
    @{$self->{parts}}{keys %parts} = values %parts;
    return $self;
}

sub write_conf {
    my ($self, $text) = @_;
    my $file = "$self->{dir}/nginx.conf";
    open my $out, '>', $file or die "$file: $!";
    print $out $self->expand(defined $text ? $text : $self->conf_text);
    close $out;
    return $file;
}

# A configuration that is only parsed, for nginx -t.
sub bare_conf {
    my ($inside) = @_;
    return <<"CONF";
load_module %%MODULE%%;
error_log %%DIR%%/logs/error.log;
pid %%DIR%%/nginx.pid;
events { }
http {
    access_log off;
    client_body_temp_path %%DIR%%/tmp/body;
    proxy_temp_path       %%DIR%%/tmp/proxy;
    fastcgi_temp_path     %%DIR%%/tmp/fastcgi;
    uwsgi_temp_path       %%DIR%%/tmp/uwsgi;
    scgi_temp_path        %%DIR%%/tmp/scgi;
    $inside
}
CONF
}

sub expand {
    my ($self, $text) = @_;
    my %word = (
        DIR => $self->{dir}, PORT => $self->{port},
        ADDRESS => $self->address, STORE => $self->store,
        MODULE => build_dir() . '/ngx_http_symbolicate_module.so',
    );
    $text =~ s/^load_module %%MODULE%%;\n//m if $ENV{SYM_STATIC};
    $text =~ s/%%([A-Z]+)%%/exists $word{$1} ? $word{$1} : die "no %%$1%%"/ge;
    return $text;
}

sub conf_text {
    my ($self) = @_;
    my %part = (main => '', http => '', server => '', %{$self->{parts}});
    my $process = "worker_processes $self->{workers};\ndaemon off;";
    my $locations = defined $part{locations} ? $part{locations} : <<'CONF';
        location /symbolicate { symbolicate; }
        location = /          { symbolicate; }
        location /__          { symbolicate_health; }
CONF
    my $log_format = 'status=$symbolicate_status frames=$symbolicate_frames '
        . 'modules=$symbolicate_modules missing=$symbolicate_missing '
        . 'lookup_us=$symbolicate_lookup_us code=$status uri=$uri';

    # as root, nginx would run its workers as a user who may not enter the
    # test's folder
    $process .= "\nuser root;" if $> == 0 && $part{main} !~ /^user /m;
    return <<"CONF";
load_module %%MODULE%%;
$process
error_log   %%DIR%%/logs/error.log info;
pid         %%DIR%%/nginx.pid;
$part{main}
events {
    worker_connections $self->{connections};
}
http {
    log_format symbolicate '$log_format';
    access_log %%DIR%%/logs/access.log symbolicate;
    client_body_temp_path %%DIR%%/tmp/body;
    proxy_temp_path       %%DIR%%/tmp/proxy;
    fastcgi_temp_path     %%DIR%%/tmp/fastcgi;
    uwsgi_temp_path       %%DIR%%/tmp/uwsgi;
    scgi_temp_path        %%DIR%%/tmp/scgi;
    client_max_body_size  64m;
    # a client of a busy machine may be at something else for a minute
    client_header_timeout 10m;
    client_body_timeout   10m;
    send_timeout          10m;
    keepalive_timeout     10m;
    symbolicate_store     %%STORE%%;
$part{http}
    server {
        listen %%ADDRESS%%;
$part{server}
$locations
    }
}
CONF
}

sub nginx {
    return $ENV{SYM_NGINX} if $ENV{SYM_NGINX};
    return eval { SymTools::path('nginx') } // BAIL_OUT("$@");
}

sub is_slow {
    return is_valgrind() || sanitizer_libraries();
}

sub sanitizer_libraries {
    my $module = build_dir() . '/ngx_http_symbolicate_module.so';
    my $needs = `ldd '$module' 2>&1`;
    return $needs =~ /lib(?:asan|ubsan)\S* => (\S+)/g;
}

# Environment of an nginx that loads a module with sanitizers.
sub sanitizer_env {
    my ($self) = @_;
    my @libraries = sanitizer_libraries() or return;
    return (
        LD_PRELOAD => join(' ', @libraries),
        ASAN_OPTIONS => "detect_leaks=0:log_path=$self->{dir}/logs/asan",
        UBSAN_OPTIONS => "print_stacktrace=1",
    );
}

# nginx -t on a configuration: (exit code, output).
sub check {
    my ($self, $text) = @_;
    my $file = $self->write_conf($text);
    my $log = "$self->{dir}/logs/check";
    my %env = $self->sanitizer_env;
    local @ENV{keys %env} = values %env;
    my $code = run_quietly($log, nginx(), '-t', '-p', $self->{dir}, '-c',
        $file);
    return ($code, slurp($log));
}

# Starts nginx and waits for its first answer.
sub start {
    my ($self) = @_;
    $self->spawn($self->conf_text);
    my $r = $self->request('GET', '/__lbheartbeat__');
    if (!$r->{status}) {
        diag($self->error_log, slurp("$self->{dir}/logs/stderr"));
        BAIL_OUT('nginx did not start');
    }
    return $self;
}

sub spawn {
    my ($self, $text) = @_;
    my $file = $self->write_conf($text);
    my @command = (nginx(), '-p', $self->{dir}, '-c', $file);
    if (is_valgrind()) {
        unshift @command, SymTools::path('valgrind'), '-q', '--error-exitcode=99',
            '--trace-children=no', '--leak-check=no',
            "--log-file=$self->{dir}/logs/valgrind.%p";
    }

    my %env = $self->sanitizer_env;
    my $pid = fork;
    die "fork: $!" if !defined $pid;
    if (!$pid) {
        @ENV{keys %env} = values %env;
        $ENV{NGINX} = $self->inherited;
        open STDOUT, '>>', "$self->{dir}/logs/stderr";
        open STDERR, '>&', \*STDOUT;
        open STDIN, '<', '/dev/null';
        exec @command or POSIX::_exit(127);
    }
    $self->{pid} = $pid;
    return $self;
}

# Sockets that nginx inherits, as after an exchange of its binary.
sub inherited { return fileno($_[0]{listen}) . ';' }

sub signal {
    my ($self, $name) = @_;
    kill $name, $self->{pid} or die "cannot signal nginx: $!";
    return $self;
}

# Pids of the workers that run now.
sub workers {
    my ($self) = @_;
    my @found;
    # all its children are workers, since there is no cache manager.  The
    # kernel's own list of children omits some while others exit.
    for my $file (glob '/proc/[0-9]*/stat') {
        open my $fh, '<', $file or next;
        my ($pid, $state, $parent) =
            (readline($fh) // '') =~ /^(\d+) \(.*\) (\S) (\d+) /s or next;
        push @found, $pid if $parent == $self->{pid} && $state ne 'Z';
    }
    return @found;
}

# Reloads nginx; returns when new workers accept every connection that is made
# from now on.  The old ones may still be running.
sub reload {
    my ($self) = @_;
    my %old = map { $_ => 1 } $self->workers;
    $self->signal('HUP');
    $self->wait_for(sub {
        my @now = $self->workers;
        # a worker that has announced it stops listening before it accepts
        # another connection
        my %quits = map { $_ => 1 }
            $self->error_log =~ /^\S+ \S+ \[notice\] (\d+)#\d+: gracefully shutting down$/mg;
        return !(grep { $old{$_} && !$quits{$_} } @now)
            && grep { !$old{$_} } @now;
    }, 'new workers after a reload');
    return $self;
}

# Repeats a check until it succeeds; not for changes with an event to wait for.
# The longer it takes, the less often it is repeated.
sub wait_for {
    my ($self, $question, $what) = @_;
    my $end = time + $PATIENCE;
    my $pause = 0.01;
    while (time < $end) {
        my $answer = $question->();
        return $answer if $answer;
        select undef, undef, undef, $pause;
        $pause *= 1.2 if $pause < 0.1;
    }
    fail("in $PATIENCE s: $what");
    return;
}

# Stops nginx when all requests are done.  Its exit status is a test.
sub stop {
    my ($self) = @_;
    my $pid = delete $self->{pid} or return $self;
    close $self->{keep} if $self->{keep};
    delete $self->{keep};
    kill 'QUIT', $pid;
    my $status = reap($pid, $PATIENCE);
    if (!defined $status) {
        push @{$self->{trouble}}, "nginx did not exit in $PATIENCE s";
        kill 'TERM', $pid;
        if (!defined reap($pid, 10)) {
            kill 'KILL', $pid;
            waitpid $pid, 0;
        }
    } elsif ($status != 0) {
        push @{$self->{trouble}}, "nginx ended with status $status";
    }
    return $self;
}

# True if nginx has ended without being told to.
sub has_died {
    my ($self) = @_;
    return 1 if !$self->{pid};
    return 0 if $self->{owner} != $$ || waitpid($self->{pid}, WNOHANG) == 0;
    push @{$self->{trouble}}, "nginx ended by itself with status $?";
    delete $self->{pid};
    return 1;
}

sub reap {
    my ($pid, $seconds) = @_;
    my $gone;
    local $SIG{ALRM} = sub { die "late\n" };
    eval {
        alarm $seconds;
        $gone = waitpid $pid, 0;
        alarm 0;
    };
    alarm 0;
    return $gone && $gone == $pid ? $? : undef;
}

# --- logs ---

sub error_log { return slurp("$_[0]{dir}/logs/error.log") }

sub access_log { return slurp("$_[0]{dir}/logs/access.log") }

# Lines in the log that a test causes on purpose.
sub allow {
    my ($self, $pattern) = @_;
    push @{$self->{allowed}}, $pattern;
    return $self;
}

# All errors that must not occur in a run; '' is good.
sub log_trouble {
    my ($self) = @_;
    my @found = @{$self->{trouble} || []};
    # a turn of the event loop is at most 100 ms of processor time
    my $bad = qr/\[(alert|emerg|crit)\]|exited on signal/;
    $bad = qr/$bad|symbolicate: a turn of the event loop took/ if !is_slow();
    for my $line (split /\n/, $self->error_log) {
        next if $line !~ $bad;
        next if grep { $line =~ $_ } @{$self->{allowed}};
        push @found, $line;
    }
    for my $file (glob "$self->{dir}/logs/asan*") {
        push @found, slurp($file);
    }
    for my $file (glob "$self->{dir}/logs/valgrind*") {
        my $text = slurp($file);
        push @found, $text if $text =~ /\S/;
    }
    my $said = slurp("$self->{dir}/logs/stderr");
    push @found, $said if $said =~ /runtime error|Sanitizer|core dumped/;
    return join "\n", @found;
}

sub slurp {
    my ($file) = @_;
    open my $in, '<', $file or return '';
    local $/;
    my $text = <$in>;
    return defined $text ? $text : '';
}

# --- HTTP ---

sub connect {
    my ($self, %opt) = @_;
    my $socket = IO::Socket::INET->new(Proto => 'tcp')
        or die "socket: $!";
    if ($opt{receive_buffer}) {
        setsockopt $socket, SOL_SOCKET, SO_RCVBUF, $opt{receive_buffer};
    }
    if ($opt{from}) {
        $socket->bind(0, Socket::inet_aton($opt{from})) or die "bind: $!";
    }
    $socket->connect($self->{port}, Socket::inet_aton('127.0.0.1'))
        or die "connect: $!";
    $socket->autoflush(1);
    return $socket;
}

# The text of a request.  Headers: a list of name, value; a body adds its
# Content-Length.
sub request_text {
    my ($self, $method, $path, %opt) = @_;
    my @headers = @{$opt{headers} || []};
    my $text = "$method $path HTTP/1.1\r\nHost: localhost\r\n";
    while (my ($name, $value) = splice @headers, 0, 2) {
        $text .= "$name: $value\r\n";
    }
    if (defined $opt{chunks}) {
        $text .= "Transfer-Encoding: chunked\r\n";
    } elsif (defined $opt{body}) {
        $text .= 'Content-Length: ' . length($opt{body}) . "\r\n";
    }
    $text .= "Connection: close\r\n" if !$opt{keepalive};
    $text .= "\r\n";
    if (defined $opt{chunks}) {
        $text .= sprintf("%x\r\n%s\r\n", length $_, $_) for @{$opt{chunks}};
        $text .= "0\r\n\r\n";
    } elsif (defined $opt{body}) {
        $text .= $opt{body};
    }
    return $text;
}

sub request {
    my ($self, $method, $path, %opt) = @_;
    my $socket = $self->connect;
    $self->send_all($socket, $self->request_text($method, $path, %opt));
    my $r = $self->response($socket, $method);
    close $socket;
    return $r;
}

# A server may answer and close before it has read everything.
sub send_all {
    my ($self, $socket, $text) = @_;
    local $SIG{PIPE} = 'IGNORE';
    my $at = 0;
    while ($at < length $text) {
        my $n = syswrite $socket, $text, 1 << 18, $at;
        return if !defined $n;
        $at += $n;
    }
    return 1;
}

# Reads one response; {} if the connection ends before it.
sub response {
    my ($self, $socket, $method) = @_;
    my $r = $self->raw_response($socket, $method);
    $r->{json} = eval { $READER->decode($r->{body}) } if defined $r->{body};
    return $r;
}

# The same without JSON, because reading an answer of megabytes takes seconds,
# in which nginx may close another connection.
sub raw_response {
    my ($self, $socket, $method) = @_;
    my $buffer = \${*$socket}{symtest_rest};
    $$buffer = '' if !defined $$buffer;

    while ($$buffer !~ /\r\n\r\n/) {
        $self->fill($socket, $buffer) or return {};
    }
    $$buffer =~ s/^(.*?)\r\n\r\n//s or return {};
    my ($first, @lines) = split /\r\n/, $1;
    my ($status) = $first =~ m{^HTTP/1\.1 (\d+)} or return {};
    return $self->raw_response($socket, $method) if $status == 100;

    my %headers;
    for my $line (@lines) {
        my ($name, $value) = split /:\s*/, $line, 2;
        $name = lc $name;
        $headers{$name}
            = exists $headers{$name} ? "$headers{$name}, $value" : $value;
    }

    my $body = '';
    my $complete = 1;
    my $length = $headers{'content-length'};
    if (($method || '') eq 'HEAD') {
        $body = '';
    } elsif (defined $length) {
        while (length $$buffer < $length) {
            $self->fill($socket, $buffer) or last;
        }
        $complete = length $$buffer >= $length;
        $body = substr $$buffer, 0, $length, '';
    } elsif (($headers{'transfer-encoding'} || '') eq 'chunked') {
        ($body, $complete) = $self->chunks($socket, $buffer);
    } else {
        while ($self->fill($socket, $buffer)) { }
        $body = $$buffer;
        $$buffer = '';
    }
    return {
        status => $status, headers => \%headers, body => $body,
        complete => $complete,
    };
}

# (body, whether its last chunk came)
sub chunks {
    my ($self, $socket, $buffer) = @_;
    my $body = '';
    while (1) {
        while ($$buffer !~ /\A[0-9a-f]+\r\n/i) {
            $self->fill($socket, $buffer) or return ($body, 0);
        }
        my ($digits) = $$buffer =~ /\A([0-9a-f]+)/i;
        my $n = hex $digits;
        my $size = length($digits) + 2 + $n + 2;
        while (length $$buffer < $size) {
            $self->fill($socket, $buffer) or last;
        }
        $body .= substr $$buffer, length($digits) + 2, $n;
        return ($body, 0) if length $$buffer < $size;
        substr($$buffer, 0, $size) = '';
        return ($body, 1) if $n == 0;
    }
}

sub fill {
    my ($self, $socket, $buffer) = @_;
    my $end = time + $PATIENCE;
    while (!IO::Select->new($socket)->can_read(0.2)) {
        # a connection that waits in our own socket would never be accepted
        return 0 if $self->has_died;
        if (time > $end) {
            fail("no answer in $PATIENCE s");
            return 0;
        }
    }
    my $n = sysread $socket, $$buffer, 1 << 18, length $$buffer;
    return $n;
}

sub post {
    my ($self, $path, $body, @headers) = @_;
    return $self->request('POST', $path, body => $body, headers => \@headers);
}

# A form with files, one part per field.
sub form {
    my ($self, $path, %fields) = @_;
    my $boundary = 'boundary-of-the-form';
    my $body = join '', map { "--$boundary\r\nContent-Disposition: form-data; name=\"$_\"\r\n\r\n"
        . "$fields{$_}\r\n" } sort keys %fields;
    return $self->request('POST', $path, body => "$body--$boundary--\r\n",
        headers => ['Content-Type' => "multipart/form-data; boundary=$boundary"]);
}

sub post_json {
    my ($self, $path, $data, @headers) = @_;
    return $self->post($path, $JSON->encode($data), @headers);
}

sub json { return $JSON->encode($_[1]) }

sub DESTROY {
    my ($self) = @_;
    return if $self->{owner} != $$;
    local ($?, $@, $!);
    if (my $pid = delete $self->{pid}) {
        kill 'TERM', $pid;
        if (!defined reap($pid, 10)) {
            kill 'KILL', $pid;
            waitpid $pid, 0;
        }
    }
    if ($ENV{SYM_KEEP}) {
        diag("kept: $self->{dir}");
    } else {
        remove_tree($self->{dir});
    }
}

1;

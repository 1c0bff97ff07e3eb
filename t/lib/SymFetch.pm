package SymFetch;

# nginx, the loader's daemon and a server that fails as requested: for tests of
# modules that the store lacks.  Inherits all of SymTest.
#
#     my $t = SymFetch->new(workers => 2)->start;
#     $t->upload('a.so', $id);                   a small module, at the source
#     my $r = $t->ask(['a.so', $id], ...);       a v5 request
#     $t->found($r, 'a.so', $id);                true, false, undef (null); -1: not named
#     $t->function($r, 0);                       of the first module
#     $t->gets('a.so', $id);                     GETs of it at the source
#     $t->loader_stop; $t->loader_start;         the daemon
#
# Its default configuration has one source, "fault", which behaves as the fault
# server's script "src" says.  For another: new(how => directives next to
# symbolicate, sources => locations); %%FAULT%% is the fault server's address,
# %%LOADER%% the daemon's socket, %%FILES%% the folder of uploaded files.

use strict;
use warnings;

use parent 'SymTest';

use JSON::PP ();

use SymFault;
use SymLoader qw(sym_text);
use SymServe;

my $SOURCES = <<'CONF';
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
CONF
my $HOW = <<'CONF';
            symbolicate_source fault uri=/src/;
CONF

sub new {
    my ($class, %opt) = @_;
    my $self = $class->SUPER::new(
        how => '', sources => $SOURCES, serve => ['--jobs', 2],
        fault => $opt{fault} // SymFault->new(tls => delete $opt{tls})->start,
        %opt);
    my $how = ($self->{how} =~ /symbolicate_source/ ? '' : $HOW) . $self->{how};

    $self->{loader} = SymServe->new;
    $self->{loader}{store} = $self->store;
    return $self->conf(locations => <<"CONF");
        location /symbolicate {
            symbolicate;
            symbolicate_loader unix:%%LOADER%%;
            $how
        }
        location /__ { symbolicate_health; }
        $self->{sources}
CONF
}

sub expand {
    my ($self, $text) = @_;
    my $fault = $self->{fault};
    my %word = (FAULT => $fault->address, LOADER => $self->{loader}->socket_path,
        FAULTTLS => '127.0.0.1:' . ($fault->{tls_port} || 0),
        FILES => $fault->folder);

    $text =~ s/%%(FAULT|LOADER|FAULTTLS|FILES)%%/$word{$1}/g;
    return $self->SUPER::expand($text);
}

sub start {
    my ($self) = @_;
    $self->loader_start;
    return $self->SUPER::start;
}

sub fault { return $_[0]{fault} }
sub loader { return $_[0]{loader} }

# --- the daemon ---

# Its log goes to a file, so that a test need not read it all the time.
sub loader_start {
    my ($self, @args) = @_;
    my $loader = $self->{loader};

    $self->{daemon} = $loader->_spawn({}, 'serve', @{$self->{serve}}, @args);
    $loader->{daemon} = $self->{daemon};
    $self->wait_for(sub { $self->loader_log =~ /serve: listening on / },
        'the daemon listens') or die 'the daemon: ' . $self->loader_log;
    return $self;
}

sub loader_log {
    my ($self) = @_;
    return SymTest::slurp("$self->{daemon}{base}.err");
}

# { code, signal, err }
sub loader_stop {
    my ($self, $signal) = @_;
    kill($signal // 'TERM', $self->{daemon}{pid});
    delete $self->{loader}{daemon};
    return $self->{loader}->wait($self->{daemon});
}

# --- modules ---

# Distinct debug ids.
sub id {
    my ($n) = @_;
    return sprintf '%032X1', $n;
}

# The path below a source, for names that need no encoding.
sub path {
    my ($name, $id) = @_;
    (my $file = $name) =~ s/\.pdb\z//;
    return "$name/$id/$file.sym";
}

sub upload {
    my ($self, $name, $id, %o) = @_;
    $self->{fault}->file(path($name, $id), sym_text($name, $id, %o));
    return $self;
}

sub gets {
    my ($self, $name, $id) = @_;
    return $self->{fault}->count('/as/src/' . path($name, $id));
}

# --- requests ---

# A request for the first function of each module.
sub question {
    my ($self, @modules) = @_;
    return $self->json({ jobs => [{ memoryMap => [@modules],
        stacks => [[map { [$_, 0x1004] } 0 .. $#modules]] }] });
}

sub ask {
    my ($self, @modules) = @_;
    return $self->post('/symbolicate/v5', $self->question(@modules));
}

sub ask_with {
    my ($self, $headers, @modules) = @_;
    return $self->post('/symbolicate/v5', $self->question(@modules), @$headers);
}

# Sends a request without waiting: a socket for response().
sub begin {
    my ($self, @modules) = @_;
    my $socket = $self->connect;
    $self->send_all($socket, $self->request_text('POST', '/symbolicate/v5',
        body => $self->question(@modules)));
    return $socket;
}

sub found {
    my ($self, $r, $name, $id) = @_;
    my $found = $r->{json}{results}[0]{found_modules} || {};
    return -1 if !exists $found->{"$name/$id"};
    my $value = $found->{"$name/$id"};
    return defined $value ? ($value ? 1 : 0) : undef;
}

sub function {
    my ($self, $r, $n) = @_;
    return $r->{json}{results}[0]{stacks}[0][$n]{function};
}

# Why the modules of a 503 failed: { 'NAME/ID' => reason }.
sub reasons {
    my ($self, $r) = @_;
    return { map { ("$_->{debug_file}/$_->{debug_id}" => $_->{reason}) }
        @{$r->{json}{modules} || []} };
}

# Descriptors that a process holds.
sub descriptors {
    my ($pid) = @_;
    return scalar(() = glob("/proc/$pid/fd/*"));
}

# Files that were left behind in nginx's temporary folders.
sub temp_files {
    my ($self) = @_;
    my @files = split /\n/, `find '$self->{dir}/tmp' -type f`;
    return @files;
}

# Stops nginx, then the daemon, and returns all errors; '' is good.
sub end {
    my ($self) = @_;
    my $trouble = $self->stop->log_trouble;

    if ($self->{loader}{daemon}) {
        my $r = $self->loader_stop;
        $trouble .= "the daemon ended with " . ($r->{code} // "signal "
            . $r->{signal}) . "\n$r->{err}" if ($r->{code} // -1) != 0;
    }
    $trouble .= join "\n", 'temporary files:', $self->temp_files, ''
        if $self->temp_files;
    $trouble .= $self->{fault}->trouble;
    return $trouble;
}

1;

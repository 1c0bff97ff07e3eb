package SymFolder;

# nginx, the loader's daemon and a folder of symbol files as the source: for
# tests of records of modules, and of forgetting them.  Inherits all of SymTest.
#
#     my $t = SymFolder->new(workers => 2, how => directives)->start;
#     $t->upload('a.so', $id, prefix => 'x');     a small module, at the source
#     my $r = $t->ask(['a.so', $id], ...);        a v5 request
#     $t->function($r);                           the function of the first frame
#
# With new(held => 1) the source is a server instead, which answers when the
# test calls answer():
#     my $c = $t->asked;                          the next request that it gets
#     $t->answer($c, 200, $text);
#
# Locations: /symbolicate asks for symbols, /admin is one with symbolicate_admin
# on, /src/ is the source.  how: directives next to symbolicate in both; source:
# in /src/.

use strict;
use warnings;

use parent 'SymTest';

use IO::Select;
use IO::Socket::UNIX;
use SymLoader qw(sym_text write_file);
use SymServe;

sub new {
    my ($class, %opt) = @_;
    my $self = $class->SUPER::new(how => '', source => '', %opt);
    my ($dir, $how) = @$self{qw(dir how)};

    $self->{loader} = SymServe->new;
    $self->{loader}{store} = $self->store;
    mkdir "$dir/symbols";
    my $socket = $self->{loader}->socket_path;
    my $source = $self->{held} ? "proxy_pass http://unix:$dir/source:/;"
                               : "alias $dir/symbols/;";
    $self->hold if $self->{held};
    return $self->conf(locations => <<"CONF");
        symbolicate_loader unix:$socket;
        symbolicate_source folder uri=/src/;
        location /symbolicate { symbolicate; $how }
        location /admin { symbolicate; symbolicate_admin on; $how }
        location /__ { symbolicate_health; }
        location /src/ { internal; $source $self->{source} }
CONF
}

sub start {
    my ($self) = @_;
    $self->loader_start;
    return $self->SUPER::start;
}

sub loader { return $_[0]{loader} }

sub loader_start {
    my ($self) = @_;
    $self->{loader}->serve('--jobs', 2);
    $self->{is_serving} = 1;
    return $self;
}

sub loader_stop {
    my ($self) = @_;
    $self->{is_serving} = 0;
    return $self->{loader}->stop;
}

# --- modules ---

# Distinct debug ids.
sub id {
    my ($n) = @_;
    return sprintf '%032X1', $n;
}

# Path of a module in the folder, for names that need no encoding.
sub path {
    my ($name, $id) = @_;
    return "$name/$id/$name.sym";
}

sub file {
    my ($self, $name, $id) = @_;
    return "$self->{dir}/symbols/" . path($name, $id);
}

# Replaces a file atomically for its readers.
sub upload {
    my ($self, $name, $id, %o) = @_;
    my $file = $self->file($name, $id);
    my $text = $o{text} // sym_text($name, $id, %o);

    write_file("$file.new", $text);
    rename "$file.new", $file or die "$file: $!";
    return length $text;
}

# --- a source that waits for the test ---

sub hold {
    my ($self) = @_;
    $self->{held} = IO::Socket::UNIX->new(Local => "$self->{dir}/source",
        Listen => 64) or die "the source: $!";
    chmod 0777, "$self->{dir}/source";
    return;
}

sub is_asked {
    my ($self, $seconds) = @_;
    return IO::Select->new($self->{held})->can_read($seconds);
}

sub asked {
    my ($self) = @_;
    $self->is_asked($SymTest::PATIENCE) or die 'the source gets no request';
    my $c = $self->{held}->accept;
    my $head = '';
    while ($head !~ /\r\n\r\n/) {
        sysread $c, $head, 4096, length $head or last;
    }
    ${*$c}{symfolder_name} = $head =~ m{^GET /([^/]+)/} ? $1 : '';
    return $c;
}

# The path of the requested module.
sub name_asked {
    my ($self, $c) = @_;
    return ${*$c}{symfolder_name};
}

sub answer {
    my ($self, $c, $status, $text) = @_;
    my $length = length $text;
    $self->send_all($c,
        "HTTP/1.1 $status Any\r\nContent-Length: $length\r\n\r\n$text");
    close $c;
    return;
}

# --- requests ---

# A request for the first function of each module.
sub question {
    my ($self, @modules) = @_;
    return $self->json({ memoryMap => [@modules],
        stacks => [[map { [$_, 0x1004] } 0 .. $#modules]] });
}

sub ask {
    my ($self, @modules) = @_;
    return $self->post('/symbolicate/v5', $self->question(@modules));
}

# The same, without waiting: a socket for finish().
sub begin {
    my ($self, @modules) = @_;
    my $socket = $self->connect;
    $self->send_all($socket, $self->request_text('POST', '/symbolicate/v5',
        body => $self->question(@modules)));
    return $socket;
}

# Its answer.  An open socket would keep nginx waiting.
sub finish {
    my ($self, $socket) = @_;
    my $r = $self->response($socket);
    close $socket;
    return $r;
}

# The function of the first frame; "false" without symbols; else the status.
sub function {
    my ($self, $r) = @_;
    my $job = $r->{json}{results}[0] or return $r->{status};
    my ($found) = values %{$job->{found_modules}};
    return $job->{stacks}[0][0]{function} if $found;
    return defined $found ? 'false' : 'null';
}

sub forget {
    my ($self, $name, $id) = @_;
    return $self->request('DELETE', "/admin/cache/$name/$id");
}

sub explain {
    my ($self, $name, $id) = @_;
    return $self->request('GET', "/admin/explain/$name/$id");
}

# The store's own record, from another program.
sub store_has {
    my ($self, $name, $id) = @_;
    return scalar grep { $_ eq "$name/$id" } $self->{loader}->modules;
}

# Stops nginx, then the daemon, and returns all errors; '' is good.
sub end {
    my ($self) = @_;
    my $trouble = $self->stop->log_trouble;

    if ($self->{is_serving}) {
        my $r = $self->loader_stop;
        $trouble .= "the daemon: $r->{err}" if ($r->{code} // -1) != 0;
    }
    return $trouble;
}

sub DESTROY {
    my ($self) = @_;
    delete $self->{loader};
    $self->SUPER::DESTROY;
}

1;

package SymFolder;

# nginx, the loader's daemon and a folder of symbol files as the source: for
# tests of what is known of modules, and of forgetting it.  Inherits all of
# SymTest.
#
#     my $t = SymFolder->new(workers => 2, how => directives)->start;
#     $t->upload('a.so', $id, prefix => 'x');     a small module, at the source
#     my $r = $t->ask(['a.so', $id], ...);        a v5 request
#     $t->function($r);                           what it says of the first frame
#
# Locations: /symbolicate asks for symbols, /admin is one with symbolicate_admin
# on, /src/ is the source.  How: beside symbolicate in both; source: in /src/.

use strict;
use warnings;

use parent 'SymTest';

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
    return $self->conf(locations => <<"CONF");
        symbolicate_loader unix:$socket;
        symbolicate_source folder uri=/src/;
        location /symbolicate { symbolicate; $how }
        location /admin { symbolicate; symbolicate_admin on; $how }
        location /__ { symbolicate_health; }
        location /src/ { internal; alias $dir/symbols/; $self->{source} }
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

# Debug ids that differ.
sub id {
    my ($n) = @_;
    return sprintf '%032X1', $n;
}

# Where a module lies in the folder, for names that need no encoding.
sub path {
    my ($name, $id) = @_;
    return "$name/$id/$name.sym";
}

sub file {
    my ($self, $name, $id) = @_;
    return "$self->{dir}/symbols/" . path($name, $id);
}

# A file that others read while it is replaced is never half there.
sub upload {
    my ($self, $name, $id, %o) = @_;
    my $file = $self->file($name, $id);
    my $text = $o{text} // sym_text($name, $id, %o);

    write_file("$file.new", $text);
    rename "$file.new", $file or die "$file: $!";
    return length $text;
}

# --- requests ---

# For the first function of each module.
sub question {
    my ($self, @modules) = @_;
    return $self->json({ memoryMap => [@modules],
        stacks => [[map { [$_, 0x1004] } 0 .. $#modules]] });
}

sub ask {
    my ($self, @modules) = @_;
    return $self->post('/symbolicate/v5', $self->question(@modules));
}

# The function of the first frame; "false" without symbols; the status of an
# answer that is none.
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

# The store's own word for it, by another program.
sub store_has {
    my ($self, $name, $id) = @_;
    return scalar grep { $_ eq "$name/$id" } $self->{loader}->modules;
}

# nginx has ended, then the daemon: what is wrong, '' is good.
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

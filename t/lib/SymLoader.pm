package SymLoader;

# SymLoader - runs symloader for the tests of t/loader_*.t.
#
#     my $t = SymLoader->new;                  a new folder, without a store
#     my $r = $t->run('load', $file);          { code, signal, out, err }
#     my $r = $t->run({ stdin => "1000\n" }, 'lookup', $module);
#     my $p = $t->start('load', '/dev/stdin'); runs in parallel
#
# Everything is in one temporary folder.  It is removed at the end, and
# processes that a failed test left behind are killed.

use strict;
use warnings;

use Cwd qw(abs_path);
use Errno ();
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Cpanel::JSON::XS ();
use POSIX ();
use SymTools;
use Test::More ();

our @EXPORT_OK = qw(root write_file read_file sym_text module_line json_lines);

my $PATIENCE = 300;    # seconds

my $root = abs_path(dirname(__FILE__) . '/../..');

sub root { return $root }

sub write_file {
    my ($path, $text) = @_;

    make_path(dirname($path));
    open(my $fh, '>:raw', $path) or die "$path: $!";
    print $fh $text or die "$path: $!";
    close($fh) or die "$path: $!";
    return $path;
}

sub read_file {
    my ($path) = @_;

    open(my $fh, '<:raw', $path) or die "$path: $!";
    local $/;
    return scalar <$fh>;
}

sub module_line {
    my ($name, $id) = @_;
    return "MODULE Linux x86_64 $id $name\n";
}

# A small symbol file; %o: functions => N, lines => 1, inlines => 1, prefix.
sub sym_text {
    my ($name, $id, %o) = @_;
    my $n = $o{functions} // 3;
    my $prefix = $o{prefix} // 'f';
    my $text = module_line($name, $id) . "FILE 0 /src/$prefix.c\n";

    $text .= "INLINE_ORIGIN 0 ${prefix}_inlined\n" if $o{inlines};
    for my $i (0 .. $n - 1) {
        my $addr = 0x1000 + $i * 0x40;
        $text .= sprintf("FUNC %x 40 0 %s%d\n", $addr, $prefix, $i);
        $text .= sprintf("INLINE 0 7 0 0 %x 10\n", $addr) if $o{inlines};
        $text .= sprintf("%x 20 %d 0\n%x 20 %d 0\n", $addr, $i + 1,
                         $addr + 0x20, $i + 2)
            if $o{lines} || $o{inlines};
    }
    return $text;
}

sub json_lines {
    my ($text) = @_;
    my $reader = Cpanel::JSON::XS->new->utf8;
    return map { $reader->decode($_) } split /\n/, $text;
}

sub new {
    my ($class, %o) = @_;
    my $dir = tempdir('symloader-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my $build = $ENV{SYM_BUILD} // 'build';
    my $file = $o{faults} ? 't/symloader-faults' : 'symloader';
    my $program = $build =~ m{^/} ? "$build/$file" : "$root/$build/$file";

    -x $program or die "$program is not built\n";
    return bless { dir => $dir, store => "$dir/store", program => $program,
                   faults => $o{faults}, runs => 0, running => {} }, $class;
}

sub dir { return $_[0]{dir} }
sub store { return $_[0]{store} }

sub file {
    my ($t, $name, $text) = @_;
    return write_file("$t->{dir}/$name", $text);
}

# Forks symloader with its output in files (so it never blocks), or as given.
sub _spawn {
    my ($t, $o, @args) = @_;
    my $base = sprintf('%s/run.%d', $t->{dir}, ++$t->{runs});
    my @store = $o->{no_store} ? () : ('--store', $o->{store} // $t->{store});

    write_file("$base.in", $o->{stdin} // '');
    my $pid = fork() // die "fork: $!";
    if ($pid == 0) {
        eval {
            my ($in, $out, $err) = map { $o->{"${_}_fd"} } qw(in out err);
            defined $in ? open(STDIN, '<&=', $in)
                        : open(STDIN, '<', "$base.in") or die;
            defined $out ? open(STDOUT, '>&=', $out)
                         : open(STDOUT, '>', "$base.out") or die;
            defined $err ? open(STDERR, '>&=', $err)
                         : open(STDERR, '>', "$base.err") or die;
            # descriptors given that are not 0, 1, 2 become those
            POSIX::dup2(fileno(STDIN), 0);
            POSIX::dup2(fileno(STDOUT), 1);
            POSIX::dup2(fileno(STDERR), 2);
            delete $ENV{SYMBOLICATE_STORE};
            $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP PIPE);
            %ENV = (%ENV, %{ $o->{env} // {} });
            exec { $t->{program} } 'symloader', @args, @store;
        };
        POSIX::_exit(127);
    }
    $t->{running}{$pid} = 1;
    return { pid => $pid, base => $base };
}

# From now on the program is started by these lines of sh; the last one begins
# with exec.
sub _start_by {
    my ($t, $lines) = @_;

    $t->{program} = $t->file('limited',
                             "#!/bin/sh\n$lines '$t->{program}' \"\$@\"\n");
    chmod(0755, $t->{program}) or die "limited: $!";
    return;
}

# ... under a limit of ulimit(1).
sub limit {
    my ($t, $limit) = @_;
    return $t->_start_by("ulimit $limit\nexec");
}

# ... of root, without some capabilities.
sub without {
    my ($t, @capabilities) = @_;
    return $t->_start_by('exec setpriv --bounding-set='
                         . join(',', map {"-$_"} @capabilities));
}

# Waits for a started process; { code, signal, out, err }.
sub wait {
    my ($t, $p) = @_;

    # A loader that hangs fails its test, and the test continues.
    local $SIG{ALRM} = sub { kill('KILL', $p->{pid}) };
    alarm($PATIENCE);
    while (waitpid($p->{pid}, 0) != $p->{pid}) {
        $!{EINTR} or die "waitpid: $!";
    }
    my $status = $?;
    alarm(0);
    delete $t->{running}{ $p->{pid} };
    my ($out, $err) = map { -e "$p->{base}.$_" ? read_file("$p->{base}.$_")
                                               : '' } qw(out err);
    Test::More::fail("no sanitizer report: $err")
        if !$t->{faults} && $err =~ /Sanitizer|runtime error:/;
    return { code => $status & 127 ? undef : $status >> 8,
             signal => $status & 127, out => $out, err => $err };
}

sub run {
    my $t = shift;
    my $o = ref $_[0] ? shift : {};
    return $t->wait($t->_spawn($o, @_));
}

# Starts it in parallel: { pid, in, out } with a pipe to its standard input and
# one from its standard output.  $o as for run().
sub start {
    my $t = shift;
    my $o = ref $_[0] ? shift : {};

    pipe(my $in_read, my $in_write) or die;
    pipe(my $out_read, my $out_write) or die;
    my $p = $t->_spawn({ %$o, in_fd => fileno($in_read),
                         out_fd => fileno($out_write) }, @_);
    close($in_read);
    close($out_write);
    $in_write->autoflush(1);
    return { %$p, in => $in_write, out => $out_read };
}

# Dies with the output of verify if the store is not sound.
sub verify {
    my ($t) = @_;
    my $r = $t->run('verify');
    return 'sound' if defined $r->{code} && $r->{code} == 0;
    return "verify: $r->{out}$r->{err}";
}

# NAME/ID of all modules, in the order of ls.
sub modules {
    my ($t) = @_;
    return map { "$_->{name}/$_->{id}" } grep { exists $_->{name} }
        json_lines($t->run('ls', '--json')->{out});
}

sub DESTROY {
    my ($t) = @_;
    local $?;
    for my $pid (keys %{ $t->{running} }) {
        kill('KILL', $pid);
        waitpid($pid, 0);
    }
}

1;

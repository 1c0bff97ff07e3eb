#!/usr/bin/perl

# A folder may contain anything.  A pipe, socket, device, folder or link to
# itself in the place of a symbol file is not a symbol file: the module is
# absent.  A sparse file of 1 TB is refused.  None of them stops a worker, and
# another module in the request is answered.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Socket::UNIX;
use POSIX ();
use Test::More;

use SymFetch;
use SymLoader qw(write_file);

my $t = SymFetch->new(how => <<'HOW', sources => <<'CONF')->start;
            symbolicate_source folder uri=/folder/;
HOW
        location /folder/ { internal; alias %%FILES%%/; }
CONF

my %module;
my %path;
for my $what (qw(pipe socket device loop sparse folder)) {
    $module{$what} = ["$what.so", SymFetch::id(1 + keys %module)];
    $path{$what} = $t->fault->folder . '/' . SymFetch::path(@{ $module{$what} });
    write_file($path{$what}, '');
    unlink $path{$what} if $what ne 'sparse';
}

POSIX::mkfifo($path{pipe}, 0644) or die "mkfifo: $!";
# the name of a socket may have at most 107 bytes
chdir $path{socket} =~ s{/[^/]+\z}{}r or die "chdir: $!";
my $socket = IO::Socket::UNIX->new(Local => 'socket.so.sym', Listen => 1) or die "socket: $!";
chdir '/';
symlink '/dev/zero', $path{device} or die "symlink: $!";
symlink $path{loop}, $path{loop} or die "symlink: $!";
write_file($path{sparse}, SymLoader::module_line(@{ $module{sparse} }));
truncate $path{sparse}, 1 << 40 or die "truncate: $!";
mkdir $path{folder} or die "mkdir: $!";

# nginx does not serve these as files
for my $what (qw(pipe device folder)) {
    my $r = $t->ask($module{$what});
    is($r->{status}, 200, "a $what: an answer");
    is($t->found($r, @{ $module{$what} }), 0, '... absent');
}

# and cannot open these
for my $what (qw(socket loop)) {
    my $r = $t->ask($module{$what});
    is($r->{status}, 503, "a $what: an answer");
    like((values %{ $t->reasons($r) })[0], qr/answered with an error: (403|500)/,
         '... failed, with the reason');
}

{
    my $r = $t->ask($module{sparse});
    is($r->{status}, 200, 'a file of 1 TB: an answer');
    is($t->found($r, @{ $module{sparse} }), 0, '... it is not a symbol file');
    like($t->loader->run('show', join('/', @{ $module{sparse} }))->{out},
         qr/^state +malformed\n/m, '... malformed');
}

$t->upload('beside.so', SymFetch::id(100));
is($t->found($t->ask(['beside.so', SymFetch::id(100)]), 'beside.so', SymFetch::id(100)), 1,
   'a module next to them');

# nginx logs which files it cannot read
my $log = $t->stop->log_trouble;
my @lines = grep { !/ is not a regular file|open\(\) .*socket.*No such device/ }
    split /\n/, $log;
is_deeply(\@lines, [], 'the log has nothing else');
done_testing();

package SymExample;

# Builds a copy of the tree with one more API or format in it: a file, and a row
# at the end of a table.

use strict;
use warnings;

use Exporter 'import';
use File::Temp qw(tempdir);
use Test::More;

use SymLoader qw(root read_file write_file);
use SymTest;

our @EXPORT_OK = qw(build_with build_example);

my %made_of = (
    API    => { folder => 'core/api', target => 'module',
                copied => [ qw(config Makefile core ngx_symbolicate_module) ] },
    FORMAT => { folder => 'core/formats', target => 'build/symloader',
                copied => [ qw(Makefile core loader) ] },
);

# build_with('API', 'where', $code) compiles core/api/where/where.c.  Gives the
# folder of the build: local $ENV{SYM_BUILD}.
sub build_with {
    my ($macro, $name, $code) = @_;
    my $of = $made_of{$macro};
    my $copy = tempdir(CLEANUP => 1);
    system('cp', '-R', map({ root() . "/$_" } @{ $of->{copied} }), $copy) == 0
        or die 'copying failed';

    my $table = read_file("$copy/$of->{folder}/list.h");
    $table =~ s/^(#define SYM_\w+\($macro\) +\\\n(?:.*\\\n)*.*)\n/$1 \\\n    $macro($name)\n/m
        or die 'no table';
    write_file("$copy/$of->{folder}/list.h", $table);
    write_file("$copy/$of->{folder}/$name/$name.c", $code);

    # Warnings are errors, as they are for our own.  It takes all tools of a build.
    my $log = "$copy/log";
    local $ENV{PATH} = $ENV{SYM_PATH};
    my $made = SymTest::run_quietly($log, 'timeout', 900, 'make', '-s', '-j2', '-C',
        $copy, $of->{target}, 'BUILD=build', 'CFLAGS=-O1 -g0', 'SANFLAGS=');
    is($made, 0, 'it builds') or BAIL_OUT(read_file($log));
    return "$copy/build";
}

# The same with the example of a section of docs/design/adding.md.  Gives the
# section, too.
sub build_example {
    my ($macro, $heading, $name) = @_;
    my $folder = $made_of{$macro}{folder};
    my ($section) = read_file(root() . '/docs/design/adding.md')
        =~ /^## \Q$heading\E\n(.*?)(?=^## |\z)/ms or die 'no section';
    my ($code) = $section =~ /^`\Q$folder\E\/$name\/$name\.c`:\n\n```c\n(.*?)^```/ms
        or die 'no code';
    like($section, qr/\Q$folder\E\/list\.h`:\n\n```c\n    $macro\($name\)\n```/, 'one row');
    return (build_with($macro, $name, $code), $section);
}

1;

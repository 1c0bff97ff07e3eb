package SymExample;

# Builds a copy of the tree with the worked examples of docs/design/adding.md in
# it: their files, and a row at the end of a table for each.  The copy stays in
# the folder of the build, for the next test that needs it.

use strict;
use warnings;

use Exporter 'import';
use Fcntl qw(:flock);
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use List::Util qw(max);
use Test::More;

use SymLoader qw(root read_file write_file);
use SymTest;

our @EXPORT_OK = qw(build_examples adding_section);

my @COPIED = qw(config Makefile core loader ngx_symbolicate_module page);
my @SECTIONS = ('A kind', 'A format', 'An API');
my $DOC = 'docs/design/adding.md';

# APIs of the tests: t/api/NAME.c.
my @APIS = qw(quote trail);

sub adding_section {
    my ($heading) = @_;
    my ($section) = read_file(root() . "/$DOC") =~ /^## \Q$heading\E\n(.*?)(?=^## |\z)/ms
        or die "no section $heading";
    return $section;
}

sub modified { return (stat root() . "/$_[0]")[9] }

# As old as its source text, so that make builds only what has changed.
sub put {
    my ($path, $text, @from) = @_;
    my $modified = max(map { modified($_) } @from);
    make_path(dirname($path));
    write_file($path, $text);
    utime $modified, $modified, $path or die "$path: $!";
    return;
}

# Files of the examples, and rows of tables.
sub put_examples {
    my ($copy) = @_;
    my %rows = ('core/api/list.h' => [ map {"API($_)"} @APIS ]);
    put("$copy/core/api/$_/$_.c", read_file(root() . "/t/api/$_.c"), "t/api/$_.c") for @APIS;

    for my $heading (@SECTIONS) {
        my $section = adding_section($heading);
        my $n = 0;
        while ($section =~ /`(core\/\S+\.[ch])`[^`\n]*:\n\n```c\n(.*?)^```/msg) {
            my ($path, $text) = ($1, $2);
            if ($path =~ m{/list\.h\z}) {
                push @{ $rows{$path} }, $text =~ s/^\s+|\s+\z//gr;
            } else {
                put("$copy/$path", $text, $DOC);
                $n++;
            }
        }
        ok($n, "$heading: files of its example");
    }

    for my $list (sort keys %rows) {
        my $table = read_file("$copy/$list");
        for my $row (@{ $rows{$list} }) {
            my ($macro) = $row =~ /^(\w+)\(/ or die "no row: $row";
            $table =~ s/^(#define SYM_\w+\($macro\) +\\\n(?:.*\\\n)*.*)\n/$1 \\\n    $row\n/m
                or die "no table for $row";
        }
        put("$copy/$list", $table, $list, $DOC);
    }
    return;
}

# Returns the folder of the build: local $ENV{SYM_BUILD}.
sub build_examples {
    my $copy = SymTest::build_dir() . '/t/examples';

    make_path($copy);
    open my $lock, '>', "$copy/lock" or die "$copy/lock: $!";
    flock $lock, LOCK_EX or die "$copy/lock: $!";
    remove_tree(map {"$copy/$_"} @COPIED);
    system('cp', '-a', map({ root() . "/$_" } @COPIED), $copy) == 0
        or die 'copying failed';
    put_examples($copy);

    # Warnings are errors, as for our own code.  It needs all tools of a build.
    my $log = "$copy/log";
    local $ENV{PATH} = $ENV{SYM_PATH};
    my $made = SymTest::run_quietly($log, 'timeout', 900, 'make', '-s', '-j2', '-C',
        $copy, 'all', 'BUILD=build', 'CFLAGS=-O0 -g0', 'HARDEN=', 'SANFLAGS=');
    is($made, 0, 'it builds') or BAIL_OUT(read_file($log));
    return "$copy/build";
}

1;

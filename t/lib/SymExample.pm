package SymExample;

# Builds a copy of the tree with more APIs, or one more format, in it: a file for
# each, and a row at the end of a table.  The copy stays in the folder of the
# build, so that the next test that needs it has it.

use strict;
use warnings;

use Exporter 'import';
use Fcntl qw(:flock);
use File::Path qw(make_path remove_tree);
use Test::More;

use SymLoader qw(root read_file write_file);
use SymTest;

our @EXPORT_OK = qw(build_examples adding_section);

# An example is the code of a section of docs/design/adding.md, or a file of t/.
my %made_of = (
    API    => { folder => 'core/api', target => 'module',
                copied => [ qw(config Makefile core ngx_symbolicate_module page) ],
                examples => { where => 'An API', quote => 't/api/quote.c' } },
    FORMAT => { folder => 'core/formats', target => 'build/symloader',
                copied => [ qw(Makefile core loader) ],
                examples => { flat => 'A format' } },
);

my $DOC = 'docs/design/adding.md';

# Its section that shows how to add one.
sub adding_section {
    my ($macro) = @_;
    my ($heading) = grep { !m{/} } values %{ $made_of{$macro}{examples} };
    my ($section) = read_file(root() . "/$DOC")
        =~ /^## \Q$heading\E\n(.*?)(?=^## |\z)/ms or die 'no section';
    return $section;
}

# (code, the file that it comes from)
sub example {
    my ($macro, $name) = @_;
    my $from = $made_of{$macro}{examples}{$name};
    return (read_file(root() . "/$from"), $from) if $from =~ m{/};

    my ($folder, $section) = ($made_of{$macro}{folder}, adding_section($macro));
    my ($code) = $section =~ /^`\Q$folder\E\/$name\/$name\.c`:\n\n```c\n(.*?)^```/ms
        or die 'no code';
    like($section, qr/\Q$folder\E\/list\.h`:\n\n```c\n    $macro\($name\)\n```/, 'one row');
    return ($code, $DOC);
}

# As old as the file that the text comes from: make builds what has changed.
sub put {
    my ($path, $text, $from) = @_;
    write_file($path, $text);
    my $modified = (stat root() . "/$from")[9];
    utime $modified, $modified, $path or die "$path: $!";
    return;
}

# build_examples('API') gives the folder of the build: local $ENV{SYM_BUILD}.
sub build_examples {
    my ($macro) = @_;
    my $of = $made_of{$macro};
    my @names = sort { $of->{examples}{$b} =~ m{/} <=> $of->{examples}{$a} =~ m{/} || $a cmp $b }
        keys %{ $of->{examples} };
    my $copy = SymTest::build_dir() . '/t/example-' . lc $macro;

    make_path($copy);
    open my $lock, '>', "$copy/lock" or die "$copy/lock: $!";
    flock $lock, LOCK_EX or die "$copy/lock: $!";
    remove_tree(map {"$copy/$_"} @{ $of->{copied} });
    system('cp', '-a', map({ root() . "/$_" } @{ $of->{copied} }), $copy) == 0
        or die 'copying failed';

    my $table = read_file("$copy/$of->{folder}/list.h");
    for my $name (@names) {
        $table =~ s/^(#define SYM_\w+\($macro\) +\\\n(?:.*\\\n)*.*)\n/$1 \\\n    $macro($name)\n/m
            or die 'no table';
        mkdir "$copy/$of->{folder}/$name" or die "$name: $!";
        put("$copy/$of->{folder}/$name/$name.c", example($macro, $name));
    }
    put("$copy/$of->{folder}/list.h", $table, "$of->{folder}/list.h");

    # Warnings are errors, as they are for our own.  It takes all tools of a build.
    my $log = "$copy/log";
    local $ENV{PATH} = $ENV{SYM_PATH};
    my $made = SymTest::run_quietly($log, 'timeout', 900, 'make', '-s', '-j2', '-C',
        $copy, $of->{target}, 'BUILD=build', 'CFLAGS=-O0 -g0', 'HARDEN=', 'SANFLAGS=');
    is($made, 0, 'it builds') or BAIL_OUT(read_file($log));
    return "$copy/build";
}

1;

package SymApi;

# nginx's module with one more API: a copy of the tree is built.
#
#     my $build = SymApi::build(where => $code);    core/api/where/where.c
#     local $ENV{SYM_BUILD} = $build;               while nginx starts
#
# Its row goes to the end of the table; another table may be given.

use strict;
use warnings;

use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

use SymTest;

sub spurt {
    my ($file, $text) = @_;
    open my $fh, '>', $file or die "$file: $!";
    print $fh $text;
    close $fh or die "$file: $!";
    return;
}

# The table of APIs, and the names in it.
sub table {
    my $list = SymTest::slurp(SymTest->root . '/core/api/list.h');
    my ($table) = $list =~ /^(#define SYM_APIS\(API\) +\\\n(?:.*\\\n)*.*\n)/m or die 'no table';
    return ($table, names($table));
}

sub names {
    my ($table) = @_;
    return $table =~ /^ +API\((\w+)\)/mg;
}

sub build {
    my ($name, $code, $row) = @_;
    my $root = SymTest->root;
    my $copy = tempdir(CLEANUP => 1);
    my $list = SymTest::slurp("$root/core/api/list.h");
    my ($table, @names) = table();

    $row //= join(" \\\n", '#define SYM_APIS(API)', map {"    API($_)"} @names, $name) . "\n";
    system('cp', '-R', map({"$root/$_"} qw(config Makefile core ngx_symbolicate_module)),
        $copy) == 0 or die 'copying failed';
    $list =~ s/\Q$table\E/$row/;
    spurt("$copy/core/api/list.h", $list);
    make_path("$copy/core/api/$name");
    spurt("$copy/core/api/$name/$name.c", $code);

    # Warnings are errors, as they are for our own.  It takes all tools of a build.
    my $log = "$copy/log";
    my $made = do {
        local $ENV{PATH} = $ENV{SYM_PATH};
        SymTest::run_quietly($log, 'timeout', 900, 'make', '-s', '-j2', '-C', $copy,
            'module', 'BUILD=build', 'CFLAGS=-O1 -g0', 'SANFLAGS=');
    };
    is($made, 0, 'it builds') or do {
        diag(SymTest::slurp($log));
        BAIL_OUT('the copy of the tree does not build');
    };
    return "$copy/build";
}

1;

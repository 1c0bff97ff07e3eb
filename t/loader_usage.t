#!/usr/bin/perl

# Scripts depend on exit codes, and people on errors that say what to do
# instead: every wrong command line gives 2 and an error, and help never fails.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(root read_file);

my $t = SymLoader->new;
my @commands = qw(load lookup dump atos retrace symbolicate walk profile fileid push-symbols mirror ls show rm verify stat missing evict init serve);
my $module = 'xul.pdb/44E4EC8C2F41492B9369D6B9A059577C2';

my @wrong = (
    [ [], qr/a command is missing/ ],
    [ ['nonsense'], qr/unknown command: nonsense/ ],
    [ ['vrefiy'], qr/unknown command: vrefiy; did you mean verify\? \(see symloader --help\)/ ],
    [ ['x'], qr/unknown command: x \(see/ ],
    [ [ 'help', 'loda' ], qr/unknown command: loda; did you mean load\?/ ],
    [ [ 'ls', '--jsno' ], qr/unknown option: --jsno; did you mean --json\?/ ],
    [ [ 'ls', '--quite' ], qr/unknown option: --quite \(see symloader ls --help\)/ ],
    [ [ 'load', '--quite', 'x' ], qr/unknown option: --quite; did you mean --quiet\?/ ],
    [ [ 'atos', '-ofset' ], qr/unknown option: -ofset; did you mean -offset\?/ ],
    [ ['--nonsense', 'ls'],
      qr/unknown option: --nonsense \(see symloader --help\)/ ],
    [ ['ls', '--nonsense'],
      qr/unknown option: --nonsense \(see symloader ls --help\)/ ],
    [ ['load'], qr/missing operand.*\(see symloader load --help\)/ ],
    [ ['lookup'], qr/missing operand/ ],
    [ ['rm'], qr/missing operand/ ],
    [ ['dump'], qr/missing operand/ ],
    [ [ 'dump', 'nosuch' ], qr/nosuch: no such file, and not a module; expected/ ],
    [ [ 'dump', '/no/such.debug' ], qr/no such file/ ],
    [ [ 'dump', '/' ], qr/the folder is not a dSYM bundle/ ],
    [ [ 'dump', '--format', 'elf', $module ], qr/invalid value.*format/ ],
    [ [ 'dump', $module, '-o', '' ], qr/invalid value.*output/ ],
    [ [ 'ls', '-o', 'x' ], qr/not an option of this command: output/ ],
    [ [ 'ls', 'a', 'what' ], qr/unexpected operand: what/ ],
    [ [ 'show', $module, $module ], qr/unexpected operand/ ],
    [ [ 'ls', '--jobs', 2 ], qr/not an option of this command: jobs/ ],
    [ [ 'rm', '--json', $module ], qr/not an option of this command: json/ ],
    [ [ 'load', '--jobs' ], qr/missing value: --jobs|invalid value/ ],
    [ ['evict'], qr/use --to SIZE/ ],
    [ [ 'lookup', $module, 'xyz' ], qr/xyz: not a hexadecimal address/ ],
    [ [ 'lookup', $module, '10', '-' ], qr/-: not a hexadecimal address/ ],
    [ [ 'lookup', $module, '11112222333344445' ], qr/not a hexadecimal/ ],
);

push @wrong, map { [ [ 'load', '--jobs', $_, 'x' ], qr/invalid value.*jobs/ ] }
    (0, -1, 257, 'many', '1k', '');
push @wrong, map { [ [ 'evict', '--to', $_ ], qr/invalid value.*to/ ] }
    ('', 'k', '-1', '1kb', '1.5g', '0x10', '18446744073709551616',
     '16777216t');
push @wrong, map { [ [ 'init', '--quota', $_ ], qr/invalid value.*quota/ ] }
    (0, '1x');
push @wrong, map { [ [ 'init', '--max-readers', $_ ], qr/invalid value/ ] }
    (0, 100000);
push @wrong, map { [ [ 'serve', @$_ ], qr/invalid value/ ] }
    [ '--fetch-timeout', '0' ], [ '--fetch-timeout', 'm' ],
    [ '--fetch-timeout', '1d' ], [ '--convert-time', '5000000000' ],
    [ '--convert-time', '99999999h' ], [ '--socket-mode', '8' ],
    [ '--max-unused', '0' ], [ '--max-unused', '1w' ],
    [ '--max-unused', '50000d' ], [ '--socket-mode', '1777' ], [ '--socket-mode', 'rw' ], [ '--socket', '' ];
push @wrong, [ [ 'init', '--group', 'no-such-group-here' ],
               qr/no-such-group-here: no such group/ ];
push @wrong, map { [ [ 'load', '--convert-memory', $_, 'x' ], qr/invalid value/ ] }
    ('1m', 'all');
push @wrong, map { [ [ 'show', $_ ], qr/not a module; expected NAME\/ID/ ] }
    ('xul.pdb', "xul.pdb/", "/44E4EC8C2F41492B9369D6B9A059577C2",
     'xul.pdb/44E4', 'a/b/44E4EC8C2F41492B9369D6B9A059577C2',
     'xul.pdb/44E4EC8C2F41492B9369D6B9A05957ZZ2', ('n' x 256) . '/' . '0' x 33);

for my $case (@wrong) {
    my ($args, $message) = @$case;
    my $r = $t->run(@$args);
    my $shown = join ' ', map { length($_) > 40 ? substr($_, 0, 40) : $_ } @$args;

    is($r->{code}, 2, "exit code of: $shown");
    like($r->{err}, qr/^symloader: .*$message/, "... says why");
    is($r->{out}, '', '... and nothing on stdout');
}

ok(!-e $t->store, 'none of them created a store');

my $r = $t->run({ no_store => 1 }, 'ls');
is($r->{code}, 2, 'no store named');
like($r->{err}, qr/--store PATH or set SYMBOLICATE_STORE/,
    '... and what to do');

$r = $t->run({ no_store => 1, env => { SYMBOLICATE_STORE => $t->store } },
             'init');
is($r->{code}, 0, 'the environment names the store');
ok(-d $t->store, '... and it is created');

$r = $t->run({ no_store => 1, env => { SYMBOLICATE_STORE => '/nonexistent' } },
             '--store', $t->store, 'ls');
is($r->{code}, 0, 'the option overrides the environment');

# --- help and version ---

$r = $t->run({ no_store => 1 }, '--version');
is($r->{code}, 0, '--version');
like($r->{out}, qr/^symloader \d+\.\d+\.\d+$/, '... prints it');

my ($version) = $r->{out} =~ /^(.*)$/m;

$r = $t->run({ no_store => 1 }, '--help');
is($r->{code}, 0, '--help');
like($r->{out}, qr/^  \Q$_\E +\S/m, "... lists $_") for @commands;

my %help = map { $_ => $t->run({ no_store => 1 }, $_, '--help') } @commands;
for my $command (@commands) {
    is($help{$command}{code}, 0, "$command --help");
    like($help{$command}{out}, qr/^Usage: symloader \Q$command\E /,
         '... is about it');
    for my $other (['help', $command], [$command, '-h']) {
        is_deeply($t->run({ no_store => 1 }, @$other), $help{$command},
                  "@$other prints the same");
    }
}
is_deeply($t->run({ no_store => 1 }, @$_), $r, "@$_ prints the same as --help")
    for ['-h'], ['help'];

# The reason itself, not its class, because the disk is fine.
$r = $t->run({ store => '/nonexistent/store' }, 'init');
like($r->{err}, qr/^symloader: \/nonexistent\/store: cannot make the store's folder: No such file/,
     'a folder that does not exist');
$r = $t->run('load', '/nonexistent');
like($r->{err}, qr/^symloader: \/nonexistent: cannot be read: No such file/,
     'a file that does not exist');

$r = $t->run({ no_store => 1 }, '--help');

# --- the man page and --help document the same ---

my $man = read_file(root() . '/docs/use/symloader.1');
$man =~ s/\\-/-/g;
my %in_help = map { $_ => 1 }
    map { $_->{out} =~ /^  (?:-\w, )?--([a-z-]+)/mg } $r, values %help;
my %in_man = map { $_ => 1 } $man =~ /--([a-z]+(?:-[a-z]+)*)/g;

ok(keys %in_help >= 14, 'help shows the options');
is_deeply([ sort keys %in_man ], [ sort keys %in_help ],
          'the man page explains the same options');
like($man, qr/^\.TH SYMLOADER 1 \S+ "\Q$version\E"/,
     'the man page is about this version');
like($man, qr/^\.SS \Q$_\E$/m, "the man page has a section on $_")
    for @commands;
like($man, qr/^\.B $_$/m, "the man page explains exit code $_") for 0 .. 5;

my $warnings = `LC_ALL=C.UTF-8 MANROFFSEQ= man --warnings=w -E UTF-8 -l \\
    -Tutf8 -Z '@{[root()]}/docs/use/symloader.1' 2>&1 >/dev/null`;
is($warnings, '', 'the man page formats without a warning');

done_testing();

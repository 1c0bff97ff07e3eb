#!/usr/bin/perl

# The main property: for real symbol files of other tools, the compiled store
# gives the answers of the file's text, at every edge of every function, line,
# inlined call and public symbol, and at random addresses.  The expected answers
# come from t/lib/sym_oracle.py, which shares no code with ours.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFixtures qw(fixtures);
use SymLoader qw(root read_file json_lines);
use SymTest;

my $lib = "$FindBin::Bin/lib";
my $t = SymLoader->new;
my @where = (SymTest::is_slow() ? () : '--all-boundaries', '--random', 3000);

sub oracle {
    my ($file, $name, @args) = @_;
    my $path = $t->dir . "/$name.expected";
    system("python3 '$lib/sym_oracle.py' '$file' @args >'$path'") == 0
        or die "the oracle failed on $file\n";
    return $path;
}

for my $file (sort glob(fixtures('symbols') . '/*/*/*.sym')) {
    my ($module) = $file =~ m{([^/]+/[^/]+)/[^/]+$};
    my ($name) = $file =~ m{([^/]+)$};

    # Both linux_inline files are the same module: one at a time.
    is($t->run('load', '--force', $file)->{code}, 0, "$name loads");

    my $expected = oracle($file, $name, @where);
    my $addrs = join '', map { sprintf "%x\n", $_ }
        read_file($expected) =~ /^\{"addr": (\d+)/mg;
    my $json = $t->run({ stdin => $addrs }, 'lookup', '--json', $module);
    my $text = $t->run({ stdin => $addrs }, 'lookup', $module, '-');
    my @paths = map { $t->file(@$_) } [ "$name.json", $json->{out} ],
        [ "$name.text", $text->{out} ];

    is($json->{err} . $text->{err}, '', '... answers without complaint');
    my $result = `python3 '$lib/loader_compare.py' '$expected' @paths`;
    like($result, qr/\A\d{3,} answers, 0 differ\n\z/,
         '... the answers are those of the text');
    diag($result) if $result !~ /, 0 differ/;

    # Addresses as arguments, in the forms that people paste.
    my ($addr) = $addrs =~ /\n([0-9a-f]+)\n/;
    my @same = map { $t->run('lookup', $module, $_)->{out} } $addr, "0x$addr",
        "0X\U$addr", "000$addr";
    is_deeply(\@same, [ ($same[0]) x 4 ], '... however an address is written');

    # Facts of the module.
    my ($facts) = json_lines(`python3 '$lib/sym_oracle.py' '$file' --module`);
    my ($shown) = json_lines($t->run('show', '--json', $module)->{out});
    is($shown->{$_}, $facts->{$_} // '', "... show: $_")
        for qw(os arch code_id code_file);
    is($shown->{file}, $file, '... show: file');
    is($shown->{file_bytes}, -s $file, '... show: file_bytes');

    my %count = (functions => 'FUNC', publics => 'PUBLIC');
    for my $key (sort keys %count) {
        my $n = () = read_file($file) =~ /^$count{$key} /mg;
        is($shown->{$key}, $n, "... show: $key");
    }
}

is($t->verify, 'sound', 'the store is sound');

# The man page's example must be correct.
my $man = read_file(root() . '/docs/use/symloader.1');
my ($args, $example) =
    $man =~ /^\$ symloader (lookup linux_inline\S+ \w+)\n(.*?)^\.EE/ms;
is($t->run('load', '--force', glob(fixtures('symbols')
            . '/linux_inline/*/linux_inline.new.sym'))->{code}, 0,
   'the example module loads');
is($t->run(split / /, $args)->{out}, $example,
   "the man page's example is the real output");

done_testing();

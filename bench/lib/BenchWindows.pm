package BenchWindows;

# PDBs of Windows and portable PDBs of .NET, compared with Sentry's readers, in
# Rust (bench/peers/symbolic): conversion to an artifact in the store with the
# conversion to a symcache, and lookups of methods and offsets.

use strict;
use warnings;

use File::Path qw(make_path remove_tree);
use List::Util qw(sum);

use Bench qw(command pairs spurt);
use BenchDwarf;
use BenchKit qw($data $loader $rounds is_quick row note thousands mb stat_of
                watch slurp_through peer seconds_text);

# `./dev accuracy` uses the files that are made here, too.
sub cache { return "$BenchKit::root/var/accuracy" }

# Each side converts all files with one command.
sub convert_rows {
    my ($files, $peer, $name, $what, %target) = @_;
    my $store = "$data/store-windows";
    my $out = "$data/peers/converted";

    remove_tree($out);
    make_path($out);
    slurp_through($_) for @$files;
    my ($one, $theirs) = pairs($rounds,
        sub { BenchDwarf::load($store, 1, @$files) },
        sub { watch($peer, 'convert-all', $out, @$files) });
    my $time = $one->{cpu} / $theirs->{cpu};
    my $memory = $one->{rss} / $theirs->{rss};
    my $bytes = stat_of($store)->{live_bytes};
    my $converted = sum(map { -s } glob "$out/*");
    my $size = $bytes / $converted;
    my $read = sum(map { -s } @$files);
    my $rate = $read / 1e6 / $one->{cpu};

    row("$name: $what to store, CPU time", seconds_text($one->{cpu}),
        'symbolic ' . seconds_text($theirs->{cpu}), sprintf('%.2f', $time),
        sprintf('<= %.2f', $target{time}), $time <= $target{time});
    row('  MB/s, a core', sprintf('%.0f', $rate), mb($read), '',
        ">= $target{rate}", $rate >= $target{rate}) if $target{rate};
    row('  peak memory, all processes', mb($one->{rss}),
        'symbolic ' . mb($theirs->{rss}), sprintf('%.2f', $memory),
        $target{memory}
            ? (sprintf('<= %.2f', $target{memory}), $memory <= $target{memory}) : '');
    row('  bytes', thousands($bytes), 'symbolic ' . thousands($converted),
        sprintf('%.2f', $size),
        $target{memory} ? ('<= 0.5', $size <= 0.5) : '');
    return $store;
}

sub case_pdb {
    my $peer = peer('peer_objects') // return;
    my $to = cache() . '/windows';
    my $name = is_quick() ? 'small' : 'large';
    my $file = "$to/$name.pdb";

    if (!make_pdb($to, "$name.pdb")) {
        note('PDBs were not measured: clang, lld and mingw-w64 are needed.');
        return;
    }
    my @target = (time => 0.25, rate => 400);
    my $store = convert_rows([$file], $peer, "$name.pdb", 'PDB', @target,
                             memory => 1 / 3);
    BenchDwarf::threads_row('two threads, by the clock', "$name.pdb", $file);

    threads_of_five($to) if !is_quick();

    my @tree = tree('windows');
    convert_rows(\@tree, $peer, "tree of MSVC's", scalar(@tree) . ' PDBs', @target)
        if @tree;
    remove_tree($store);
    return;
}

# Start and commit take a tenth of one file's time, so several are loaded.
sub threads_of_five {
    my ($to) = @_;
    my @names = map { "large$_.pdb" } '', '-1', '-2', '-3', '-4';

    if (grep { !make_pdb($to, $_) } @names) {
        note('Five large PDBs were not measured: they could not be linked.');
        return;
    }
    BenchDwarf::threads_row('two threads, five like it', 'large.pdb',
                            map { "$to/$_" } @names);
    return;
}

# Made by clang and lld; false: they cannot.
sub make_pdb {
    my ($to, $file) = @_;
    return system('make', '-s', '-f', 'bench/windows/Makefile', "TO=$to",
                  "$to/$file") == 0;
}

sub case_ppdb {
    my $peer = peer('peer_objects') // return;
    my $package = 'nerdbank-gitversioning@3.10.94';
    my $file = "$data/LibGit2Sharp.pdb";
    my $dir = "$data/peers/npm";

    if (!-e $file) {
        make_path($dir);
        if (system("cd $dir && npm pack --silent $package >pack.log 2>&1"
                   . ' && tar -xzf *.tgz') != 0
            || system('python3', 'bench/accuracy/portable.py',
                      "$dir/package/nbgv.cli/tools/net8.0/any/LibGit2Sharp.dll",
                      $file) != 0)
        {
            note("Portable PDBs were not measured: npm has no $package.");
            return;
        }
    }

    portable_tree_rows($peer);
    my $store = convert_rows([$file], $peer, 'LibGit2Sharp.pdb',
                             'portable PDB', time => 1 / 3);
    spurt("$file.asked", command('python3', 'bench/accuracy/portable.py',
                                 $file));
    my ($module, $id) = command($loader, 'ls', '--store', $store)
        =~ m{(\S+)/([0-9A-F]{33,40})$}m or die "bench: no module in $store\n";
    my ($ours, $theirs) = pairs($rounds,
        sub { told("$file.asked", 'build/bench/bench_positions', 'ppdb', $store, $module,
                   $id) },
        sub { told("$file.asked", $peer, 'time', $file) });

    row('  lookup of a method and an offset',
        sprintf('%.0f ns', $ours->{ns}), sprintf('symbolic %.0f ns',
                                                 $theirs->{ns}),
        sprintf('%.2f', $ours->{ns} / $theirs->{ns}), '<= 200 ns',
        $ours->{ns} <= 200);
    remove_tree($store);
    return;
}

# Files that packages contain, the largest last; none if a package is not
# available.
sub tree {
    my ($kind) = @_;
    my $dir = "$data/$kind-tree";

    remove_tree("$dir.new");
    if (!-d $dir
        && system('python3', 'bench/accuracy/pdb_tree.py', $kind,
                  "$data/peers/$kind", "$dir.new") == 0)
    {
        rename "$dir.new", $dir or die "bench: $dir: $!\n";
    }

    my @files = sort { -s $a <=> -s $b } glob "$dir/*.pdb";
    note("A tree of $kind PDBs was not measured: PyPI or npm lacks a package.")
        if !@files;
    return @files;
}

# One small file would only measure the start of programs; these are as many as
# a symbol tree contains, and the largest that was found in a package.
sub portable_tree_rows {
    my ($peer) = @_;
    my @files = tree('portable') or return;

    convert_rows(\@files, $peer, 'tree', scalar(@files) . ' portable PDBs',
                 time => 1 / 3);
    convert_rows([$files[-1]], $peer, $files[-1] =~ m{([^/-]+)$},
                 'portable PDB', time => 1 / 3);
    return;
}

# The nanoseconds that a program prints.
sub told {
    my ($in, @command) = @_;
    my $said = command('sh', '-c', 'exec taskset -c 0 "$@" <"$0"', $in,
                       @command);
    return { ns => $said =~ /([0-9.]+) ns/ ? $1 : die "bench: $said\n" };
}

1;

package BenchDwarf;

# Debug files of real programs, from Debian's -dbg packages, compared with
# LLVM's tools: conversion to a symcache in the store with llvm-gsymutil,
# lookups with llvm-gsymutil and llvm-symbolizer.  Unavailable packages are
# omitted; without LLVM's tools everything here is.

use strict;
use warnings;

use File::Path qw(make_path remove_tree);
use List::Util qw(max min);
use Time::HiRes qw(time);

use Bench qw(command median pairs slurp spurt);
use BenchKit qw($data $loader $rounds is_quick row note thousands mb stat_of
                watch slurp_through);

my @packages = (
    [ libjvm => 'openjdk-17-dbg', 'libjvm.so' ],
    [ 'ceph-osd' => 'ceph-osd-dbg', 'ceph-osd' ],
);
my $lookups = 100_000;

# The newest one, or undef.
sub llvm {
    my ($tool) = @_;
    return (grep { -x } map { "/usr/bin/$tool-$_" } reverse 14 .. 25)[0];
}

# The largest debug file of a package, its sections unpacked, to compare how
# DWARF is read; and the original, packed.  Nothing: it is not available.
sub debug_files {
    my ($name, $package) = @_;
    my $dir = "$data/debug";
    my ($file, $packed) = ("$dir/$name.debug", "$dir/$name-packed.debug");

    return ($file, $packed) if -e $file && -e $packed;
    make_path("$dir/$name");

    if (!glob "$dir/${package}_*.deb") {
        print "   downloading $package\n";
        system("cd $dir && apt-get download $package >$dir/apt.log 2>&1");
    }
    my ($deb) = glob "$dir/${package}_*.deb" or return;

    command('dpkg-deb', '-x', $deb, "$dir/$name");
    my ($largest) = sort { -s $b <=> -s $a } split /\n/,
        command('find', "$dir/$name", '-name', '*.debug');
    command('objcopy', '--decompress-debug-sections', $largest, "$file.new");
    rename $largest, $packed or die "bench: $packed: $!\n";
    rename "$file.new", $file or die "bench: $file: $!\n";
    remove_tree("$dir/$name");
    return ($file, $packed);
}

sub case_dwarf {
    my $gsymutil = llvm('llvm-gsymutil');

    if (!$gsymutil) {
        note('Debug files: omitted, there is no llvm-gsymutil.');
        return;
    }

    for (@packages) {
        my ($name, $package) = @$_;
        my ($file, $packed) = debug_files($name, $package);

        if (!$file) {
            note("$name: omitted, $package cannot be downloaded.");
            next;
        }
        slurp_through($file);
        convert_rows($name, $file, $gsymutil);
        threads_row('two threads, by the clock', $name, $file);
        slurp_through($packed);
        threads_row('two threads, packed sections', $name, $packed);
        lookup_rows($name, $file, $gsymutil);
        last if is_quick();
    }
    return;
}

sub load {
    my ($store, $threads, @files) = @_;
    make_store($store);
    return watch(load_command($store, $threads, @files));
}

# A machine creates its store once.
sub make_store {
    my ($store) = @_;
    remove_tree($store);
    command($loader, 'init', '--store', $store);
    return;
}

sub load_command {
    my ($store, $threads, @files) = @_;
    return ($loader, 'load', '--store', $store, '--threads', $threads,
            '--jobs', 1, '--quiet', @files);
}

# Elapsed time, without the process that measures memory: there may be no third
# core for that.
sub timed_load {
    my ($store, $threads, @files) = @_;

    make_store($store);
    my $started = time;
    system(load_command($store, $threads, @files)) == 0
        or die "bench: symloader load @files failed\n";
    return { seconds => time - $started };
}

sub convert_rows {
    my ($name, $file, $gsymutil) = @_;
    my $store = "$data/store-dwarf";
    my $gsym = "$data/debug/$name.gsym";

    my ($one, $two, $llvm) = pairs($rounds,
        sub { load($store, 1, $file) },
        sub { load($store, 2, $file) },
        sub { watch($gsymutil, '--convert', $file, '--num-threads=1', '-o',
                    $gsym) });
    my $time = $one->{cpu} / $llvm->{cpu};
    my $memory = $one->{rss} / $llvm->{rss};
    my $bytes = stat_of($store)->{live_bytes};
    my $size = $bytes / -s $gsym;

    row("$name: debug file to store, CPU time", sprintf('%.2f s', $one->{cpu}),
        sprintf('llvm-gsymutil %.2f s', $llvm->{cpu}), sprintf('%.2f', $time),
        '<= 0.33', $time <= 1 / 3);
    row('  peak memory, all processes', mb($one->{rss}),
        'llvm-gsymutil ' . mb($llvm->{rss}), sprintf('%.2f', $memory),
        '<= 0.33', $memory <= 1 / 3);
    row('  bytes', thousands($bytes), 'GSYM ' . thousands(-s $gsym),
        sprintf('%.2f', $size), '<= 0.65', $size <= 0.65);
    note(sprintf('%s: a file of %s; elapsed time of one thread %.2f s, '
                 . 'llvm-gsymutil %.2f s; two threads take %.2f s of CPU time '
                 . 'and %s.', $name, mb(-s $file), $one->{seconds},
                 $llvm->{seconds}, $two->{cpu}, mb($two->{rss})));
    return;
}

sub threads_row {
    my ($what, $name, @files) = @_;
    my $store = "$data/store-dwarf";
    my ($one, $two) = pairs(is_quick() ? 1 : 9,
        sub { timed_load($store, 1, @files) },
        sub { timed_load($store, 2, @files) });
    my $gain = $one->{seconds} / $two->{seconds};

    row("  $what", sprintf('%.2f s', $two->{seconds}),
        sprintf('one %.2f s', $one->{seconds}), sprintf('%.2f', $gain),
        '>= 1.7', $gain >= 1.7);
    return;
}

# Lines "ADDRESS PATH" for llvm-gsymutil; addresses relative to the image base
# for us.  All are in functions.
sub addresses {
    my ($name, $file) = @_;
    my ($base) = map { hex } command('readelf', '-lW', $file)
        =~ /^\s+LOAD\s+\S+\s+0x([0-9a-f]+)/m;
    my @functions = grep { $_->[1] } map {
        /^([0-9a-f]+) ([0-9a-f]+) [tT] / ? [ hex $1, hex $2 ] : ()
    } split /\n/, command('nm', '-S', '--defined-only', $file);

    srand 1;
    my @all = map {
        my $f = $functions[ rand @functions ];
        $f->[0] + int rand $f->[1];
    } 1 .. $lookups;
    return ($base, @all);
}

# CPU seconds of a command that reads $in; run $n times, because times() counts
# hundredths.
sub filter {
    my ($n, $in, @command) = @_;
    my @before = times;

    for (1 .. $n) {
        my $pid = fork // die "bench: fork: $!\n";

        if ($pid == 0) {
            open STDIN, '<', $in or exit 127;
            open STDOUT, '>', '/dev/null';
            open STDERR, '>', '/dev/null';
            exec @command or exit 127;
        }
        waitpid $pid, 0;
        # 1: some address has no symbol
        die "bench: @command failed\n" if $? != 0 && $? != 1 << 8;
    }

    my @after = times;
    return { cpu => ($after[2] + $after[3] - $before[2] - $before[3]) / $n };
}

sub lookup_rows {
    my ($name, $file, $gsymutil) = @_;
    my $store = "$data/store-dwarf";
    my $symbolizer = llvm('llvm-symbolizer');
    my ($base, @addr) = addresses($name, $file);
    my ($module) = command($loader, 'ls', '--store', $store)
        =~ m{(\S+/[0-9A-F]{33})$}m or die "bench: no module in $store\n";
    my $in = "$data/debug/$name.addr";

    spurt("$in.ours", join '', map { sprintf "%x\n", $_ - $base } @addr);
    spurt("$in.gsym", join '', map {
        sprintf "0x%x %s\n", $_, "$data/debug/$name.gsym" } @addr);
    spurt("$in.llvm", join '', map { sprintf "0x%x\n", $_ } @addr);

    # llvm-gsymutil shows mangled names
    my @ours = ("$in.ours", $loader, 'lookup', '--store', $store, $module);
    my ($shown, $raw, $gsym, $llvm) = pairs(min($rounds, 3),
        sub { filter(10, @ours) },
        sub { filter(10, @ours, '--no-demangle') },
        sub { filter(1, "$in.gsym", $gsymutil, '--addresses-from-stdin') },
        sub { filter(1, "$in.llvm", $symbolizer, "--obj=$file", '--inlines') });

    for ([ 'llvm-gsymutil', $raw, $gsym, 20 ],
         [ 'llvm-symbolizer', $shown, $llvm, 40 ])
    {
        my ($tool, $ours, $theirs, $target) = @$_;
        my $ratio = $theirs->{cpu} / max($ours->{cpu}, 0.001);

        row("  100,000 lookups as text, $tool", sprintf('%.3f s', $ours->{cpu}),
            sprintf('%.2f s', $theirs->{cpu}), sprintf('%.1f', $ratio),
            ">= $target", $ratio >= $target);
    }
    remove_tree($store);
    return;
}

1;

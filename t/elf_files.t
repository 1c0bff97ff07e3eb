# Real files: core/formats/elf finds in them what readelf, eu-readelf, objcopy
# and llvm-symbolizer find.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Compress::Zlib qw(crc32);
use SymElf qw(info section symbols symbols_agree crc run_ok output folder
              error_of);
use SymFixtures qw(fixtures);
use SymLoader qw(read_file write_file);
use Test::More;

my $elf = fixtures('elf');
my $dir = folder();

# Every machine that can run this test has them, and they differ from the
# fixtures: 64-bit, PIE or shared, stripped, only .dynsym.
my @here = grep { -e $_ } ($^X, '/bin/bash', '/usr/bin/git',
    glob('/lib/*/libc.so.6'), glob('/lib/*/libstdc++.so.6'),
    glob('/usr/lib/*/libstdc++.so.6'));

# --- headers and ids ---

for my $path (glob("$elf/crash*"), glob("$elf/dynsyms_onl[y]"),
              glob("$elf/debuglink/*link"), @here)
{
    my ($name) = $path =~ m{([^/]+)$};
    my %got = info($path);
    my $header = output('readelf', '-hW', $path);
    my ($build_id) = output('eu-readelf', '-n', $path) =~ /Build ID: (\w+)/;
    my ($first_load) = output('readelf', '-lW', $path)
        =~ /^ +LOAD +0x\w+ +0x(\w+)/m;

    is($got{class}, $header =~ /ELF64/ ? 64 : 32, "$name: class");
    is($got{order}, $header =~ /little endian/ ? 'little' : 'big', '... order');
    is($got{'build-id'}, $build_id, '... build id');
    is(hex($got{base}), hex($first_load) & ~0xfff, '... base');
}

# From the tests of Sentry's symbolic, the origin of these files.
my %crash = info("$elf/crash");
my %debug = info("$elf/crash.debug");
is(lc($crash{'debug-id'}), 'c0bcc3f19827fe653058404b2831d9e60',
   'debug id as Sentry forms it');
is($debug{'debug-id'}, $crash{'debug-id'}, '... of the debug file as well');
is($crash{arch}, 'x86_64', 'machine');
is($crash{has}, ' code symbols unwind' =~ s/^ //r, 'an executable');
is($debug{has}, 'debug symbols', 'its debug file has no code');

# --- sections: packed files contain the same as the plain one ---

for my $section (qw(.debug_info .debug_abbrev .debug_line .debug_str
                    .debug_ranges))
{
    run_ok('objcopy', '--dump-section', "$section=$dir/want", "$elf/crash.debug",
           "$dir/copy");
    my $want = read_file("$dir/want");

    run_ok('objcopy', '--compress-debug-sections=zlib-gnu', "$elf/crash.debug",
           "$dir/zlib-gnu");
    for my $path ("$elf/crash.debug", "$elf/crash.debug-zlib",
                  "$elf/crash.debug-zstd", "$dir/zlib-gnu")
    {
        ok(section($path, $section) eq $want, "$section of $path");
    }
}

like(output('readelf', '-SW', "$dir/zlib-gnu"), qr/\.zdebug_info/,
     'the old form was among them');

# --- links ---

for my $path (glob("$elf/debuglink/*_debuglink"), "$elf/crash") {
    my $want = output('readelf', '-wkN', $path);
    my ($name) = $want =~ /debug info file: (.*)/;
    my ($crc) = $want =~ /CRC value: 0x(\w+)/;
    my $link = defined($name) ? sprintf('%s %08x', $name, hex($crc)) : undef;
    my %got = info($path);

    is($got{debuglink}, $link, "link of $path");
}

is(hex(crc("$elf/crash.debug")), crc32(read_file("$elf/crash.debug")),
   'CRC-32 of a file');

# Both files refer to the shared parts that dwz extracts.
for my $n (1, 2) {
    run_ok('cp', "$elf/crash.debug", "$dir/dwz$n");
    run_ok('chmod', 'u+w', "$dir/dwz$n");
}
run_ok('dwz', '-m', "$dir/common", '-M', '/common.debug', "$dir/dwz1",
       "$dir/dwz2");
my %dwz = info("$dir/dwz1");
my ($common_id) = output('eu-readelf', '-n', "$dir/common") =~ /Build ID: (\w+)/;
is($dwz{'altlink-name'}, '/common.debug', 'the name of the file of dwz');
is($dwz{'altlink-id'}, $common_id, '... and its build id');

# --- symbols ---

symbols_agree("$elf/crash", 150, 'crash');
symbols_agree("$elf/crash.debug", 150, 'crash.debug');
SKIP: { symbols_agree(fixtures('elf/dynsyms_only'), 6, 'dynsyms_only') }
for my $path (@here) {
    symbols_agree($path, 1, $path);
}

# MiniDebugInfo, made as the GDB manual says: the symbols are those of .symtab.
my @want = symbols("$elf/crash");
run_ok('objcopy', '-S', '--remove-section', '.comment', '--wildcard',
       '--keep-symbol=*', "$elf/crash.debug", "$dir/mini");
run_ok('xz', '-f', "$dir/mini");
run_ok('objcopy', '-S', '--add-section', ".gnu_debugdata=$dir/mini.xz",
       "$elf/crash", "$dir/with_mini");
my @got = symbols("$dir/with_mini");
is(join("\n", map { "$_->{addr} $_->{size}" } @got),
   join("\n", map { "$_->{addr} $_->{size}" } @want),
   'MiniDebugInfo: the same functions');
is(scalar(grep { $_->{name} eq '_start' } @got), 1, '... with their names');

# A damaged table is omitted; the readable rest is kept.
my $cut = read_file("$dir/mini.xz");
write_file("$dir/cut.xz", substr($cut, 0, length($cut) / 2));
run_ok('objcopy', '-S', '--add-section', ".gnu_debugdata=$dir/cut.xz",
       $here[0], "$dir/with_cut");
is(scalar(symbols("$dir/with_cut")), scalar(symbols($here[0])),
   'MiniDebugInfo cut: .dynsym stays');
like(error_of("$dir/with_cut", 'symbols'),
     qr/^broken: truncated: packed bytes end early \(\.gnu_debugdata, byte \d+\)$/,
     '... and it is reported');

done_testing();

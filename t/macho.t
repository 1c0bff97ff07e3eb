# Real Mach-O files: core/formats/macho finds in them what LLVM's tools find.

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFixtures qw(need_fixtures);
use SymLoader qw(root read_file);
use Test::More;

my $macho = need_fixtures('macho');
my $dwarf = 'Contents/Resources/DWARF';
my $crash = "$macho/crash";
my $dsym = "$macho/crash.dSYM/$dwarf/crash";
my $fat = "$macho/Example.framework.dSYM/$dwarf/Example";
my $dump = root() . '/' . ($ENV{SYM_BUILD} || 'build') . '/t/machodump';

# The output of a program that must not fail.
sub output {
    open my $pipe, '-|', @_ or BAIL_OUT("cannot run $_[0]: $!");
    binmode $pipe;
    my $text = do { local $/; <$pipe> } // '';
    close $pipe or BAIL_OUT("@_ failed");
    return $text;
}

# --- ids, architectures, the image base ---

for my $path ($crash, $dsym, $fat) {
    my ($name) = $path =~ m{/macho/(.*)};
    my @got = split /\n/, output($dump, $path);
    my @uuids = output('llvm-dwarfdump', '--uuid', $path)
        =~ /^UUID: (\S+) \((\w+)\)/mg;

    is(@got * 2, @uuids, "$name: slices");
    for my $got (@got) {
        my ($uuid, $arch) = splice @uuids, 0, 2;
        my @f = split / /, $got;
        my $headers = output('llvm-objdump', '--macho', "--arch=$arch",
                             '--private-headers', $path);
        my ($base, $size) = $headers
            =~ /segname __TEXT\n +vmaddr (0x\w+)\n +vmsize (0x\w+)/;

        $uuid =~ tr/-//d;
        is($f[0], $arch, '... architecture');
        is($f[1], "${uuid}0", '... debug id');
        is($f[2], lc $uuid, '... code id');
        is(hex $f[3], hex $base, '... image base');
        is(hex $f[4], hex $size, '... image size');
    }
}

like(output($dump, $crash), qr/ code symbols unwind$/, 'the binary has code');
like(output($dump, $dsym), qr/ dsym debug symbols$/, 'the dSYM has DWARF');

# --- sections ---

sub sections {
    my ($path, $arch) = @_;
    my $headers = output('llvm-objdump', '--macho', "--arch=$arch",
                         '--private-headers', $path);
    my @found;

    while ($headers =~ /sectname\ (\S+)\n\ +segname\ \S+\n\ +addr\ (\S+)\n
                        \ +size\ (\S+)\n\ +offset\ (\d+)/gx)
    {
        push @found, { name => $1, size => hex $3, offset => $4,
                       end => hex($2) + hex($3) - 0x100000000 };
    }
    return @found;
}

for ([$crash, 'x86_64', 0], [$dsym, 'x86_64', 0], [$fat, 'x86_64', 64],
     [$fat, 'arm64', 9696])
{
    my ($path, $arch, $start) = @$_;
    my $bytes = read_file($path);
    my (%seen, @wrong);
    my $n = 0;

    for my $s (sections($path, $arch)) {
        next if !$s->{offset} || !$s->{size} || $seen{$s->{name}}++;
        my $want = substr $bytes, $start + $s->{offset}, $s->{size};
        $n++;
        push @wrong, $s->{name}
            if output($dump, $path, $arch, $s->{name}) ne $want;
    }
    ok($n > 5, "$arch of $path: sections with contents");
    is("@wrong", '', '... have those of the headers');
}

# Sections that DWARF readers request by ELF's names.
is(output($dump, $dsym, 'x86_64', '.debug_info'),
   output($dump, $dsym, 'x86_64', '__debug_info'), '.debug_info');

# --- symbols ---

sub hexes {
    return map { hex } @_;
}

# The symbols of code as in llvm-nm: t and T are those of __TEXT,__text.
sub nm {
    my ($path) = @_;
    my %names;

    for (split /\n/, output('llvm-nm', '--defined-only', $path)) {
        my ($addr, $type, $name) = /^(\w+) (\w) (.*)/ or next;
        next if lc $type ne 't' || $name eq '__mh_execute_header';
        $name =~ s/^_//;
        $names{hex($addr) - 0x100000000}{$name} = $type;
    }
    return %names;
}

for my $path ($crash, $dsym) {
    my %want = nm($path);
    my (@got, @wrong);

    for (split /\n/, output($dump, $path, 'x86_64', 'symbols')) {
        my ($addr, $size, $name) = split / /, $_, 3;
        push @got, [hex $addr, hex $size, $name];
        push @wrong, $name if !$want{hex $addr}{$name};
    }

    ok(@got > 100, "$path: symbols");
    is("@wrong", '', '... have the names of llvm-nm');
    is_deeply([map { $_->[0] } @got], [sort { $a <=> $b } keys %want],
              '... are at the same addresses, each once');
    ok(!(grep { $got[$_][0] + $got[$_][1] > $got[$_ + 1][0] } 0 .. $#got - 1),
       '... end before the next one');
}

# Functions end where the next one begins according to the linker, named or not.
{
    my @starts = hexes(grep { /^\w+$/ } split /\n/,
        output('llvm-objdump', '--macho', '--function-starts', $crash));
    my ($text) = grep { $_->{name} eq '__text' } sections($crash, 'x86_64');
    my (%next, @wrong);

    @starts = map { $_ - 0x100000000 } @starts;
    @next{@starts} = (@starts[1 .. $#starts], $text->{end});
    for (split /\n/, output($dump, $crash, 'x86_64', 'symbols')) {
        my ($addr, $size, $name) = split / /, $_, 3;
        push @wrong, $name if hex($addr) + hex($size) != ($next{hex $addr} // 0);
    }
    ok(@starts > 100, 'function starts');
    is("@wrong", '', '... bound the symbols');
}

# --- invalid files ---

{
    my $invalid = "$macho/crash.dSYM/$dwarf/invalid";
    my $said = `$dump $invalid 2>&1`;

    isnt($?, 0, 'a text in a dSYM is refused');
    is($said, "malformed: not a Mach-O file (Mach-O header, byte 0)\n",
       '... with the reason');
}

done_testing();

#!/usr/bin/perl

# Files of Windows: ids as LLVM and Sentry read them, answers like Sentry's for
# the remains of MinGW's debug information, and a poor file is replaced by a
# better one with the same id.

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFixtures qw(need_fixtures);
use SymLoader qw(read_file);
use SymSentry qw(recorded answers_as_recorded);

my $windows = need_fixtures('windows');
my $hello = 'hello-dwarf.exe/63CE751542000';

my $t = SymLoader->new;

# --- DWARF of MinGW ---

{
    my $r = $t->run('load', "$windows/hello-dwarf.exe");
    is($r->{code}, 0, 'loaded');
    like($r->{out}, qr/: \Q$hello\E: lines and inlines, /,
         'without CodeView the code id is its id');
    my %known = recorded('pe-mingw-dwarf', undef, 0x100000000);
    cmp_ok(answers_as_recorded($t, $hello, %known), '>', 80,
           '... most addresses have a name');
    like($t->run('show', $hello)->{out}, qr/\bx86_64\b/,
        'show has the machine');
}

# The whole file packed, like MSYS2's debug files.
{
    my $r = $t->run('load', "$windows/msys2-qglib.debug.zst");
    is($r->{code}, 0, 'a packed debug file');
    my $module = 'msys2-qglib/FE9537F1E434A8594C4C44205044422E1';
    like($r->{out}, qr/: \Q$module\E: lines/, '... by its name and CodeView');
    like($t->run('lookup', $module, '13e0')->{out},
         qr/^QGlibNetworkInformationBackend::QGlibNetworkInformationBackend\(\)\n.*qglibnetworkinformationbackend\.cpp:\d+/,
         '... C++ names are complete');
}

# Stripped, with its debug file next to it; and with another one of that name.
{
    my $own = SymLoader->new;
    my $dir = $own->dir;
    my $exe = $own->file('hello-dwarf.exe', read_file("$windows/hello-dwarf.exe"));
    is(system("cd '$dir' && llvm-objcopy --only-keep-debug hello-dwarf.exe hello.debug"
        . ' && llvm-objcopy --strip-all --add-gnu-debuglink=hello.debug hello-dwarf.exe'), 0,
       'stripped');
    # the image is smaller, so it has another code id
    my ($module) = $own->run('load', $exe)->{out}
        =~ m{: (hello-dwarf\.exe/63CE7515\w+): lines and inlines, };
    ok(defined $module, '... loaded with its debug file') or BAIL_OUT('not loaded');
    my %known = recorded('pe-mingw-dwarf', undef, 0x100000000);
    answers_as_recorded($own, $module, %known);

    my $other = SymLoader->new;
    $other->file('hello.debug', read_file("$dir/hello.debug") . "\0");
    my $r = $other->run('load', $other->file('hello-dwarf.exe', read_file($exe)));
    is($r->{code}, 1, '... not with another one');
    like($r->{err}, qr/hello\.debug is another file: its CRC is not [0-9a-f]{8}$/m,
         '... as a warning says');
}

# --- ids, as LLVM reads them ---

for my $file (sort glob("$windows/*.exe"), glob("$windows/*.dll"), "$windows/arm64/test.exe") {
    my ($name) = $file =~ m{windows/(.*)};
    my $llvm = qx(llvm-readobj-19 --file-headers --coff-debug-directory '$file');
    my ($stamp) = $llvm =~ /TimeDateStamp:.*\(0x(\w+)\)/;
    my ($size) = $llvm =~ /SizeOfImage: (\d+)/;
    next if $name eq 'hello-dwarf.exe';
    my $r = $t->run('load', $file);

    is($r->{code}, 1, "$name names nothing");
    like($r->{err}, $llvm =~ /PDBFileName/ ? qr/: the file names no functions: its PDB does$/
                                           : qr/: no symbols: the file was stripped$/,
         '... which is reported');
    ok(defined $stamp && defined $size, '... LLVM reads it');
}

# In a tree they are skipped.
{
    my $own = SymLoader->new;
    my $r = $own->run('load', $windows);
    is($r->{code}, 0, 'a tree of them');
    like($r->{out}, qr/, 0 failed$/, '... none has failed');
}

# --- a library made by LLVM: exports only, then a better file ---

{
    my $own = SymLoader->new;
    my $c = $own->file('lib.c', <<'C');
__attribute__((noinline)) static int hidden(int *p) { return *p * 3; }
__declspec(dllexport) int twice(int *p) { return hidden(p) + hidden(p + 1); }
__declspec(dllexport) int value = 5;
__declspec(dllexport) int last(int a) { return a + value; }
int _DllMainCRTStartup(void *a, int b, void *c) { return 1; }
C
    my $dir = $own->dir;
    for my $machine (qw(x86_64 aarch64)) {
        my $make = "cd '$dir' && clang --target=$machine-pc-windows-msvc -O1 -g -gcodeview -c lib.c -o lib.obj"
            . " && lld-link-19 /dll /noimplib /debug /nodefaultlib /entry:_DllMainCRTStartup"
            . " /export:far=kernel32.Beep /pdb:lib.pdb /out:lib.dll lib.obj";
        is(system($make), 0, "$machine: made");

        my $llvm = qx(llvm-readobj-19 --file-headers --coff-debug-directory --coff-exports '$dir/lib.dll');
        my ($stamp) = $llvm =~ /TimeDateStamp:.*\(0x(\w+)\)/;
        my ($size) = $llvm =~ /SizeOfImage: (\d+)/;
        my ($age) = $llvm =~ /PDBAge: (\d+)/;
        my ($guid) = $llvm =~ /PDBGUID: (?:\{([-\w]+)\}|\((.*)\))/ ? $1 // $2 : '';
        my @bytes = $guid =~ /([0-9A-F]{2})/g;
        @bytes = @bytes[3, 2, 1, 0, 5, 4, 7, 6, 8 .. 15] if $guid !~ /-/;
        my $id = sprintf '%s%X', join('', @bytes), $age;
        my %rva = reverse $llvm =~ /Name: (twice|last)\s+RVA: (0x\w+)/g;
        %rva = map { $rva{$_} => hex } keys %rva;

        my $r = $own->run('load', "$dir/lib.dll");
        is($r->{code}, 0, '... loaded');
        like($r->{out}, qr{: lib\.pdb/$id: publics, },
            '... named after its PDB');
        like($own->run('dump', "$dir/lib.dll")->{out},
             qr/^MODULE windows (?:x86_64|arm64) $id lib\.pdb\nINFO CODE_ID @{[sprintf '%08X%x', hex $stamp, $size]}$/m,
             '... and its code id');

        for my $f (sort keys %rva) {
            is($own->run('lookup', "lib.pdb/$id", sprintf '%x', $rva{$f})->{out} =~ /^(\w+)/ ? $1 : '',
               $f, "... $f");
        }
        unlike($own->run('dump', "$dir/lib.dll")->{out}, qr/ (?:value|far)$/m,
               '... neither data nor forwarders are code');

        $r = $own->run('load', "$dir/lib.pdb");
        is($r->{code}, 0, '... its PDB is loaded');
        like($own->run('show', "lib.pdb/$id")->{out}, qr/\blines\b/, '... and replaces it');
        $own->run('load', "$dir/lib.dll");
        like($own->run('show', "lib.pdb/$id")->{out}, qr/\blines\b/,
            '... but not vice versa');
    }
}

done_testing();

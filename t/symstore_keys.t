#!/usr/bin/perl

# A debugger of .NET asks a symbol server by the keys of SSQP (dotnet/symstore, "SSQP Key
# Conventions"), in lower case; WinDbg asks with the case of names.  Each key finds its
# file at sources of all three layouts of symbol servers, and a miss is always 404, since
# that client stops asking a server that answers otherwise.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Path qw(make_path);
use Test::More;

use SymElf;
use SymFetch;
use SymLoader qw(write_file);

my $dir = SymElf::folder();
my $GUID = '497B72F6390A44FC878E5A2D63B6CC4B';
my $BUILD_ID = '180a373d6afbabf0eb1f09be1bc45bd796a71085';
my $UUID = '49b72f6390a44fc878e5a2d63b6cc4b1';

# [name, key]; the examples of that page
my @keys = (
    ['Foo.exe', '542D574Ec2000', 'a PE file'],
    ['Foo.pdb', "${GUID}1", 'a PDB'],
    ['Bar.pdb', "${GUID}ffffffff", 'a portable PDB'],
    ['libfoo.so', "elf-buildid-$BUILD_ID", 'an ELF image'],
    ['_.debug', "elf-buildid-sym-$BUILD_ID", '... its symbols'],
    ['foo.dylib', "mach-uuid-$UUID", 'a Mach-O image'],
    ['_.dwarf', "mach-uuid-sym-$UUID", '... its symbols'],
    ['mscordaccore.dll', '542D574Ec2001', 'a DAC of Windows'],
    ['libmscordaccore.so', "elf-buildid-coreclr-$BUILD_ID", '... of Linux'],
    ['libmscordbi.dylib', "mach-uuid-coreclr-$UUID", '... of macOS'],
    ['Foo.cs', "sha1-$BUILD_ID", 'a file by its hash'],
    ['Foo.r2rmap', "r2rmap-v1-$BUILD_ID", 'a map of compiled methods'],
);

# Where each layout has a file.  Folders of two letters, of one before a dot, where
# the store has an index2.txt; SSQP writes the age of portable PDBs in upper case.
my %at = (
    symstore => sub { $_[0] },
    symstore_index2 => sub { substr($_[0], 0, $_[0] =~ /^.\./ ? 1 : 2) . "/$_[0]" },
    ssqp => sub { lc($_[0]) =~ s{(?=f{8}/)f+}{FFFFFFFF}r },
);
for my $layout (keys %at) {
    for (@keys) {
        my $path = "$dir/$layout/" . $at{$layout}->("$_->[0]/$_->[1]/$_->[0]");
        make_path($path =~ s{/[^/]*$}{}r);
        write_file($path, "$layout: $_->[2]");
    }
}
write_file("$dir/secret", 'secret');

my $t = SymFetch->new;
$t->conf(locations => join '', map {<<"CONF"} sort keys %at);
        location /$_/ {
            symbolicate files;
            symbolicate_proxy on;
            symbolicate_source $_ uri=/in-$_/ layout=$_;
        }
        location /in-$_/ { internal; alias $dir/$_/; log_not_found off; }
CONF
$t->start;

for my $layout (sort keys %at) {
    for (@keys) {
        my ($name, $key, $what) = @$_;
        for my $path ("$name/$key/$name", lc(substr $name, 0, 2) . "/$name/$key/$name",
                      $layout eq 'ssqp' ? lc "$name/$key/$name" : ())
        {
            my $r = $t->request('GET', "/$layout/$path");
            is("$r->{status} $r->{body}", "200 $layout: $what", "$layout: $path");
        }
    }
}
my $r = $t->request('GET', "/ssqp/foo.cs/sha1-$BUILD_ID/foo.cs", headers => ['Range', 'bytes=0-3']);
is("$r->{status} $r->{body}", '206 ssqp', 'a range');
is($t->request('HEAD', "/ssqp/foo.cs/sha1-$BUILD_ID/foo.cs")->{headers}{'content-length'},
   length 'ssqp: a file by its hash', 'a length by HEAD');
$r = $t->request('GET', "/ssqp/bar.pdb/\L$GUID\EFFFFFFFF/bar.pdb", headers => ['SymbolChecksum', 'SHA256:00;SHA1:00']);
is("$r->{status} $r->{body}", '200 ssqp: a portable PDB', 'the client compares the checksum itself');

for my $path ('foo.cs/sha1-/foo.cs', "foo.cs/sha1-${BUILD_ID}0/foo.cs", "foo.cs/sha2-$BUILD_ID/foo.cs",
              "foo.cs/sha1-$BUILD_ID/bar.cs", "foo.cs/sha1-$BUILD_ID/file.ptr", "foo.cs/sha1-$BUILD_ID/foo.c_",
              'libfoo.so/elf-buildid-coreclr-x/libfoo.so', 'foo.cs/sha1-..%2f..%2f..%2fsecret/foo.cs',
              'secret/sha1-%2e%2e/secret', '../sha1-a/..', "foo.cs/sha1-$BUILD_ID/foo.cs/", 'index2.txt',
              'foo.pdb/x/foo.pdb', 'foo.exe//foo.exe', 'foo.cs/sha1-' . 'a' x 3_000 . '/foo.cs',
              '%00/sha1-a/%00', "foo.cs/sha1-%0a/foo.cs")
{
    my $r = $t->request('GET', "/ssqp/$path");
    my $want = $path =~ /%00/ ? 400 : 404;    # nginx's own
    is($r->{status}, $want, 'nothing: ' . substr $path, 0, 60);
}

is($t->end, '', 'nothing is wrong');
done_testing();

#!/usr/bin/perl

# Debuggers and tools read symbols from us as from their own symbol servers: by
# Breakpad's paths, those of Windows symbol servers and those of debug file trees,
# whatever the layout of our sources.  Texts of symbols are made of debug files if no
# source has them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Path qw(make_path);
use Test::More;

use SymElf qw(output run_ok);
use SymFetch;
use SymLoader qw(read_file write_file);
use SymMacho qw(macho);

my $dir = SymElf::folder();
my $tree = "$dir/tree";

sub put {
    my ($path, $bytes) = @_;
    make_path("$tree/$path" =~ s{/[^/]*$}{}r);
    write_file("$tree/$path", $bytes);
    return $bytes;
}

# An ELF file and its debug file in a tree of build ids.
write_file("$dir/app.c", <<'END');
__attribute__((noinline)) int
twice(int n)
{
    return n + n;
}

int
main(int argc, char **argv)
{
    return twice(argc);
}
END
run_ok('gcc', '-g', '-O1', '-Wl,--build-id=sha1', '-o', "$dir/whole", "$dir/app.c");
run_ok('objcopy', '--only-keep-debug', "$dir/whole", "$dir/app.debug");
run_ok('strip', '-o', "$dir/app", "$dir/whole");
my ($id) = output('eu-readelf', '-n', "$dir/app") =~ /Build ID: ([0-9a-f]{40})/;
my ($start) = output('nm', "$dir/whole") =~ /^0*([0-9a-f]+) T twice$/m;
my $at = substr($id, 0, 2) . '/' . substr($id, 2);
my $debug = put("native/$at.debug", read_file("$dir/app.debug"));
my $code = put("native/$at", read_file("$dir/app"));

# Breakpad's: the first 16 bytes as a GUID, and an age.
my $debug_id = uc sprintf '%s%s%s%s0', unpack('H8', pack 'V', hex substr $id, 0, 8),
    unpack('H4', pack 'v', hex substr $id, 8, 4), unpack('H4', pack 'v', hex substr $id, 12, 4),
    substr $id, 16, 16;

# A PDB in a cabinet, another as it is, and a PE file.
my $GUID = '0123456789ABCDEF0123456789ABCDEF';
my $pdb = join '', map { pack 'N', $_ * 2654435761 % 4294967296 } 1 .. 5000;
write_file("$dir/Packed.pdb", $pdb);
run_ok('sh', '-c', "cd '$dir' && gcab -cn Packed.cab Packed.pdb");
my $cab = put("store/Packed.pdb/${GUID}1a/Packed.pd_", read_file("$dir/Packed.cab"));
put("store/Plain.pdb/${GUID}1a/Plain.pdb", "plain $pdb");
put('store/App.exe/542D574Ec2000/App.exe', "MZ $pdb");
put("ssqp/_.dwarf/mach-uuid-sym-\L$GUID/_.dwarf", "a Mach-O file");
put("crash/lib.so/${GUID}0/lib.so.sym", my $sym = "MODULE Linux x86_64 ${GUID}0 lib.so\n");

my $t = SymFetch->new;
$t->conf(locations => <<"CONF");
        location / {
            symbolicate files;
            symbolicate_proxy on size=8m;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source crash uri=/tree/crash/ layout=breakpad;
            symbolicate_source native uri=/tree/native/ layout=native;
            symbolicate_source store uri=/tree/store/ layout=symstore;
            symbolicate_source ssqp uri=/tree/ssqp/ layout=ssqp;
        }
        location /below/it/ {
            symbolicate files;
            symbolicate_proxy on size=8m;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source native uri=/tree/native/ layout=native;
        }
        location /failing/ {
            symbolicate files;
            symbolicate_proxy on size=8m;
            symbolicate_source net uri=/src/ layout=symstore;
        }
        location /tree/ { internal; alias $tree/; log_not_found off; }
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
CONF
$t->start;

sub get { return $t->request('GET', @_) }

sub same {
    my ($path, $bytes, $what) = @_;
    my $r = get($path);
    is($r->{status}, 200, "$what: $path");
    ok($r->{body} eq $bytes, '... its bytes') or diag(substr $r->{body}, 0, 200);
    return;
}

# --- files as they are ---

same("/lib.so/${GUID}0/lib.so.sym", $sym, 'Breakpad');
same("/lib.so/\L$GUID\E0/lib.so.sym", $sym, '... in lower case');
same("/Plain.pdb/${GUID}1a/Plain.pdb", "plain $pdb", 'symstore');
same("/Packed.pdb/${GUID}1a/Packed.pdb", $pdb, 'a PDB out of its cabinet');
same("/Packed.pdb/${GUID}1A/Packed.pd_", $cab, '... and in it');
same("/Pa/Packed.pdb/${GUID}1a/Packed.pdb", $pdb, '... in folders of two letters');
same('/App.exe/542D574EC2000/App.exe', "MZ $pdb", 'a PE file');
same("/_.debug/elf-buildid-sym-$id/_.debug", $debug, 'SSQP: ELF symbols');
same("/app/elf-buildid-\U$id\E/app", $code, '... ELF image');
same("/_.dwarf/mach-uuid-sym-\L$GUID\E/_.dwarf", 'a Mach-O file', '... Mach-O symbols');
same("/$at.debug", $debug, 'native: ELF symbols');
same("/$at", $code, '... ELF image');
same("/below/it/$at", $code, '... below a path');
same('/' . join('/', unpack('(A4)5', $GUID), substr $GUID, 20), 'a Mach-O file',
     '... Mach-O symbols');

for my $path ("Plain.pdb/${GUID}1a/Plain.pd_", "Plain.pdb/${GUID}2a/Plain.pdb", 'index2.txt',
              "Plain.pdb/${GUID}1a/file.ptr", "Plain.pdb/${GUID}1a/Other.pdb", "$at.debug.debug",
              "a/b/c", "Plain.pdb//Plain.pdb",
              "..%5c/${GUID}1a/..%5c", "lib.so/${GUID}1/lib.so.sym", 'lib.so/x/lib.so.sym',
              "Plain.pdb/${GUID}1a/Plain.sym", "App.exe/542D574EC2000/App.exe/x")
{
    my $r = get("/$path");
    is($r->{status}, 404, "nothing: $path");
    is($r->{headers}{'cache-control'}, 'no-cache', '... for now');
}
is(get('/pingme.txt')->{status}, 200, 'it is a symbol store');

# a build id of 16 bytes, as .NET's client writes it
my $short = 'c0ffee' . '1234567890' . 'abcdef0123456789';
put('native/c0/' . substr($short, 2), 'short');
same("/x/elf-buildid-${short}00000000/x", 'short', 'a build id filled with zeros');

# a client may retry what failed; 404 would end the search
$t->fault->script('src', 'status/503');
is(get('/failing/App.exe/542D574EC2000/App.exe')->{status}, 500, 'a failure is not absence');

# --- symbols as text ---

my $sym_path = "/app/$debug_id/app.sym";
my $r = get("$sym_path?code_file=app&code_id=$id");
is($r->{status}, 200, 'symbols made of an ELF file');
like($r->{body}, qr/^MODULE Linux x86_64 $debug_id app$/m, '... their module');
like($r->{body}, qr/^FUNC $start [0-9a-f]+ 0 twice$/m, '... a function');
like($r->{body}, qr/^FILE \d+ .*app\.c$/m, '... its file');
like($r->{body}, qr/^STACK CFI INIT $start /m, '... its unwind rules');
ok($r->{headers}{etag}, '... an ETag');
isnt($r->{headers}{etag}, get("/$at.debug")->{headers}{etag}, '... of its own');
is(get("$sym_path?code_file=app&code_id=$id", headers => ['If-None-Match', $r->{headers}{etag}])
       ->{status}, 304, '... that is known again');
is($t->request('HEAD', "$sym_path?code_file=&code_id=$id")->{headers}{'content-length'},
   length $r->{body}, '... their length by HEAD');
is(get($sym_path)->{status}, 404, 'a debug id does not name an ELF file');
is(get("/app/${GUID}0/app.sym?code_id=$id")->{status}, 404, 'the file has another debug id');

# --- code ids ---

for my $case (["/app/$id/app.sym", "/app/$debug_id/app.sym"],
              ["/below/it/app/$id/app.sym?x=y", "/below/it/app/$debug_id/app.sym?x=y"])
{
    my $r = get($case->[0]);
    is($r->{status}, 302, "a code id: $case->[0]");
    like($r->{headers}{location}, qr{^(?:http://[^/]+)?\Q$case->[1]\E$}, '... leads to its debug id');
}

is($t->end, '', 'nothing is wrong');
done_testing();

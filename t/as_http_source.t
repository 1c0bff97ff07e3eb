#!/usr/bin/perl

# Symbolicator, and our own server as Symbolicator, read from us as from any http source
# of layout native, symstore or ssqp, whatever the layout of our own sources.  A
# Symbolicator asks for the first 128 MiB of a file, then for the rest in parallel ranges,
# and joins them only if each is as asked: no file may change between its ranges.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Digest::SHA qw(sha256_hex);
use File::Path qw(make_path);
use Test::More;

use SymElf qw(output run_ok);
use SymFixtures qw(need_fixtures);
use SymGiven;
use SymLoader qw(read_file write_file);

my $windows = need_fixtures('windows');
my $dir = SymElf::folder();
my $GUID = '3249D99D0C4049318610F4E4FB0B6936';

sub put {
    my ($path, $from) = @_;
    make_path("$dir/$path" =~ s{/[^/]*$}{}r);
    run_ok('cp', $from, "$dir/$path");
    return;
}

# An ELF file in a tree of build ids, and a PDB in one of SSQP.
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
my ($id) = output('eu-readelf', '-n', "$dir/whole") =~ /Build ID: ([0-9a-f]{40})/;
my ($twice) = output('nm', "$dir/whole") =~ /^0*([0-9a-f]+) T twice$/m;
put('native/' . substr($id, 0, 2) . '/' . substr($id, 2) . '.debug', "$dir/app.debug");
put("ssqp/crash.pdb/\L$GUID\E1/crash.pdb", "$windows/crash.pdb");
my ($main, $function) = read_file("$windows/crash.sym") =~ /^FUNC (?:m )?(\w+) \w+ \w+ (main)\b/m;
ok(defined $main, 'the .sym file of the PDB has main()');

# A file of more than 128 MiB.
my $LARGE = 'ab' x 20;
my $size = (150 << 20) + 12_345;
make_path("$dir/native/ab");
open my $large, '>', "$dir/native/ab/" . 'ab' x 19 or die $!;
for my $at (0, (128 << 20) - 5, 140 << 20) {
    seek $large, $at, 0;
    print $large "here is $at";
}
truncate $large, $size or die $!;
close $large or die $!;

my $t = SymGiven->new(sources => <<"CONF")->start;
        location /files/ {
            symbolicate files;
            symbolicate_proxy on size=1g;
            symbolicate_loader unix:%%LOADER%%;
            sendfile on;
            symbolicate_source native uri=/native/ layout=native;
            symbolicate_source ssqp uri=/ssqp/ layout=ssqp;
        }
        location /native/ { internal; alias $dir/native/; log_not_found off; }
        location /ssqp/ { internal; alias $dir/ssqp/; log_not_found off; }
CONF
my $address = $t->address;

# --- a server in front of the server ---

my $debug_id = join '-', unpack('H8', pack 'V', hex substr $id, 0, 8), unpack('H4', pack 'v', hex substr $id, 8, 4),
    unpack('H4', pack 'v', hex substr $id, 12, 4), substr($id, 16, 4), substr $id, 20, 12;
my @modules = (
    { type => 'elf', code_file => 'app', debug_file => 'app', code_id => $id, debug_id => $debug_id,
      image_addr => '0x100000', image_size => 0x100000 },
    { type => 'pe', code_file => 'crash.exe', debug_file => 'crash.pdb',
      debug_id => "$GUID-1" =~ s/^(.{8})(....)(....)(....)/$1-$2-$3-$4-/r, image_addr => '0x400000',
      image_size => 0x100000 },
);
# A caller is looked up one byte before.
my @frames = map { { instruction_addr => sprintf '0x%x', $_ } } 0x100000 + hex $twice, 0x400004 + hex $main;

for my $layout (qw(native symstore ssqp)) {
    my $r = $t->post_json('/symbolicate', {
        sources => [{ id => $layout, type => 'http', url => "http://$address/files/", layout => { type => $layout } }],
        modules => \@modules, stacktraces => [{ frames => \@frames }],
    }, 'Content-Type' => 'application/json');
    is($r->{status}, 200, "a source of layout $layout") or diag $r->{body};
    is(join(' ', map { $_->{debug_status} } @{ $r->{json}{modules} }), 'found found', '... has both modules')
        or diag explain $r->{json}{modules};
    my %got = map { ($_->{original_index} => $_->{function} // '') } reverse @{ $r->{json}{stacktraces}[0]{frames} };
    is($got{0}, 'twice', '... a function of the ELF file');
    like($got{1}, qr/^\Q$function\E\b/, '... one of the PDB');
}

# --- Symbolicator's ranges ---

sub part {
    my ($path, $from, $to) = @_;
    my $r = $t->request('GET', $path, headers => ['Range', "bytes=$from-$to", 'Accept-Encoding', 'gzip, br, zstd']);
    return ($r, $r->{headers}{'content-range'} // '');
}

# Returns the file as Symbolicator joins it.
sub downloaded {
    my ($path) = @_;
    my $first = 128 << 20;
    my ($r, $range) = part($path, 0, $first - 1);
    ok(!$r->{headers}{'content-encoding'}, "$path: not encoded");
    return $r->{body} if $r->{status} == 200;
    is($r->{status}, 206, '... a part');
    my ($end, $total) = $range =~ m{^bytes 0-(\d+)/(\d+)$} or return '';
    return $r->{body} if $end + 1 == $total;
    is($end + 1, $first, '... of the length asked for');
    my $bytes = $r->{body};
    my $step = int(($total - $first + 3) / 4);
    for (my $from = $first; $from < $total; $from += $step) {
        my $to = $from + $step < $total ? $from + $step - 1 : $total - 1;
        ($r, $range) = part($path, $from, $to);
        is("$r->{status} $range", "206 bytes $from-$to/$total", '... the next part');
        $bytes .= $r->{body};
    }
    return $bytes;
}

my $want = sha256_hex(read_file("$dir/native/ab/" . 'ab' x 19));
for my $path ("/files/ab/" . 'ab' x 19, "/files/app/elf-buildid-$LARGE/app", "/files/buildid/$LARGE/executable") {
    is(sha256_hex(downloaded($path)), $want, '... all bytes of a large file');
}
for my $path ('/files/' . substr($id, 0, 2) . '/' . substr($id, 2) . '.debug', "/files/_.debug/elf-buildid-sym-$id/_.debug") {
    ok(downloaded($path) eq read_file("$dir/app.debug"), '... all bytes of a small file');
}
ok(downloaded("/files/crash.pdb/${GUID}1/crash.pdb") eq read_file("$windows/crash.pdb"), '... all bytes of a PDB');
my ($r) = part("/files/app/elf-buildid-$id/app", 0, (128 << 20) - 1);
is($r->{status}, 404, 'a file that no source has');

is($t->end, '', 'nothing is wrong');
done_testing();

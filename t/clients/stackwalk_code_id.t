# Mozilla's minidump-stackwalk (crates.io) and a dump whose module names no debug file, as
# of a driver of a GPU: it asks by code file and code id, and is led to the symbols that
# were uploaded.  Symbols of try builds are found only below /try/.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More;

use JSON::PP ();
use SymElf qw(output);
use SymFixtures qw(need_fixtures);
use SymLoader qw(read_file write_file);
use SymTest;
use SymUpload;

my $fixtures = need_fixtures('windows') =~ s{/windows$}{}r;
my $stackwalk = SymTest::root() . '/var/clients/cargo/bin/minidump-stackwalk';
my $t = SymUpload->new(downloads => 1, tokens => {
    ci => { secret => 'secret' }, try => { secret => 'trier', rest => 'rights=try' } })->start;
my $dir = $t->{dir};
my $url = 'http://' . $t->address . '/files/';

# The list of modules is stream 4; the reference to the debug file is at 76 of an entry.
my $dump = read_file("$fixtures/dumps/windows.dmp");
my ($n, $streams) = unpack 'x8 VV', $dump;
my %stream = map { my ($type, undef, $at) = unpack 'VVV', substr $dump, $streams + 12 * $_, 12; ($type => $at) } 0 .. $n - 1;
substr $dump, $stream{4} + 4 + 76, 8, "\0" x 8;
write_file("$dir/anonymous.dmp", $dump);

my $GUID = '3249D99D0C4049318610F4E4FB0B69361';
mkdir "$dir/$_" for 'zip', 'zip/crash.pdb', "zip/crash.pdb/$GUID";
write_file("$dir/zip/crash.pdb/$GUID/crash.sym", read_file("$fixtures/windows/crash.sym"));
is(system("cd '$dir/zip' && zip -qr ../symbols.zip ."), 0, 'a zip');

sub upload {
    my ($token) = @_;
    my $r = $t->curl('-H', "auth-token: $token", '-F', "symbols.zip=\@$dir/symbols.zip", $t->url('/upload/'));
    is($r->{status}, 201, '... is uploaded') or diag $r->{body};
    return;
}

my $walks = 0;

# The function of the first frame.
sub walk {
    my ($at) = @_;
    my $json = output($stackwalk, '--json', '--no-interactive', '--symbols-url', $at, '--symbols-cache',
        "$dir/cache" . $walks++, "$dir/anonymous.dmp");
    return JSON::PP::decode_json($json)->{crashing_thread}{frames}[0]{function};
}

is(walk($url), undef, 'nothing is known of the module');
upload('trier');
is(walk($url), undef, 'a try build: not found by chance');
like(walk("${url}try/"), qr/^main/, '... below /try/');
upload('secret');
like(walk($url), qr/^main/, 'a regular build: found by its code id');

is($t->end, '', 'nothing is wrong');
done_testing();

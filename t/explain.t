# Why does this module have no symbols, or where do they come from?  An operator
# asks the server, and gets everything that the store knows, without reading
# logs.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFolder;
use Test::More;
use Time::Local qw(timegm);

# before "folder" there is another source, which has nothing
my $t = SymFolder->new(how => <<'CONF');
            symbolicate_source none   uri=/none/;
            symbolicate_source folder uri=/src/;
            symbolicate_negative_ttl absent=2h malformed=3h failed=50s;
CONF
$t->{parts}{server} = <<'CONF';
        location /none/ { internal; return 404; }
        location /none/broken.so/ { internal; return 500; }
CONF
my $begun = time;
$t->start;

sub seconds {
    my ($text) = @_;
    my ($y, $mon, $d, $h, $m, $s)
        = ($text // '') =~ /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z\z/
        or return 0;
    return timegm($s, $m, $h, $d, $mon - 1, $y);
}

sub is_now {
    my ($text, $what) = @_;
    my $s = seconds($text);
    ok($s >= $begun && $s <= time, "$what: " . ($text // 'null'));
}

# --- ready ---

my @module = ('a b.so', SymFolder::id(0xb1));
my $size = $t->upload(@module, inlines => 1);
my $r = $t->request('GET', "/admin/explain/a%20b.so/$module[1]");
is($r->{status}, 404, 'not requested yet');
is_deeply($r->{json},
    { name => $module[0], id => $module[1], state => 'unknown',
      sources => [map { { name => $_, state => 'unknown' } }
          qw(local none folder)] }, '... so it is unknown');

is($t->ask(\@module)->{status}, 200, 'asked for');
$r = $t->request('GET', "/admin/explain/a%20b.so/" . lc $module[1]);
is($r->{status}, 200, 'known');
is($r->{headers}{'content-type'}, 'application/json', '... in JSON');

# the same from the command
my ($show) = SymLoader::json_lines(
    $t->loader->run('show', '--json', join '/', @module)->{out});
my $e = $r->{json};
is($e->{$_}, $show->{$_}, "$_, as symloader says") for qw(name id state source quality
    incomplete file);
is($e->{state}, 'ready', 'ready');
is($e->{bytes}, $show->{bytes}, 'size');
is($e->{stored_bytes}, $show->{stored_bytes}, 'size in the store');
is($e->{file_bytes}, $size, 'size of the file');
is($e->{file}, "/src/a%20b.so/$module[1]/a%20b.so.sym", 'the file');
is($e->{format}, $show->{format}, 'format');
is(seconds($e->{stored_at}), $show->{stored_at}, 'when');
is_now($e->{stored_at}, 'when');
is(seconds($e->{used_at}), $show->{used_at}, 'last use');
is_now($e->{used_at}, 'last use');
is(scalar @{$e->{attempts}}, 2, 'both sources were tried');
my ($none, $folder) = @{$e->{attempts}};
is("@$none{qw(source outcome url)}",
    "none 404 /none/a%20b.so/$module[1]/a%20b.so.sym", 'the first has nothing');
is("@$folder{qw(source outcome bytes url)}",
    "folder 200 $size /src/a%20b.so/$module[1]/a%20b.so.sym",
    'the second has it');
like($_->{ms}, qr/^\d{1,5}\z/, "milliseconds of $_->{source}") for $none, $folder;
is($e->{source}, 'folder', 'the source it is from');
is_deeply([map { "$_->{name} $_->{state}" } @{$e->{sources}}],
    ['local unknown', 'none absent', 'folder ready'],
        'the answer of each source');
is_deeply([sort keys %$e], [sort qw(name id state source sources quality incomplete bytes stored_bytes format
    file_bytes file stored_at used_at attempts)], 'nothing else');

# --- negative ---

sub negative {
    my ($state, $ttl, @module) = @_;
    my $e = $t->explain(@module)->{json};

    is($e->{state}, $state, $state);
    is_now($e->{stored_at}, 'when');
    my $left = seconds($e->{expires_at}) - seconds($e->{stored_at});
    # the two times are taken one after the other
    ok($left >= $ttl->[0] - 1 && $left <= $ttl->[1] + 1, "expires in $left s");
    ok(!$e->{is_expired}, 'not yet');
    is_deeply([sort keys %$e], [sort qw(name id state source sources reason expires_at is_expired
        stored_at used_at attempts)], 'nothing else');
    return $e;
}

my @gone = ('gone.so', SymFolder::id(0xb2));
$t->ask(\@gone);
$e = negative('absent', [7200, 7201], @gone);
is_deeply([map { "$_->{source} $_->{outcome}" } @{$e->{attempts}}],
    ['none 404', 'folder 404'], 'no source has it');

my @bad = ('bad.so', SymFolder::id(0xb3));
my $length = $t->upload(@bad, text => "MODULE Linux x86_64 $bad[1] bad.so\nFUNC zz\n");
$t->ask(\@bad);
$e = negative('malformed', [7200, 7201], @bad);
like($e->{reason}, qr/line 2/, 'where the file is broken');
is($e->{attempts}[1]{bytes}, $length, 'the file that was read');

my @broken = ('broken.so', SymFolder::id(0xb4));
$t->ask(\@broken);
$e = negative('failed', [37, 63], @broken);
like($e->{reason}, qr/source "none"/, 'which source failed');

# --- refused requests ---

is($t->request('GET', '/admin/explain/a.so/xyz')->{status}, 400, 'no debug id');
is($t->explain('A' x 256, $module[1])->{status}, 400, 'a name too long');
is($t->explain('A' x 255, $module[1])->{status}, 404, 'the longest name');

$t->loader_stop;
is($t->request('GET', "/admin/explain/a%20b.so/$module[1]")->{status}, 200,
    'the loader is not needed for it');

rename $t->store, $t->store . '.away' or die;
$t->wait_for(sub {
    $t->request('GET', "/admin/explain/a%20b.so/$module[1]")->{status} == 503 },
    'without a store: 503');
like($t->explain(@gone)->{json}{description}, qr/store does not exist/, 'why');

is($t->end, '', 'the logs are clean');

done_testing();

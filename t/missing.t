# Which modules are missing, how often they are requested, and when they
# arrived: operators see the modules that requests did not get, as JSON, CSV and
# for Prometheus, also after a reload and a restart.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFolder;
use Test::More;

my $HOW = <<'CONF';
            symbolicate_missing on;
            symbolicate_negative_ttl absent=1h;
CONF
my $t = SymFolder->new(workers => 2, how => $HOW);
$t->{parts}{locations} .= "location = /symbolicate { symbolicate sentry; $HOW }";
$t->start;

sub missing {
    my ($query) = @_;
    return $t->request('GET', '/admin/missing' . ($query // ''));
}

sub modules { return @{missing(@_)->{json}{modules} // []} }

# The entry of a module, once it is as the test expects.
sub entry {
    my ($module, $is, $query) = @_;
    my $found;
    $t->wait_for(sub {
        ($found) = grep { $_->{name} eq $module->[0] && $is->($_) }
            modules($query // '?show=all');
        return $found;
    }, "the ledger's entry of $module->[0]");
    return $found // {};
}

my $r = missing();
is($r->{status}, 200, 'nothing was requested');
is_deeply($r->{json}{modules}, [], '... and nothing is missing');
is(missing('?format=csv')->{body} =~ tr/\n//, 1, '... CSV has only its header');

# --- two requests, five frames ---

my @gone = ('gone.so', SymFolder::id(0xd1));
my @other = ('other.so', SymFolder::id(0xd2));
my @there = ('there.so', SymFolder::id(0xd3));
my $from = time;
$t->upload(@there);
$t->post('/symbolicate/v5', $t->json({ memoryMap => [\@gone, \@there, \@other],
    stacks => [[[0, 0x1004], [1, 0x1004], [0, 0x1008]], [[0, 0x100c], [2, 1]]] }));
$t->ask(\@gone);
entry(\@other, sub {1});
my $e = entry(\@gone, sub { $_[0]{requests} == 2 });
is($e->{frames}, 4, 'frames that lost names, of all stacks');
is($e->{id}, $gone[1], 'its id');
is($e->{kind}, 'symcache', 'the artifact that is missing');
is($e->{state}, 'absent', 'no source has it');
is($e->{arrived}, undef, 'it has not come');
like($e->{$_}, qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\z/, $_)
    for qw(first_asked last_asked);
is_deeply([map { "$_->{name} $_->{state}" } @{$e->{sources}}],
    ['local unknown', 'folder absent'], 'the sources that were tried');
is_deeply([map { "$_->{source} $_->{outcome}" } @{$e->{attempts}}],
    ['folder 404'], '... and the answer of each');

$r = missing();
is_deeply([map { $_->{name} } @{$r->{json}{modules}}], ['gone.so', 'other.so'],
    'the most requested come first; found ones are not listed');
is_deeply([@{$r->{json}}{qw(total missing arrived page per_page sort)}],
    [2, 2, 0, 1, 100, 'requests'], 'counts');
is($r->{json}{counts}{frames}, 5, 'frames in total');
is_deeply([map { $_->{name} } modules('?per_page=1&page=2')], ['other.so'],
    'page by page');
is_deeply([map { $_->{name} } modules('?sort=name&page=3&per_page=1')], [],
    'after the last page');
is_deeply([modules('?show=arrived')], [], 'nothing has arrived');
is(missing($_)->{status}, 400, "refused: $_") for '?sort=size', '?page=0',
    '?per_page=1001', '?format=xml', '?show=some', '?source=none';

# --- it comes, by hand ---

$t->upload(@gone);
is($t->loader->run('load', '--quiet', $t->file(@gone))->{code}, 0,
    'loaded by hand');
$e = entry(\@gone, sub { defined $_[0]{arrived} });
is($e->{state}, 'arrived', 'it came');
is($e->{source}, 'local', '... by hand');
is_deeply([map { $_->{name} } modules()], ['other.so'],
    '... and is no longer missing');
is_deeply([map { $_->{name} } modules('?show=arrived')], ['gone.so'],
    '... but listed as arrived');

# --- another one from the source, requested again ---

$t->upload(@other);
$t->forget(@other);
is($t->function($t->ask(\@other)), 'f0', 'fetched');
is(entry(\@other, sub { $_[0]{arrived} })->{source}, 'folder', 'it arrived, too');

# --- Sentry's API counts as v5 does ---

my @lost = ('lost.so', SymFolder::id(0xd4));

# Frames at addresses of the module, one list for each stack; the last module is
# in the store, and none is at 0x10.
sub ask_sentry {
    my ($query, @stacks) = @_;
    my @modules = map { {
        type => 'elf', debug_file => $_->[0][0], image_size => 0x10000, image_addr => $_->[1],
        debug_id => $_->[0][1] =~ s/^(.{8})(.{4})(.{4})(.{4})(.{12})(.)$/$1-$2-$3-$4-$5-$6/r,
    } } [\@lost, '0x100000'], [\@there, '0x200000'];
    my $r = $t->post("/symbolicate$query", $t->json({ modules => \@modules,
        stacktraces => [map { { frames => [map { { instruction_addr => $_ } } @$_] } } @stacks] }),
        'Content-Type' => 'application/json');
    is($r->{status}, 200, 'Sentry\'s API answers');
    return $r;
}

$r = ask_sentry('', ['0x101004', '0x201004', '0x101008', '0x10'], ['0x10100c']);
is($r->{json}{modules}[0]{debug_status}, 'missing', '... that a module is missing');
is($r->{json}{modules}[1]{debug_status}, 'found', '... and another is not');
$e = entry(\@lost, sub { $_[0]{requests} == 1 });
is($e->{frames}, 3, 'frames that lost names, of all stacks');
is("$e->{type} $e->{state} $e->{id}", "elf absent $lost[1]", 'what is missing');

$r = ask_sentry('?timeout=0', ['0x101004', '0x101008']);
is($r->{json}{status}, 'pending', 'a client that does not wait');
$e = entry(\@lost, sub { $_[0]{requests} >= 2 });
is("$e->{requests} $e->{frames}", '2 5', '... is counted once, too');
$t->ask(\@lost);
$e = entry(\@lost, sub { $_[0]{requests} >= 3 });
is("$e->{requests} $e->{frames}", '3 6', '... and v5 adds to the same entry');
is(scalar(grep { $_->{name} eq 'there.so' } modules('?show=all')), 0,
    'found modules are not listed');

is($t->end, '', 'the logs are clean');
done_testing();

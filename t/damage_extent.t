# Some bytes of a module's symbols have changed, and every offset is still
# valid: without a check its answers would be wrong unnoticed.  The request that
# reads such bytes treats the module as missing: the loader removes it, it is
# fetched again, and the answer is the same as before.  If no source has it, it
# is not found, and explain says why.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use Test::More;

my @module = ('crash-client', '509C0610949836F7B70BD88BCF03E5400');
my $file = SymTest::symbol_file(@module);
my $path = SymFetch::path(@module);
my $text = SymTest::slurp($file);
my @frames = map { [0, ($_ * 7919) % 3_000_000] } 1 .. 400;

sub ask {
    my ($t, $where) = @_;
    return $t->post(($where // '/symbolicate') . '/v5', $t->json({ jobs => [{
        memoryMap => [[@module]], stacks => [\@frames] }] }));
}

sub names {
    my ($r) = @_;
    return [map { $_->{function} } @{$r->{json}{results}[0]{stacks}[0]}];
}

sub found {
    my ($r) = @_;
    return $r->{json}{results}[0]{found_modules}{join '/', @module};
}

sub heartbeat { return $_[0]->request('GET', '/__heartbeat__')->{status} }

# The first extent is written last.  Damages one byte in the middle of each page
# of some other extents, as a failing disk or a stray write would.
sub damage {
    my ($t) = @_;
    my $data = $t->store . '/data.mdb';
    my $whole = SymTest::slurp($data);
    my $n = 0;

    open my $out, '+<:raw', $data or die "$data: $!";
    for (my $at = -1; ($at = index $whole, 'SYMC', $at + 1) >= 0;) {
        for my $place (map { $at + $_ * 4096 + 2000 } -150 .. -4) {
            next if $place < 4 * 4096 || $place >= length $whole;
            seek $out, $place, 0;
            print $out chr(ord(substr $whole, $place, 1) ^ 0x15);
            $n++;
        }
    }
    close $out;
    cmp_ok($n, '>', 100, 'bytes are damaged');

    # a worker that has read none of it yet
    my ($old) = $t->workers;
    $t->reload;
    $t->wait_for(sub { !grep { $_ == $old } $t->workers }, 'the old one is gone');
}

sub is_as_before {
    my ($t, $want, $what) = @_;
    my $r = ask($t);
    is($r->{status}, 200, "$what: answered");
    is(found($r), JSON::PP::true, '... found');
    is_deeply(names($r), $want, '... all names are right');
    is(heartbeat($t), 200, '... the heartbeat is well');
}

# --- a module that was fetched ---

my $sources = <<'CONF';
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
        location /admin {
            symbolicate;
            symbolicate_admin on;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source fault uri=/src/;
            symbolicate_negative_ttl absent=1s;
        }
        location /alone { symbolicate; }
CONF

# Each has its own store, so that the extents are where damage() expects them.
sub begin {
    return SymFetch->new(workers => 1, sources => $sources,
        how => 'symbolicate_budget 60s; symbolicate_negative_ttl absent=1s;')
        ->allow(qr/\[crit\].*symbol store/)->start;
}

sub load {
    my ($t) = @_;
    is($t->loader->run('load', $file)->{code}, 0, 'loaded by hand');
}

# How the module came: fetched, so that a large file may be requested twice, or
# loaded by hand.
sub made {
    my ($t) = @_;
    my @lines = $t->loader_log =~ /: ready$/mg;
    return scalar @lines;
}

my $t = begin();
$t->fault->file($path, $text);

my $want = names(ask($t));
cmp_ok(scalar(grep { defined } @$want), '>', 100, 'symbols are there');
is(made($t), 1, '... fetched once');

damage($t);
is_as_before($t, $want, 'damaged, and fetched again');
is(made($t), 2, '... once');
like($t->error_log, qr/a lookup found damaged bytes/, '... the log says why');
like($t->loader_log, qr/removed: the stored symbols are damaged/,
    "... and the loader's, too");
is_as_before($t, $want, 'requested once more');
is(made($t), 2, '... nothing is fetched');
is($t->loader->run('verify')->{code}, 0, 'the store is sound');
is($t->end, '', 'nothing is wrong');

# --- a module loaded by hand, and a source has it ---

$t = begin();
load($t);
$t->fault->file($path, $text);
is_as_before($t, $want, 'loaded by hand');
is($t->gets(@module), 0, '... nothing is fetched');
damage($t);
is_as_before($t, $want, 'damaged, and fetched instead');
is(made($t), 2, '... once');
is($t->end, '', 'nothing is wrong');

# --- no source has it ---

sub is_not_there {
    my ($r, $what) = @_;
    is($r->{status}, 200, "$what: answered");
    is(found($r), JSON::PP::false, '... not found');
    is(scalar(grep { defined } @{names($r)}), 0, '... without names');
}

sub reason {
    return $t->request('GET', '/admin/explain/' . join('/', @module))
        ->{json}{reason};
}

$t = begin();
load($t);
damage($t);
is_not_there(ask($t, '/alone'), 'damaged, and no source configured');
is(reason(), 'the stored symbols are damaged', '... explained');
is(heartbeat($t), 503, '... the heartbeat says so');
is_not_there(ask($t), 'damaged, and no source has it');
is(reason(), 'the stored symbols are damaged and were removed; load them again',
    '... explained');
is(heartbeat($t), 200, '... nothing damaged is left');
is($t->loader->run('verify')->{code}, 0, '... the store is sound');

load($t);
is_as_before($t, $want, 'loaded again');
is($t->end, '', 'nothing is wrong');

# --- the loader is away ---

$t = begin();
load($t);
damage($t);
$t->loader_stop;
my $r = ask($t);
is($r->{status}, 503, 'damaged, and no loader: an error');
is(heartbeat($t), 503, '... the heartbeat says so');
$t->loader_start;
$t->fault->file($path, $text);
$t->wait_for(sub { ask($t)->{status} == 200 }, 'the loader is back');
is_as_before($t, $want, '... and all is well');

is($t->end, '', 'nothing is wrong');

done_testing();

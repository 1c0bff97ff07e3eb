# A request needs more modules than the store holds: some that were found are
# evicted while it waits for others.  No frame of a module reported as found may
# lack its name; modules that do not fit are pending, and a client may retry.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use SymLoader qw(sym_text);
use Test::More;

my $MODULES = SymTest::is_slow() ? 80 : 200;
my $FUNCTIONS = SymTest::is_slow() ? 12_000 : 5_000;

my $t = SymFetch->new(serve => ['--jobs', 2, '--quota', '16m'],
    # shorter than the patience of the client
    how => "symbolicate_budget 20s;")->start;
my @modules = map { ["much$_.so", SymFetch::id($_)] } 1 .. $MODULES;

# names differ so much that the store must keep them all
my $body = sym_text('any', SymFetch::id(1), functions => $FUNCTIONS,
    lines => 1, prefix => 'much');
for my $module (@modules) {
    (my $text = $body) =~ s/^MODULE .*/MODULE Linux x86_64 $module->[1] $module->[0]/;
    $t->fault->file(SymFetch::path(@$module), $text);
}

# (found, pending, frames of found ones without a name, of others with one)
sub census {
    my ($r) = @_;
    my ($found, $pending, $nameless, $named) = (0, 0, 0, 0);
    for my $i (0 .. $#modules) {
        my $is_found = $t->found($r, @{$modules[$i]});
        my $function = $t->function($r, $i) // '';
        if (!defined $is_found) {
            $pending++;
            $named++ if $function ne '';
        } elsif ($is_found) {
            $found++;
            $nameless++ if $function ne 'much0';
        }
    }
    return ($found, $pending, $nameless, $named);
}

for my $round (1 .. 2) {
    my $r = $t->ask(@modules);
    is($r->{status}, 200, "round $round: answered");
    my ($found, $pending, $nameless, $named) = census($r);
    cmp_ok($found, '>', 0, '... some are found');
    cmp_ok($pending, '>', 0, '... others do not fit');
    is($found + $pending, $MODULES, '... none is reported as absent');
    is($nameless, 0, '... found modules have their names');
    is($named, 0, '... pending modules have none');
    like($r->{headers}{'retry-after'}, qr/^\d+$/,
        '... and may be requested again');
}

# modules that fit are found in the end
my @few = @modules[0 .. 9];
@modules = @few;
my @counts;
# modules of earlier rounds may still be in flight
$t->wait_for(sub { (@counts = census($t->ask(@few)))[0] == @few }, 'ten modules');
is_deeply(\@counts, [10, 0, 0, 0], 'ten of them at a time are all found');

ok($t->error_log !~ /damaged/, "no evicted module is reported as damage");
is($t->end, '', 'nothing is wrong');

done_testing();

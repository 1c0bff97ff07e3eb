# A worker caches what it wrote recently.  Clients must not notice: an answer is
# the same the first and the tenth time, and the next request sees every change
# of the loader.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

my @app = ('test_app.pdb', '5A9832E5287241C1838ED98914E9B7FF1');
my @client = ('crash-client', '509C0610949836F7B70BD88BCF03E5400');

sub body_of {
    my ($from, $frames, @module) = @_;
    return SymTest->json({ jobs => [{ memoryMap => [[@module]],
        stacks => [[map { [0, $from + 37 * $_] } 1 .. $frames]] }] });
}

sub started {
    my ($size) = @_;
    return SymTest->new
        ->load(map { SymTest::symbol_file(@$_) } \@app, \@client)
        ->conf(http => "symbolicate_answer_cache $size;",
            server => 'client_body_buffer_size 16m;')->start;
}

my $off = started('off');

# 64k hold a few hundred frames, so most of the entries are evicted again
for my $size ('64k', '16m') {
    my $t = started($size);
    my $wrong = 0;
    for my $round (1 .. 4) {
        for my $path ('/symbolicate/v5', '/symbolicate/v4') {
            for my $body (body_of(0x1000, 300, @app),
                body_of(0x2000, 500, @client), body_of(0x3000, 900, @client),
                body_of(0x1000, 3, @app))
            {
                $body =~ s/^\{"jobs":\[(.*)\]\}$/$1/s if $path =~ /v4/;
                my $got = $t->post($path, $body)->{body};
                my $want = $off->post($path, $body)->{body};
                $wrong++ if $got ne $want || $got !~ /"0x|\(in /;
            }
        }
    }
    is($wrong, 0, "$size: answers equal those without a cache");
    is($t->stop->log_trouble, '', "$size: the log is clean");
}

# --- the loader changes the store ---

my $t = started('16m');
my $body = body_of(0x1000, 50, @app);
my $before;
$before = $t->post('/symbolicate/v5', $body)->{body} for 1 .. 3;
like($before, qr/"function": /, 'symbols are there');

$t->symloader('rm', join '/', @app);
my $r = $t->post('/symbolicate/v5', $body);
is((values %{$r->{json}{results}[0]{found_modules}})[0], JSON::PP::false(),
    'removed: not found');
unlike($r->{body}, qr/"function": /, 'removed: no names');

my $file = $t->dir . '/other.sym';
open my $out, '>', $file or die "$file: $!";
print $out "MODULE windows x86 $app[1] $app[0]\nFUNC 1000 10000 0 another\n";
close $out;
$t->symloader('load', $file);
$r = $t->post('/symbolicate/v5', $body);
my %names = map { ($_->{function} || '') => 1 }
    @{$r->{json}{results}[0]{stacks}[0]};
is_deeply([keys %names], ['another'], 'loaded again: the new names');

is($_->stop->log_trouble, '', 'the log is clean') for $t, $off;

done_testing();

#!/usr/bin/perl

# A name of megabytes must not be copied for each source that is searched for
# its module: 14 KB of gzip took 1.2 GB.  A file name of more than 4,096 bytes
# cannot name a file, so no source is tried with it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Compress::Gzip qw(gzip);
use Test::More;

use SymGiven;

my $MB = 1_000_000;
my $t = SymGiven->new->start;
my ($worker) = $t->workers;

sub rss {
    my ($kib) = SymTest::slurp("/proc/$worker/status") =~ /^$_[0]:\s+(\d+) kB/m;
    return $kib * 1024;
}

$t->symbols('/s1', 'name.pdb', 5);
my @sources = map { $t->source("/s$_", id => "s$_") } 1 .. 64;
my %module = (type => 'pe', debug_id => SymGiven::guid(5), image_addr => '0x10000',
    image_size => 0x8000, debug_file => 'name.pdb');

sub ask {
    my (%more) = @_;
    my $body = $t->json({ sources => \@sources, modules => [ { %module, %more } ],
        options => { dif_candidates => JSON::PP::true },
        stacktraces => [{ frames => [ { instruction_addr => '0x11004' } ] }] });
    gzip(\$body => \my $packed, -Level => 9) or die 'gzip';
    cmp_ok(length $packed, '<', 20_000, 'a small request');
    return $t->post('/symbolicate', $packed, 'Content-Type' => 'application/json',
        'Content-Encoding' => 'gzip');
}

my $before = rss('VmRSS');
for my $key (qw(code_file debug_checksum)) {
    my $r = ask($key => 'n' x (14 * $MB));
    is($t->function_of($r, 0), 'f0',
        "a $key of 14 MB: the module is found without it");
}
my $r = ask(debug_file => 'n' x (14 * $MB));
is($t->status_of($r, 0), 'found', 'a debug_file of 14 MB: by its id');
cmp_ok(rss('VmHWM') - $before, '<', 96 * $MB, 'peak memory of the worker')
    if !SymTest::is_slow();

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();

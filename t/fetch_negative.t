# A file that a source does not have, or could not send, is not requested again
# before its record expires: by no worker, not after a reload, not after a
# restart of the daemon.  After that it is, and a file uploaded meanwhile is
# found.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use SymLoader qw(write_file);
use Test::More;

my $t = SymFetch->new(workers => 2, sources => <<'SOURCES', how => <<'CONF')->start;
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
        location /short { symbolicate; symbolicate_loader unix:%%LOADER%%;
            symbolicate_source short uri=/src/;
            symbolicate_negative_ttl absent=1s malformed=1s failed=1s; }
SOURCES
            symbolicate_source fault uri=/src/;
            symbolicate_negative_ttl failed=10m;
CONF

my @absent = ('absent.so', SymFetch::id(1));
my @failed = ('failed.so', SymFetch::id(2));
my @bad = ('bad.so', SymFetch::id(3));

$t->fault->script('src', 'status/404', 'status/500', 'ok');
$t->fault->file(SymFetch::path(@bad), 'no symbols');
is($t->ask([@absent])->{status}, 200, 'absent');
is($t->ask([@failed])->{status}, 503, 'failed');
is($t->ask([@bad])->{status}, 200, 'malformed');
is($t->fault->count, 3, 'three GETs');
$t->upload(@$_) for \@absent, \@failed, \@bad;

sub same {
    my ($when) = @_;
    # this many connections, so that both workers accept some
    my @sockets = map { $t->begin([@absent], [@bad]) } 1 .. 40;
    my @r = map { $t->response($_) } @sockets;
    is(scalar(grep { $_->{status} == 200 && $t->found($_, @absent) == 0
        && $t->found($_, @bad) == 0 } @r), 40, "$when: absent and malformed");
    @sockets = map { $t->begin([@failed]) } 1 .. 40;
    is(scalar(grep { $t->response($_)->{status} == 503 } @sockets), 40,
        "$when: failed");
    is($t->fault->count, 3, "$when: no GET");
    return;
}

same('again');
$t->reload;
same('after a reload');
$t->loader_stop;
same('without the daemon');
$t->loader_start;
same('after a restart of the daemon');

# --- short times ---

# Repeats until the answer is as wanted; returns the number of GETs that took.
sub until_found {
    my (@module) = @_;
    my $r;
    $t->wait_for(sub {
        $r = $t->post('/short/v5', $t->question([@module]));
        $r->{status} == 200 && $t->found($r, @module);
    }, "$module[0] is found");
    return $t->gets(@module);
}

my @late = ('late.so', SymFetch::id(4));
$t->fault->script('src', 'ok');
is($t->found($t->post('/short/v5', $t->question([@late])), @late), 0,
    'not there yet: 404');
$t->upload(@late);
is(until_found(@late), 2, 'uploaded, and found by the second GET');

my @weak = ('weak.so', SymFetch::id(5));
$t->upload(@weak);
$t->fault->script('src', 'status/500', 'ok');
is($t->post('/short/v5', $t->question([@weak]))->{status}, 503, 'it fails');
is(until_found(@weak), 2, 'working again, and found by the second GET');

my @broken = ('broken.so', SymFetch::id(6));
$t->fault->file(SymFetch::path(@broken), 'no symbols');
is($t->found($t->post('/short/v5', $t->question([@broken])), @broken), 0,
    'malformed');
$t->upload(@broken);
is(until_found(@broken), 2, 'repaired, and found by the second GET');

$t->allow(qr/symbol loader .* went away/);
is($t->end, '', 'nothing is wrong');

done_testing();

#!/usr/bin/perl

# A better file that appears later replaces a poor one: while the poor one
# answers, sources that had nothing are tried again in the background, once an
# hour.
#
# No test waits for an hour: a daemon whose clock is two hours late writes
# records that workers take for two hours old.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Cpanel::JSON::XS ();
use File::Path qw(make_path);
use File::Temp qw(tempdir);

use SentryCases;
use SymFixtures qw(fixtures);
use SymLoader qw(read_file write_file);
use SymTest ();

my $JSON = Cpanel::JSON::XS->new->utf8->canonical;
my $SYMBOLS = fixtures('sentry/symbols');
my $CUT = 'f1/c3bcc0279865fe3058404b2831d9e64135386c';

my $dir = tempdir('symtest-XXXXXX', TMPDIR => 1, CLEANUP => 1);
make_path("$dir/$_/f1") for qw(a b);
write_file("$dir/a/$CUT", read_file("$SYMBOLS/$CUT"));

# records are dated with time()
write_file("$dir/late.c", <<'C');
#define _GNU_SOURCE
#include <time.h>
time_t
time(time_t *out)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= 7200;
    if (out != NULL) {
        *out = now.tv_sec;
    }
    return now.tv_sec;
}
C
system("gcc -shared -fPIC -o $dir/late.so $dir/late.c") == 0 or BAIL_OUT('gcc');

my $t;

sub server {
    # one worker: it has logged a request before it reads the answer
    return SentryCases->new(workers => 1,
        served => "location /b/ { alias $dir/b/; log_not_found off; }",
        sentry => <<'CONF', sources => <<"LOCATIONS");
            symbolicate_source a uri=/a/ layout=native;
            symbolicate_source b uri=/b/ layout=native;
            symbolicate_negative_ttl absent=1s;
CONF
        location /a/ { internal; alias $dir/a/; log_not_found off; }
        location /b/ { internal; proxy_pass http://%%FILES%%/b/; }
LOCATIONS
}

sub ask {
    my $answer = $t->answer_of($JSON->encode({
        modules => [ { type => 'elf', code_id => 'f1c3bcc0279865fe3058404b2831d9e64135386c',
            debug_id => 'c0bcc3f1-9827-fe65-3058-404b2831d9e6', code_file => '/usr/bin/crash',
            image_addr => '0x100000000', image_size => 196608 } ],
        stacktraces => [ { frames => [ { instruction_addr => '0x100012c60' } ] } ],
        options => { apply_source_context => \0 },
    }));
    my $m = $answer->{body}{modules}[0];
    return $m->{debug_status} . ($m->{features}{has_debug_info} ? ' with lines' : '');
}

# Requests for the debug file at the second source.
sub asked {
    my @lines = grep {m{/b/\Q$CUT.debug\E }} split /\n/, read_file($t->dir . '/logs/files.log');
    return scalar @lines;
}

sub better { return write_file("$dir/b/$CUT.debug", read_file("$SYMBOLS/$CUT.debug")) }

# --- within the hour ---

$t = server()->start;
is(ask(), 'found', 'symbols alone');
is(asked(), 1, '... the other source had no file');
better();
sleep 2;    # after the time for which the file counts as absent
is(ask(), 'found',
    'a better file appeared, but the hour is not over') for 1 .. 3;
is(asked(), 1, '... the source is not tried again');
is($t->end, '', 'nothing is wrong');

# --- an hour later ---

unlink "$dir/b/$CUT.debug";
$t = server();
{
    local $ENV{LD_PRELOAD} = "$dir/late.so";
    local $ENV{ASAN_OPTIONS} = join ':', grep { defined && length } $ENV{ASAN_OPTIONS},
        'verify_asan_link_order=0';
    $t->loader_start;
}
$t->SymTest::start;

is(ask(), 'found', 'only symbols, two hours ago');
my $before = asked();
better();
is(ask(), 'found', 'the poor one answers meanwhile');
$t->wait_for(sub { ask() eq 'found with lines' }, 'the better file');
cmp_ok(asked(), '>', $before, 'the source was tried again');
$before = asked();
is(ask(), 'found with lines', 'the better file stays') for 1 .. 3;
is(asked(), $before, '... and its source is not tried any more');
is($t->end, '', 'nothing is wrong');

done_testing();

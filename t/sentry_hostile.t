#!/usr/bin/perl

# Requests to Sentry's API that are as expensive as clients can make them: of
# the maximal length, with as many modules or frames as fit, deeply nested, with
# repeated keys, and jobs that never end.  Each is answered within seconds;
# small requests do not wait for it; the memory is freed.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SentryCases;
use SymTest;
use Time::HiRes qw(sleep time);

# A sanitizer or valgrind makes everything slower by this factor.
my $SLOW = SymTest::is_slow() ? 20 : 1;
my $SMALL_S = 10 * $SLOW;     # the longest wait of a small request
my $KEPT_KB = 100_000 * $SLOW;    # of a worker, after all of them
my $SIZE = SymTest::is_slow() ? 0.1 : 1;

my $MODULE = '{"type":"elf","code_id":"f1c3bcc0279865fe3058404b2831d9e64135386c",'
    . '"code_file":"/usr/bin/crash","image_addr":"0x100000000",'
    . '"debug_id":"c0bcc3f1-9827-fe65-3058-404b2831d9e6"}';
my $FRAME = '{"instruction_addr":"0x10000a949"}';
my $SMALL = qq({"modules":[$MODULE],"stacktraces":[{"frames":[$FRAME]}]});

# One worker, so that a request that occupies it delays all others.
my $t = SentryCases->new(workers => 1,
    sources => 'location /stall/ { internal; proxy_pass http://%%FAULT%%/as/stall/; }'
        . 'location /slow/ { symbolicate sentry; symbolicate_loader unix:%%LOADER%%;'
        . '    symbolicate_source stall uri=/stall/; symbolicate_budget 1s;'
        . '    symbolicate_fetch_timeout 2s; }')->start;
my $first = $t->post_sentry($SMALL);
is($first->{json}{stacktraces}[0]{frames}[0]{status}, 'symbolicated',
   'a small request');
my ($worker) = $t->workers;

my $n = sub { int($_[0] * $SIZE) };
my %what = (
    'frames of one stack, 1,000,000' => [ qr/^200\z/,
        qq({"modules":[$MODULE],"stacktraces":[{"frames":[)
            . join(',', ($FRAME) x $n->(1_000_000)) . ']}]}' ],
    'stacks of one frame, 300,000' => [ qr/^200\z/,
        qq({"modules":[$MODULE],"stacktraces":[)
            . join(',', (qq({"frames":[$FRAME]})) x $n->(300_000)) . ']}' ],
    'modules, 100,000, none of them used' => [ qr/^(?:200|413)\z/,
        '{"stacktraces":[],"modules":[' . join(',',
            map { sprintf '{"type":"elf","code_file":"m%d","image_addr":%d}', $_,
                  4096 * ($_ * 7919 % 1_000_003) } 1 .. $n->(100_000)) . ']}' ],
    'modules at one address, 100,000' => [ qr/^(?:200|413)\z/,
        '{"modules":[' . join(',', ($MODULE) x $n->(100_000))
            . qq(],"stacktraces":[{"frames":[$FRAME]}]}) ],
    'registers of one stack, 1,000,000' => [ qr/^(?:200|413|422)\z/,
        '{"stacktraces":[{"frames":[],"registers":{' . join(',',
            map { qq("r$_":"0x$_") } 1 .. $n->(1_000_000)) . '}}]}' ],
    'one key, 2,000,000 times' => [ qr/^(?:200|400|413|422)\z/,
        '{"stacktraces":[],' . join(',', ('"platform":"x"') x $n->(2_000_000)) . '}' ],
    'unknown keys, 2,000,000' => [ qr/^(?:200|400|413|422)\z/,
        '{"stacktraces":[],' . join(',', map { qq("k$_":0) } 1 .. $n->(2_000_000))
            . '}' ],
    'depth of 10,000,000' => [ qr/^(?:400|413|422)\z/,
        '{"x":' . '[' x $n->(10_000_000) . ']' x $n->(10_000_000) . '}' ],
    'a string of 50 MB' => [ qr/^200\z/,
        '{"stacktraces":[],"platform":"' . 'x' x $n->(50_000_000) . '"}' ],
    'a function of 20 MB' => [ qr/^200\z/,
        '{"stacktraces":[{"frames":[{"instruction_addr":1,"function":"_Z'
            . 'N1a' x $n->(6_000_000) . '"}]}]}' ],
    'an id of 20 MB' => [ qr/^200\z/,
        '{"stacktraces":[{"frames":[{"instruction_addr":1}]}],"modules":'
            . '[{"type":"elf","code_id":"' . 'ab' x $n->(10_000_000) . '"}]}' ],
    'vars of 20 MB' => [ qr/^(?:200|413|422)\z/,
        '{"stacktraces":[{"frames":[{"instruction_addr":1,"vars":{'
            . join(',', map { qq("v$_":[[[0]]]) } 1 .. $n->(1_000_000)) . '}}]}]}' ],
    'sources, 100,000' => [ qr/^(?:200|413|422)\z/,
        '{"stacktraces":[],"sources":[' . join(',',
            map { qq({"id":"$_","type":"http","url":"http://127.0.0.1:9/$_/"}) }
                1 .. $n->(100_000)) . ']}' ],
    'addresses that are not numbers, 1,000,000' => [ qr/^(?:413|422)\z/,
        '{"stacktraces":[{"frames":[' . join(',',
            ('{"instruction_addr":"0x"}') x $n->(1_000_000)) . ']}]}' ],
);

for my $what (sort keys %what) {
    my ($status, $body) = @{ $what{$what} };
    my $beside = beside();
    my $begin = time;
    my $socket = $t->connect;
    $t->send_all($socket, $t->request_text('POST', '/sentry/symbolicate',
        body => $body, headers => [ 'Content-Type', 'application/json' ]));
    my $r = $t->raw_response($socket);
    close $socket;
    my $took = time - $begin;
    my ($longest, $good, $all) = @{ ended($beside) };

    like($r->{status} // 'none', $status, sprintf '%s: answered in %.1f s, %d MB',
         $what, $took, length($body) / 1e6);
    cmp_ok($longest, '<', $SMALL_S, sprintf '... small ones wait at most %.0f ms',
           1000 * $longest);
    is($good, $all, '... and are answered');
    undef $what{$what};
}

# --- jobs that never end ---
{
    $t->fault->script('stall', 'stall/5');
    my $begin = time;
    my %status;
    for my $i (1 .. 300) {
        my $id = sprintf '%08x-0000-4000-8000-000000000000', $i;
        my $r = $t->post('/slow/symbolicate?timeout=0',
            qq({"modules":[{"type":"elf","debug_file":"never$i.so","code_file":)
                . qq("never$i.so","debug_id":"$id","image_addr":4096}],)
                . qq("stacktraces":[{"frames":[{"instruction_addr":4100}]}]}),
            'Content-Type', 'application/json');
        $status{ $r->{json}{status} // $r->{status} }++;
    }
    cmp_ok(time - $begin, '<', 30 * $SLOW, 'jobs that never end, 300');
    cmp_ok($status{pending} // 0, '>', 50, '... many are accepted');
    is(($status{pending} // 0) + ($status{503} // 0) + ($status{completed} // 0),
       300, '... and none fails for another reason') or diag(explain(\%status));
    my $beside = beside();
    sleep 2;
    my ($longest, $good, $all) = @{ ended($beside) };
    is($good, $all, '... other clients are answered meanwhile');
    cmp_ok($longest, '<', $SMALL_S, '... soon');
}

is_deeply([ $t->workers ], [$worker], 'the same worker serves');
my $kept = $t->wait_for(sub { my $kb = memory_kb($worker);
                              $kb < $KEPT_KB ? $kb : 0 }, 'memory is freed');
note("the worker keeps $kept KB") if $kept;
is($t->end, '', 'a clean log');
done_testing();

sub memory_kb {
    my ($pid) = @_;
    return SymTest::slurp("/proc/$pid/status") =~ /^RssAnon:\s+(\d+)/m ? $1 : 0;
}

# A process that sends a small request every 20 ms on its own connection.
sub beside {
    pipe my $in, my $out or die "pipe: $!";
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        my $is_told;
        # a read that the signal interrupts is repeated: its answer counts
        POSIX::sigaction(POSIX::SIGTERM, POSIX::SigAction->new(
            sub { $is_told = 1 }, POSIX::SigSet->new, POSIX::SA_RESTART));
        my ($longest, $good, $all) = (0, 0, 0);
        do {
            my $begin = time;
            my $r = eval { $t->post_sentry($SMALL) } // {};
            my $took = time - $begin;
            $all++;
            $good++ if ($r->{json}{stacktraces}[0]{frames}[0]{status} // '')
                eq 'symbolicated';
            $longest = $took if $took > $longest;
            sleep 0.02;
        } while (!$is_told);
        print $out "$longest $good $all\n";
        close $out;
        POSIX::_exit(0);
    }
    close $out;
    return { pid => $pid, in => $in };
}

# [longest wait, number of answers, number of requests]
sub ended {
    my ($p) = @_;
    kill 'TERM', $p->{pid};
    my $line = readline($p->{in}) // '';
    waitpid $p->{pid}, 0;
    return [ split ' ', $line ];
}

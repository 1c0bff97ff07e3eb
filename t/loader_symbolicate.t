#!/usr/bin/perl

# `symloader symbolicate` answers an event, or a request of Sentry's API, from a
# folder of symbol files with the recorded answers of a real Symbolicator; with
# --server it sends the request to nginx and gets the same.  An event becomes
# the request that Sentry would send.  No temporary file is left behind.

use strict;
use warnings;

use Cpanel::JSON::XS ();
use FindBin;
use IO::Socket::INET;
use lib "$FindBin::Bin/lib";
use Test::More;

use SentryCases qw(differences);
use SymFixtures qw(fixtures need_fixtures);
use SymLoader qw(read_file write_file);

my $JSON = Cpanel::JSON::XS->new->utf8->canonical;
my $t = SymLoader->new;
need_fixtures('sentry/cases');
my $symbols = 'native:' . fixtures('sentry/symbols');
my %here = (no_store => 1, env => { TMPDIR => $t->dir . '/tmp' });
mkdir $t->dir . '/tmp';

sub run {
    my (@args) = @_;
    my $r = $t->run(\%here, 'symbolicate', @args);
    is_deeply([ glob $t->dir . '/tmp/*' ], [], '... nothing is left behind');
    return $r;
}

# A result without the parts that only a server knows: the status of the job,
# and the paths that its sources had.
sub result_of {
    my ($answer) = @_;
    delete $answer->{status};
    delete $_->{candidates} for @{ $answer->{modules} };
    return $answer;
}

# --- recorded requests, without a server: the same answers as nginx, which
# t/sentry_recorded.t compares with the recorded ones ---

my %named = ('macho-random' => 150, 'elf-arm64' => 300, 'elf-random' => 250,
             'elf-adjust' => 50, 'elf-no-adjust' => 50, 'pdb-x86' => 100,
             'pe-mingw-dwarf' => 80, dotnet => 5, wasm => 6);
my $nginx = SentryCases->new->start;

# A recorded request that leaves the choice of sources to the server.
sub request_of {
    my ($case) = @_;
    my $request = $JSON->decode($nginx->request_of($case));
    delete $request->{sources};
    return $JSON->encode($request);
}

for my $case (sort keys %named) {
    my $path = $t->file("$case.json", request_of($case));
    my $r = run('--symbols', $symbols, '--format', 'json', $path);
    my $got = eval { $JSON->decode($r->{out}) } // {};

    is($r->{err}, '', "$case: no complaint");
    ok(!exists $got->{status}, '... no status of a job');
    cmp_ok((grep { $_->{status} eq 'symbolicated' } map { @{ $_->{frames} } }
            @{ $got->{stacktraces} }), '>=', $named{$case}, '... frames with an answer');
    my @differ = differences(result_of($got),
        result_of($nginx->answer_of(request_of($case))->{body}));
    is(@differ, 0, '... as nginx answers')
        or diag(explain(@differ[0 .. ($#differ < 5 ? $#differ : 5)]));
}

# --- with a server, which answers the same ---

my $url = 'http://' . $nginx->address . '/sentry/symbolicate';
my $path = $t->dir . '/elf-arm64.json';
my ($local, $remote) = map { $_->{out} }
    run('--symbols', $symbols, '--format', 'json', $path),
    run('--server', $url, '--format', 'json', $path);
is_deeply($JSON->decode($remote), $JSON->decode($local), '--server: the same');

my $r = run('--server', $url, '--format', 'text', $path);
is($r->{out}, run('--symbols', $symbols, $path)->{out}, '... as text, too');
$r = run('--server', "$url/nothing", $path);
is($r->{code}, 1, 'a server without the API');
like($r->{err}, qr/status 404/, '... says so');
is($nginx->end, '', 'a clean log');

my $closed = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1) or die;
my $nobody = 'http://127.0.0.1:' . $closed->sockport . '/';
close $closed;
$r = run('--server', $nobody, $path);
is($r->{code}, 3, 'nobody listens');
like($r->{err}, qr/Connection refused/, '... why');

# Possible answers of a server, and the command's reaction.
sub served {
    my ($answer) = @_;
    my $listen = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1) or die;
    my $pid = fork() // die;
    if ($pid == 0) {
        my $client = $listen->accept;
        my $asked = '';
        while ($asked !~ /\r\n\r\n/) { sysread $client, $asked, 65536, length $asked or last }
        my ($length) = $asked =~ /content-length: (\d+)/i;
        my ($head) = $asked =~ /^(.*?\r\n\r\n)/s;
        while (length($asked) < length($head) + $length) {
            sysread $client, $asked, 65536, length $asked or last;
        }
        syswrite $client, $answer;
        close $client;
        POSIX::_exit(0);
    }
    my $got = run('--server', 'http://127.0.0.1:' . $listen->sockport, $path);
    waitpid $pid, 0;
    return $got;
}

for my $bad ([ '', 3, qr/closed the connection/ ],
             [ "HTTP/1.0 200 OK\r\n", 3, qr/closed the connection/ ],
             [ "SSH-2.0-OpenSSH_9.2\r\n\r\n", 3, qr/does not speak HTTP/ ],
             [ "HTTP/1.0 200 OK\r\nContent-Length: 99\r\n\r\n{}", 3, qr/closed the connection/ ],
             [ "HTTP/1.0 200 OK\r\n\r\n{", 3, qr/not JSON/ ],
             [ "HTTP/1.0 200 OK\r\n\r\n{\"status\":\"pending\"}", 1, qr/the server says: .*pending/ ],
             [ "HTTP/1.0 503 Busy\r\n\r\nfull\e[31m", 1, qr/status 503: full\?/ ]) {
    my ($answer, $code, $why) = @$bad;
    my $got = served($answer);
    is($got->{code}, $code, "answer '" . substr($answer =~ s/[^ -~]+/ /gr, 0, 40) . "'");
    like($got->{err}, $why, '... why');
    is($got->{out}, '', '... and no output');
}

# --- a signal, at any time ---

for my $ms (1, 10, 20, 40, 80) {
    my $p = $t->start(\%here, 'symbolicate', '--symbols', $symbols, $path);
    select undef, undef, undef, $ms / 1000;
    kill INT => $p->{pid};
    close $p->{$_} for qw(in out);
    my $ended = $t->wait($p);
    ok($ended->{signal} == 2 || defined $ended->{code}, "a signal after $ms ms ends it");
    # even before main() has begun it leaves nothing
    is_deeply([ glob $t->dir . '/tmp/*' ], [], '... nothing is left behind');
}

# --- events ---

my $image = { type => 'macho', image_addr => '0x100000000', image_size => 196608,
              debug_id => '67e9247c-814e-392b-a027-dbde6748fcbf', code_file => '/x/crash' };
my $event = {
    event_id => '1' x 32, platform => 'native',
    exception => { values => [
        { type => 'EXC', stacktrace => { frames => [
            { instruction_addr => '0x100005ced', pre_context => undef },
            { function => 'no_address' },
            { instruction_addr => '0x10000ae08', in_app => Cpanel::JSON::XS::true() } ] } },
        { type => 'RAW', raw_stacktrace => { frames => [ { instruction_addr => '0x100005808' } ] },
          stacktrace => { frames => [ { instruction_addr => '0x1' } ] } },
        { type => 'NONE', stacktrace => undef } ] },
    threads => { values => [
        { id => 1, stacktrace => { is_requesting => Cpanel::JSON::XS::true(),
                                   frames => [ { instruction_addr => '0x10000ce82' } ] } },
        { id => 2, stacktrace => { frames => [] } } ] },
    debug_meta => { images => [ { type => 'proguard', uuid => 'x' }, $image ] },
};
my $request = {
    platform => 'native', modules => [$image],
    stacktraces => [
        { is_requesting => Cpanel::JSON::XS::false(),
          frames => [ { instruction_addr => '0x10000ae08', in_app => Cpanel::JSON::XS::true() },
                      { instruction_addr => '0x100005ced' } ] },
        { is_requesting => Cpanel::JSON::XS::false(),
          frames => [ { instruction_addr => '0x100005808' } ] },
        { is_requesting => Cpanel::JSON::XS::true(),
          frames => [ { instruction_addr => '0x10000ce82' } ] } ],
};
my ($of_event, $of_request) = map {
    run('--symbols', $symbols, '--format', 'json', $t->file('in.json', $JSON->encode($_)))
} $event, $request;
is($of_event->{code}, 0, 'an event is answered');
is($of_event->{out}, $of_request->{out},
    '... like the request that it becomes');
is_deeply([ map { scalar @{ $_->{frames} } }
            @{ $JSON->decode($of_event->{out})->{stacktraces} } ], [ 2, 1, 1 ],
          '... frames with an address, from stacks that have some');

# --- as text ---

$r = run('--symbols', $symbols, $t->file('in.json', $JSON->encode($event)));
my @lines = split /\n/, $r->{out};
is($lines[0], 'Stack 0', 'text: a stack');
like($lines[1], qr/^   0  0x00010000ae08  crash \+0xae08  google_breakpad::UTF16ToUTF8\(.* \+0x48$/,
     '... its innermost call');
like($lines[2], qr/^        at .*string_conversion\.cc:128$/,
    '... with its position');
like($r->{out}, qr/^Stack 2 \(crashed\)$/m, '... the thread that crashed');

$image->{debug_id} = '00000000-0000-0000-0000-000000000001';
$r = run('--symbols', $symbols, $t->file('in.json', $JSON->encode($event)));
is($r->{code}, 1, 'a module without symbols: exit code 1');
like($r->{out}, qr/^No symbols:\n  crash 00000000-0000-0000-0000-000000000001: missing$/m,
     '... is listed');

# --- refused input ---

for my $bad ([ 'MDMP' . "\0" x 40, qr/minidumps are not read/ ],
             [ "Incident Identifier: 1\n", qr/crash reports are not read/ ],
             [ '{', qr/the event is not JSON/ ], [ '[]', qr/not a JSON object/ ],
             [ '{}', qr/no debug images/ ],
             [ $JSON->encode({ debug_meta => { images => [$image] } }), qr/no frames with an address/ ],
             [ '{"stacktraces": 1}', qr/./ ]) {
    my ($text, $why) = @$bad;
    my $got = run('--symbols', $symbols, $t->file('in.json', $text));
    is($got->{code}, 2, 'refused: ' . substr($text =~ s/[^ -~]+/ /gr, 0, 30));
    like($got->{err}, $why, '... why');
    is($got->{out}, '', '... and no output');
}

for my $bad ([ [ '--symbols', "nothing:$symbols" ], qr/no such layout/ ],
             [ [ '--symbols', '/nonexistent' ], qr/No such file/ ],
             [ [ '--server', 'https://127.0.0.1/' ], qr/not http:/ ],
             [ [ '--format', 'breakpad' ], qr/json or text/ ],
             [ [], qr/no store given/ ]) {
    my ($options, $why) = @$bad;
    my $got = run(@$options, $path);
    cmp_ok($got->{code}, '>=', 2, "refused: @$options");
    like($got->{err}, $why, '... why');
}

done_testing();

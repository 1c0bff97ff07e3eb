# HTTP/2 has its own body reading and its own flow control, which splits a large
# answer into many small steps.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

my @module = ('overflow', 'B0E1FC01EF48E39CAF5C881D2DF0C3840');

my $t = SymTest->new->load(SymTest::symbol_file(@module));
my $text = $t->conf_text;
$text =~ s/listen %%ADDRESS%%/listen %%ADDRESS%% http2/ or die 'no listen';

# the harness only speaks HTTP/1; curl sends the requests here
my ($code, $said) = $t->check($text);
is($code, 0, 'nginx takes the configuration') or diag($said);
$t->spawn($text);

sub curl {
    my ($path, $body, @more) = @_;
    my $file = $t->dir . '/body';
    open my $out, '>', $file or die "$file: $!";
    print $out $body if defined $body;
    close $out;
    open my $in, '-|', 'curl', '-sS', '--http2-prior-knowledge', '--max-time',
        $SymTest::PATIENCE, '-w', '\n%{http_version} %{http_code}',
        defined $body ? ('--data-binary', "\@$file") : (), @more, 'http://' . $t->address . $path
        or die "curl: $!";
    local $/;
    my $answer = <$in>;
    close $in;
    my ($json, $version, $status) = $answer =~ /^(.*)\n(\S+) (\d+)$/s
        or return {};
    return { body => $json, version => $version, status => $status,
        json => eval { JSON::PP->new->decode($json) } };
}

sub body_of {
    my ($frames) = @_;
    return $t->json({ jobs => [{ memoryMap => [[@module]],
        stacks => [[map { [0, 0x1000 + $_ % 5000] } 1 .. $frames]] }] });
}

my $r = curl('/symbolicate/v5', body_of(3));
is($r->{status}, 200, 'a small request');
is($r->{version}, 2, 'over HTTP/2');
is(scalar @{$r->{json}{results}[0]{stacks}[0]}, 3, 'its frames');

$r = curl('/symbolicate/v5', body_of(30_000));
is($r->{status}, 200, 'a large request');
is($r->{version}, 2, 'over HTTP/2');
cmp_ok(length $r->{body}, '>', 2_000_000, 'its answer is large');
my $frames = $r->{json}{results}[0]{stacks}[0];
is(scalar @$frames, 30_000, 'all of its frames');
is_deeply([map { $_->{frame} } @$frames], [0 .. 29_999], 'in their order');

is(curl('/symbolicate/v5', '{')->{status}, 400, 'bad JSON');
# without a body: in HTTP/2, nginx closes a stream whose body it does not read,
# and curl may or may not have seen the answer by then
is(curl('/symbolicate/v6')->{status}, 404, 'an unknown path');
is(curl('/symbolicate/v5', body_of(3), '-H', 'Content-Encoding: br')->{status},
    415, 'an unknown encoding');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();

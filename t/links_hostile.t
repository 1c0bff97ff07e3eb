#!/usr/bin/perl

# A PDB may link to its source text at any host.  A host that redirects for ever
# or to an internal host, sends without end or nothing, or sends 200 MB costs
# the request its source lines and no more: frames keep their names and lines,
# the internal host gets no request, and no worker keeps what it received.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP qw(decode_json);
use Test::More;

use SymFixtures qw(need_fixtures);
use SymGiven;
use SymLoader qw(write_file);

my $ID = '37E9E8A61A8E404EB93C6902E277FF55';
my $PDB = "source-links.pdb/${ID}ffffffff/source-links.pdb";
my $FILE = need_fixtures("sentry/symbols/$PDB");
my $TEXT = 'src/libraries/Common/src/System/ThrowHelper.cs';
my $THEIRS = 'https://raw.githubusercontent.com/dotnet/runtime/'
    . 'd099f075e45d2aa6007a22b71b45a08758559f80/';
my $LIMIT = 64e6;    # bytes; the text of 200 MB is larger

my $t = SymGiven->new(workers => 1, location => 'proxy_read_timeout 10s;')->start;
my ($fault, $given) = ($t->fault->address, $t->address_of_servers);
my $pdb = SymTest::slurp($FILE);
my $inner = "127.0.0.2:$t->{fault}{port}";
my ($worker) = $t->workers;
my $n = 0;

# The path of the text, if the PDB links to the base; the PDB is below /l$n/.
sub link_to {
    my ($base) = @_;
    my $link = "http://$base/";

    # as long as theirs
    $link .= '-' x (length($THEIRS) - 1 - length $link) . '/';
    (my $mine = $pdb) =~ s/\Q$THEIRS\E/$link/g;
    $t->route('/l' . ++$n . "/$PDB", file => write_file($t->dir . "/links$n", $mine));
    return $link =~ s{^http://[^/]+}{}r . $TEXT;
}

# Requests a frame of a PDB that links to the base.
sub begin {
    my ($what, $base, $prepare) = @_;
    my $path = link_to($base);
    my $socket = $t->connect;

    $prepare->($path) if $prepare;
    $t->send_all($socket, $t->request_text('POST', '/symbolicate',
        headers => ['Content-Type' => 'application/json'], body => $t->json({
            sources => [{ id => "s$n", type => 'http', url => "http://$given/l$n/",
                filters => {} }],
            modules => [{ type => 'pe_dotnet', debug_file => 'source-links.pdb',
                debug_id => '37e9e8a6-1a8e-404e-b93c-6902e277ff55-a09672e1' }],
            stacktraces => [{ frames => [{ instruction_addr => 1, function_id => 7,
                addr_mode => 'rel:0' }] }] })));
    return [$what, $socket];
}

# The frame of the answer.
sub finish {
    my ($what, $socket) = @{ $_[0] };
    my $r = $t->response($socket);

    is($r->{status}, 200, "$what: answered");
    my $frame = decode_json($r->{body})->{stacktraces}[0]{frames}[0];
    like($frame->{abs_path}, qr/ThrowHelper/, '... the frame has its file');
    ok($frame->{lineno}, '... and its line');
    return $frame;
}

sub without_text {
    is(finish($_)->{context_line}, undef, '... but no text') for @_;
    return;
}

# The text is below a folder of the fault server.
sub text_is {
    my ($text) = @_;
    return sub { $t->fault->file($_[0] =~ s{^/[a-z]+/(?:\d+/)?}{}r, $text) };
}

sub kib {
    my ($field) = @_;
    return SymTest::slurp("/proc/$worker/status") =~ /^$field:\s+(\d+) kB/m ? $1 : die $field;
}

{
    my $frame = finish(begin('a sound host', "$fault/ok",
        text_is(join '', map { "line $_\n" } 1 .. 200)));
    is($frame->{context_line}, "line $frame->{lineno}", '... and its text');
}

my $before = kib('VmHWM');
my $slow = begin('a host that drips', "$fault/drip/500", text_is("x\n" x 500));
without_text(map { begin(@$_) }
    ['a redirect to itself', "$given/loop", sub {
        $t->route($_[0], status => 302, headers => { Location => "http://$given$_[0]" });
    }],
    ['a redirect to an internal host', "$given/away", sub {
        $t->route($_[0], status => 302, headers => { Location => "http://$inner/secret" });
    }],
    ['one that stalls', "$fault/stall/20", text_is("x\n" x 500)],
    ['one that does not answer', "$fault/blackhole"],
    ['one that does not speak HTTP', "$fault/garbage"],
    ['one that does not end', "$fault/endless"],
    ['a text of 200 MB', "$fault/ok/large", text_is(('x' x 199 . "\n") x 1_000_000)]);

is(finish($slow)->{context_line}, 'x',
    '... and its text, which arrives slowly');

my $asked = grep { $_->{target} =~ /loop/ } $t->requests;
cmp_ok($asked, '<=', 11, "the redirect to itself was followed $asked times");
is($t->fault->count('/secret'), 0, 'the internal host got no request');

# a sanitizer and valgrind have allocators of their own
if (!SymTest::is_slow()) {
    my $more = kib('VmHWM') - $before;
    cmp_ok($more, '<', $LIMIT / 1024, "the worker grew by at most $more KiB");
}

is($t->end, '', 'nothing is wrong');
done_testing();

# The daemon, the client that fetches, or a converter is killed after each message.
# Nothing is lost: the object arrives, outcomes that were reported are not asked for
# again, and no other search is stuck.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Socket qw(AF_UNIX SOCK_SEQPACKET pack_sockaddr_un);
use Test::More;

use SymDwz;
use SymElf;
use SymLoader qw(json_lines sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my ($ABSENT, $MALFORMED) = (2, 4);
our @TTL = (ttl => [ 3600, 3600, 3600 ]);

my $package = SymDwz->new(SymElf::folder());
my $t = SymServe->new->serve('--jobs', 1);
my $n = 0;

# A client whose object is in this state after the last message that it sent or
# received.  `one` needs a companion; `gone` is nowhere.
my %file = (one => $package->{one}{debug}, common => $package->{common}{debug});
my %key = (one => 'one/' . uc $package->{one}{id});

sub object {
    my ($what) = @_;
    return $what if $key{$what};
    my $name = $what . ++$n;
    $key{$name} = "$name.so/$ID";
    $file{$name} = $t->file($name, sym_text("$name.so", $ID, lines => 1));
    return $name;
}

# [last message, object, messages that lead there]
my @steps = (
    [ ENSURE => 'm' ],
    [ FETCH => 'm', 'FETCH' ],
    [ MORE => 'm', qw(FETCH MORE) ],
    [ 'the larger FETCH' => 'm', qw(FETCH MORE FETCH) ],
    [ INGEST => 'm', qw(FETCH INGEST) ],
    [ READY => 'm', qw(FETCH INGEST READY) ],
    [ NONE => 'gone', qw(FETCH NONE) ],
    [ NEGATIVE => 'gone', qw(FETCH NONE NEGATIVE) ],
    [ 'FETCH of a companion' => 'one', qw(FETCH INGEST FETCH) ],
    [ 'INGEST of a companion' => 'one', qw(FETCH INGEST FETCH COMMON) ],
);

sub ensure {
    my ($c, $name) = @_;
    $c->send(ENSURE => ticket => 1, scope => 's', key => $key{$name});
    return;
}

sub answer {
    my ($c, $what, $name) = @_;
    $c->send(MORE => ticket => 1, length => 2 << 20) if $what eq 'MORE';
    $c->send(NONE => ticket => 1, state => $ABSENT, text => 'no', places => [ [ 0, 2, 404 ] ], @TTL)
        if $what eq 'NONE';
    $c->send(INGEST => ticket => 1, path => $file{$name}, @TTL) if $what eq 'INGEST';
    $c->send(INGEST => ticket => 1, path => $file{common}, places => [], @TTL) if $what eq 'COMMON';
    return;
}

# Sends and receives these messages.
sub reach {
    my ($c, $name, @messages) = @_;
    for my $message (@messages) {
        if ($message =~ /^(?:FETCH|READY|NEGATIVE)$/) {
            my $m = $c->recv;
            $m->{type} eq $message or die "$message expected, not $m->{type}: " . ($m->{text} // '') . "\n";
        } else {
            answer($c, $message, $name);
        }
    }
    return;
}

# Answers each FETCH until the search ends; returns the last message, and the FETCHes.
sub finish {
    my ($c, $name) = @_;
    my $fetches = 0;
    for (1 .. 10) {
        my $m = $c->recv;
        return ($m, $fetches) if $m->{type} ne 'FETCH';
        $fetches++ if !$m->{kind};
        answer($c, $m->{kind} ? 'COMMON' : $name =~ /^gone/ ? 'NONE' : 'INGEST', $name);
    }
    return ({ type => 'no end' }, $fetches);
}

sub is_whole {
    my ($what, $name, $m) = @_;
    return is($m->{state}, $ABSENT, "$what: absent in the end") if $name =~ /^gone/;
    is($m->{type}, 'READY', "$what: it arrives") or diag(explain($m));
    my ($shown) = json_lines($t->run('show', '--json', $key{$name})->{out});
    is($shown->{incomplete}, '', '... complete') if $name eq 'one';
    $t->run('rm', $key{$name});
    return;
}

# A daemon keeps companions.
sub start_again {
    $t->stop;
    # a converter that has only just been forked has the socket for a moment
    my $until = time + 60;
    while (time < $until) {
        socket my $s, AF_UNIX, SOCK_SEQPACKET, 0 or die "socket: $!\n";
        connect $s, pack_sockaddr_un($t->socket_path) or last;
        select undef, undef, undef, 0.01;
    }
    $t->serve('--jobs', 1);
    return;
}

# --- the daemon ---

for my $step (@steps) {
    my ($what, $kind, @messages) = @$step;
    start_again() if $kind eq 'one';
    my $name = object($kind);
    my $c = $t->client;
    ensure($c, $name);
    reach($c, $name, @messages);
    kill 'KILL', $t->pid;
    start_again();
    my $next = $t->client;
    ensure($next, $name);
    my ($m, $fetches) = finish($next, $name);
    is_whole("the daemon is killed after $what", $name, $m);
    is($fetches, 0, '... without another FETCH') if $what =~ /^(?:READY|NEGATIVE)$/;
}

# --- the client that fetches: another one waits, and so does another search ---

for my $step (grep { $_->[0] ne 'READY' && $_->[0] ne 'NEGATIVE' } @steps) {
    my ($what, $kind, @messages) = @$step;
    start_again() if $kind eq 'one';
    my $name = object($kind);
    my ($c, $waits, $other) = map { $t->client } 1 .. 3;
    ensure($c, $name);
    reach($c, $name, 'FETCH');
    ensure($waits, $name);
    $waits->sync;
    $other->send(ENSURE => ticket => 1, scope => 's', key => $key{$name}, flags => 1);
    $other->sync;
    reach($c, $name, @messages[1 .. $#messages]);
    $c->close;
    my ($m) = finish($waits, $name);
    if ($m->{type} eq 'READY') {
        is((finish($other, $name))[0]{type}, 'READY', "the client is killed after $what: the other search ends");
    } else {
        is((finish($other, $name))[0]{state}, $ABSENT, "the client is killed after $what: the other search ends");
    }
    is_whole("the client is killed after $what", $name, $m);
    $_->close for $waits, $other;
}
is($t->stats->{$_}, 0, "$_: nothing is left") for qw(flights waiting lease_bytes);

# --- a converter ---

{
    local @TTL = (ttl => [ 1, 1, 1 ]);    # the killed converter may be the other search's
    my $name = object('m');
    my ($c, $other) = map { $t->client } 1 .. 2;
    $file{$name} = $t->file("$name.large", sym_text("$name.so", $ID, functions => 300_000, lines => 1));
    ensure($c, $name);
    reach($c, $name, 'FETCH');
    $other->send(ENSURE => ticket => 1, scope => 's', key => $key{$name}, flags => 1);
    $other->sync;
    $c->send(INGEST => ticket => 1, path => $file{$name}, @TTL);
    ok($t->wait_stat(conversions_running => 1), 'a converter works');
    kill 'KILL', $t->converters;
    my $m = $c->recv;
    is("$m->{type} $m->{state}", 'NEGATIVE 3', '... is killed: failed');
    $m = $other->recv;
    isnt($m->{type}, 'NOTHING', '... and the other search goes on');
    answer($other, 'INGEST', $name) if $m->{type} eq 'FETCH';
    $m = $other->recv if $m->{type} eq 'FETCH';
    my $until = time + 30;
    while ($m->{type} ne 'READY' && time < $until) {
        ensure($c, $name);
        ($m) = finish($c, $name);
    }
    is($m->{type}, 'READY', 'it is there after the failure has expired');
}

is($t->stop->{code}, 0, 'a clean end');
is($t->verify, 'sound', 'the store is sound');
done_testing();

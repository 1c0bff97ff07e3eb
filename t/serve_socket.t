#!/usr/bin/perl

# The socket: who may use it, what happens to the socket file of a killed
# daemon, and that files of others are never removed.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use POSIX ();
use Socket;
use Test::More;

use SymLoader qw(sym_text write_file);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymServe->new;
my $path = $t->socket_path;

sub mode { return (stat shift)[2] & 07777 }

$t->run('init');
$t->serve;
ok(-S $path, 'inside the store by default');
is(mode($path), 0660, '... for owner and group');
is((stat $path)[5], (stat $t->store)[5], '... the group is the store\'s');

my $r = $t->run('serve');
is($r->{code}, 4, 'a second daemon is refused');
ok(-S $path, '... and leaves the socket of the first');
is($t->client->hello->{type}, 'WELCOME', '... which continues');

my $other = SymLoader->new;
$r = $other->run('serve', '--socket', $path);
is($r->{code}, 4, 'one for another store with the same socket is refused, too');
like($r->{err}, qr/another program listens/, '... with the reason');
is($t->client->hello->{type}, 'WELCOME', '... and the first continues');

$t->stop('KILL');
ok(-S $path, 'a killed daemon leaves its socket');
$t->serve('--socket-mode', '600');
is($t->client->hello->{type}, 'WELCOME', '... the next replaces it');
is(mode($path), 0600, '... with the requested permissions');
is($t->stop->{code}, 0, 'a clean end');
ok(!-e $path, '... removes it');

# As a converter does that was forked just before its daemon was killed.
socket(my $held, AF_UNIX, SOCK_SEQPACKET, 0) or die "socket: $!";
bind($held, pack_sockaddr_un($path)) && listen($held, 8) or die "listen: $!";
my $holder = fork() // die "fork: $!";
if (!$holder) {
    select(undef, undef, undef, 0.3);
    POSIX::_exit(0);
}
close($held);
$t->serve;
is($t->client->hello->{type}, 'WELCOME',
   'a socket that a child of a killed daemon holds for a moment is replaced');
waitpid($holder, 0);
is($t->stop->{code}, 0, '... a clean end');

write_file($path, 'precious');
$r = $t->run('serve');
is($r->{code}, 3, 'another file is in its place: no start');
like($r->{err}, qr/its path exists and is not a socket/, '... why');
is(SymLoader::read_file($path), 'precious', '... and the file is untouched');
unlink($path);

$r = $t->run('serve', '--socket', "$t->{dir}/" . 'x' x 120);
is($r->{code}, 3, 'a path too long for a socket');
like($r->{err}, qr/path is too long/, '... why');

$r = $t->run('serve', '--socket', "$t->{dir}/nowhere/sock");
is($r->{code}, 3, 'a folder that does not exist');
like($r->{err}, qr{^symloader: \Q$t->{dir}\E/nowhere/sock: cannot make the socket: No such file},
     '... the error names the socket');

$r = $t->run('serve', '--socket-group', 'no-such-group-here');
is($r->{code}, 3, 'no such group');
like($r->{err}, qr/no such group: --socket-group/, '... why');

# --- passed by systemd: descriptor 3, LISTEN_FDS, LISTEN_PID ---

# The process that becomes the daemon, started the way systemd does, and its
# log.
sub serve_passed {
    my ($type) = @_;
    my $passed = "$t->{dir}/passed.sock";

    unlink($passed);
    socket(my $s, AF_UNIX, $type, 0) or die "socket: $!";
    bind($s, pack_sockaddr_un($passed)) or die "bind: $!";
    listen($s, 8) or die "listen: $!";
    pipe(my $read, my $write) or die "pipe: $!";

    my $pid = fork() // die "fork: $!";
    if ($pid == 0) {
        POSIX::dup2(fileno($write), 2);
        # a high number first: 3 itself would be closed by exec
        my $high = POSIX::dup2(fileno($s), 100);
        POSIX::dup2($high, 3);
        @ENV{qw(LISTEN_FDS LISTEN_PID)} = (1, $$);
        exec { $t->{program} } 'symloader', 'serve', '--store', $t->store;
    }
    return ($passed, $pid, $read);
}

local $SIG{ALRM} = sub { die "it hangs\n" };
alarm(120);
{
    my ($passed, $pid, $log) = serve_passed(SOCK_SEQPACKET);

    like(scalar(readline($log)), qr/listening on/,
         'a socket passed by systemd is used');
    my $c = SymServe->new;
    $c->{socket} = $passed;
    is($c->client->hello->{type}, 'WELCOME', '... and served');
    kill('TERM', $pid);
    waitpid($pid, 0);
    is($?, 0, 'a clean end');
    ok(-S $passed, '... leaves it to systemd');
    ok(!-e $path, '... and has created none of its own');
}

{
    my ($passed, $pid, $log) = serve_passed(SOCK_STREAM);

    like(scalar(readline($log)), qr/ListenSequentialPacket=/,
         'a socket of another kind is refused, and the error says what to write');
    waitpid($pid, 0);
    is($? >> 8, 3, '... by its exit code');
}
alarm(0);

is($t->verify, 'sound', 'the store is sound');

done_testing();

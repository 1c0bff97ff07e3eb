package SymStranger;

# SymStranger - plays a loader for nginx that sends what a test wants, by
# docs/formats/loader-protocol.md.
#
#     my $listen = stranger($path);        a socket that workers may open
#     my $c = can_read($listen)->accept;   dies if no worker connects
#     my ($number, $rest) = hear($c, $ENSURE);
#     welcome($c);                         after hear(): HELLO
#     say($c, $FETCH, 'VVQ<', $ticket, 0, $lease);
#
# The number of a message is its ticket, or HELLO's version.

use strict;
use warnings;

use Exporter qw(import);
use IO::Select;
use IO::Socket::UNIX;
use Socket qw(SOCK_SEQPACKET);
use SymTest;
use Test::More ();

our @EXPORT_OK = qw(stranger can_read hear welcome say);

my $VERSION = 19;
my $MAGIC = 0x4c53;
my ($HELLO, $WELCOME) = (1, 64);

sub stranger {
    my ($path) = @_;
    my $listen = IO::Socket::UNIX->new(Type => SOCK_SEQPACKET, Local => $path,
        Listen => 8) or die "$path: $!";
    chmod 0777, $path;
    return $listen;
}

sub can_read {
    my ($fh) = @_;
    IO::Select->new($fh)->can_read($SymTest::PATIENCE) or die 'nobody speaks';
    return $fh;
}

# A message of this type: its number, and the bytes after it.
sub hear {
    my ($c, $type) = @_;
    sysread can_read($c), my $packet, 8192 or die 'nginx is gone';
    my ($magic, $got, $number, $rest) = unpack 'vvVa*', $packet;
    Test::More::is("$magic $got", "$MAGIC $type", "nginx says $type");
    return ($number, $rest);
}

sub say {
    my ($c, $type, $template, @fields) = @_;
    syswrite $c, pack "vv$template", $MAGIC, $type, @fields;
    return;
}

# The first message of a worker, and the answer.
sub welcome {
    my ($c) = @_;
    my ($version) = hear($c, $HELLO);
    Test::More::is($version, $VERSION, "of version $VERSION");
    say($c, $WELCOME, 'V', $VERSION);
    return $c;
}

1;

# A store that does not exist yet, was written by a newer program, or that the
# worker may not open must never break the service for good: the answer is a 503
# that says why, the log has one clear line, and the first request after the
# repair is answered, without a restart.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

use Compress::Zlib qw(crc32);
use File::Path qw(remove_tree);

my @module = ('overflow', 'B0E1FC01EF48E39CAF5C881D2DF0C3840');
my @other = ('null_read_av', '7B7D1968FF0D47AE4366E9C3A7E1B6750');
my $file = SymTest::symbol_file(@module);

my $t = SymTest->new->start;

sub ask {
    my (@wanted) = @_;
    @wanted = @module if !@wanted;
    return $t->post_json('/symbolicate/v5',
        { stacks => [[[0, 4096]]], memoryMap => [[@wanted]] });
}

sub found {
    my ($r, @wanted) = @_;
    @wanted = @module if !@wanted;
    return $r->{json}{results}[0]{found_modules}{join '/', @wanted};
}

sub unavailable {
    my ($r, $why, $name) = @_;
    is($r->{status}, 503, "$name: 503");
    is($r->{json}{title}, '503 Service Unavailable', "$name: title");
    like($r->{json}{description}, $why, "$name: why");
    unlike($r->{body}, qr/\Q@{[$t->dir]}/, "$name: no path is disclosed");
    like($r->{headers}{'retry-after'}, qr/^\d+$/, "$name: Retry-After");
}

# Lines about the store, and how often each must be logged.
sub lines { return grep { /symbol store "/ } split /\n/, $t->error_log }

# Gives the store another format version: the value of "version" in LMDB's
# pages, a number of 64 bits and the CRC-32 of it with its name
# (docs/formats/store.md).  The file is replaced, as by a newer symloader.
sub set_version {
    my ($version) = @_;
    my $data = $t->store . '/data.mdb';
    my $pages = SymTest::slurp($data);
    my $n = pack 'Q<', $version;
    my $value = $n . pack 'L<', crc32("version$n");
    $pages =~ s/version[\x07\x63]\0{7}.{4}/version$value/gs or die 'no version found';
    open my $out, '>:raw', "$data.new" or die "$data.new: $!";
    print $out $pages;
    close $out;
    rename "$data.new", $data or die "rename: $!";
    return;
}

# --- not there yet ---

unavailable(ask(), qr/does not exist/, 'no store');
ask() for 1 .. 50;
is(scalar(grep { /\[error\]/ } lines()), 1, 'fifty requests, one line');
like((lines())[0], qr/"\Q@{[$t->store]}\E"/, 'which names the store');

# a bad request is bad even without a store
is($t->post('/symbolicate/v5', '{')->{status}, 400, 'bad JSON is still 400');

$t->load($file);
my $r = ask();
is($r->{status}, 200, 'the next request is answered');
ok(found($r), 'with symbols');
like($t->error_log, qr/\[notice\].*symbol store .* is open/, 'the log says so');

# --- modules loaded later are found ---

is(found(ask(@other), @other), JSON::PP::false, 'not loaded');
$t->load(SymTest::symbol_file(@other));
is(found(ask(@other), @other), JSON::PP::true, 'loaded: at once');
$t->symloader('rm', join '/', @other);
is(found(ask(@other), @other), JSON::PP::false, 'removed: at once');

# --- the store is replaced by another ---

remove_tree($t->store);
$t->load(SymTest::symbol_file(@other));
$t->wait_for(sub { found(ask(@other), @other) }, 'the new store is seen');
ok(!found(ask()), 'the old one is not');

# --- another version ---

remove_tree($t->store);
$t->load($file);
set_version(99);
$t->wait_for(sub { ask()->{status} == 503 }, 'another version is refused');
unavailable(ask(), qr/another version/, 'another version');
like((lines())[-1], qr/version/, 'the log says so');
set_version(7);
$r = ask();
is($r->{status}, 200, 'the right version again: at once');
ok(found($r), 'with symbols');

# --- no permission ---

SKIP: {
    skip 'needs root, to run workers as somebody else', 11 if $> != 0;
    $t->stop;
    my $group = getgrgid((getpwnam 'nobody')[3]);
    $t = SymTest->new->conf(main => "user nobody $group;");
    $t->load($file);
    chmod 0700, $t->store;
    $t->start;
    my $whose = qr/of group "root", .* run as user "nobody" of group "$group"/;
    unavailable(ask(), $whose,
        'forbidden: its owner, and the user without permission');
    like((lines())[-1], qr/$whose.*\(13: /, 'the log has the same, and EACCES');
    chmod 0755, $t->store;
    unavailable(ask(), qr/$whose.*"symloader init --group"/,
        'a lock.mdb that is not writable: what to do');
    chmod 0666, glob($t->store . '/*');
    $r = ask();
    is($r->{status}, 200, 'allowed: at once');
    ok(found($r), 'with symbols');

    # like an init that fails half-way
    $t->stop;
    chown 0, scalar getgrnam($group), $t->store, glob($t->store . '/*');
    chmod 0644, glob($t->store . '/*');
    $t->start;
    my $member = qr/user "nobody", .* in the .* group "$group", but the permi/;
    unavailable(ask(), $member,
        'in the group, but its files exclude the group');
    like((lines())[-1], qr/lock\.mdb is not writable.*$member/,
         'the log has the same, and the file');

    $t->stop;
    chmod 0700, $t->dir;
    $t->start;
    unavailable(ask(), qr/user "nobody", .* enter a folder above/,
         'a folder above that cannot be entered');
    chmod 0755, $t->dir;
    is(ask()->{status}, 503, 'which was not the only reason');
    $t->symloader('init', '--group', $group);
    is(ask()->{status}, 200, 'init makes it right');
}

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();

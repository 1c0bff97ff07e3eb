#!/usr/bin/perl

# `symloader walk` walks and symbolicates the stacks of a minidump with the
# recorded results of a real Symbolicator (../shared/fixtures/recorded/dumps and
# dumps): the same threads, registers, frames, methods of the walk, modules and
# reason.  Refused dumps have the same message.

use strict;
use warnings;

use Cpanel::JSON::XS ();
use File::Basename qw(basename);
use FindBin;
use IO::Uncompress::Gunzip qw(gunzip);
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFixtures qw(fixtures need_fixtures);
use SymLoader qw(read_file write_file);

my $JSON = Cpanel::JSON::XS->new->utf8->canonical;
my $t = SymLoader->new;
my $recorded = need_fixtures('recorded/dumps');
my %here = (no_store => 1, env => { TMPDIR => $t->dir . '/tmp' });
mkdir $t->dir . '/tmp';

# The file, unpacked.
sub slurp {
    my ($path) = @_;
    my $text = '';
    return read_file($path) if -e $path;
    gunzip("$path.gz", \$text) or die "$path.gz: $IO::Uncompress::Gunzip::GunzipError";
    return $text;
}

# The recorded symbol store, unpacked.
sub unpack_store {
    my ($from, $to) = @_;
    mkdir $to;
    for my $path (glob "$from/*") {
        my $name = basename($path) =~ s/\.gz$//r;
        if (-d $path) {
            unpack_store($path, "$to/$name");
        } else {
            write_file("$to/$name", slurp($path =~ s/\.gz$//r));
        }
    }
    return;
}

unpack_store("$recorded/sym", $t->dir . '/sym');
mkdir $t->dir . '/none';

# Facts that Symbolicator learns beyond frame 256, which no answer shows, are
# unknown here.
my %learns_more = map { $_ => 1 } qw(c-O0-recurse.none c-O0-recurse.sym);

sub walk {
    my ($dump, $store) = @_;
    return $t->run(\%here, 'walk', '--format=json', "--symbols=native:" . $t->dir . "/$store", $dump);
}

sub check {
    my ($name, $dump, $store, $want) = @_;
    my $r = walk($dump, $store);

    if ($want->{status} eq 'failed') {
        is($r->{code}, 1, "$name: refused");
        like($r->{err}, qr/\Q$want->{message}\E/, '... with the message');
        return;
    }

    my $got = $JSON->decode($r->{out});
    delete $want->{status};
    if ($learns_more{$name}) {
        delete $_->{modules} for $got, $want;
    }
    is_deeply($got, $want, $name);
    return;
}

my $n = 0;
for my $path (glob "$recorded/cases/*.request.json") {
    my ($name, $store) = basename($path) =~ /^(.*\.(sym|none))\.request/ or next;
    my $request = $JSON->decode(read_file($path));
    my $dump = $t->file($request->{file}, slurp("$recorded/in/$request->{file}"));
    check($name, $dump, $store, $JSON->decode(slurp("$recorded/cases/$name.response.json")));
    $n++;
}
cmp_ok($n, '>=', 18, 'cases');

my $own = fixtures('dumps');
for my $name (qw(linux macos windows test invalid-range)) {
    check($name, "$own/$name.dmp", 'none',
        $JSON->decode(read_file("$own/cases/$name.dmp.nosources.response.json")));
}

is_deeply([ glob $t->dir . '/tmp/*' ], [], 'no file is left behind');

# --- text ---

my $r = $t->run(\%here, 'walk', '--explain', '--symbols=native:' . $t->dir . '/sym',
    $t->dir . '/c-O2-segv.dmp');
is($r->{code}, 0, 'text');
like($r->{out}, qr{^ 2  c-O2!level2 .*\n    Found by: call frame info of \S+/sym/c-O2/\w+/c-O2.sym$}m, '... with the file of the rules');
like($r->{out}, qr/^Crash reason:  SIGSEGV \/ SEGV_MAPERR\nCrash address: 0x0{16}$/m, '... the reason');
like($r->{out}, qr/^Thread 0 c-O2 \(crashed\) - tid: 16985\n 0  c-O2!sum \[c\.c : 9\]\n    Found by: inlining\n/m,
    '... frames');
like($r->{out}, qr/^    Found by: call frame info of \S+\n    Ended: no rules, frame/m, '... and why a walk ended');

$r = $t->run('load', $t->dir . '/c-O2-segv.dmp');
is($r->{code}, 1, 'a dump is not loaded');
like($r->{err}, qr/unsupported: a minidump, which has no symbols/, '... and the message says why');

done_testing;

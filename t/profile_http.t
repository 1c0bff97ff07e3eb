#!/usr/bin/perl

# `POST /symbolicate/profile` takes a profile of pprof, packed by its client or not, and
# answers with the same profile and its functions, files and lines.  Modules that are
# missing are fetched by their build ids.  The answer does not depend on where it is
# cut, and is that of `symloader profile`.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Compress::Gzip qw(gzip);
use IO::Uncompress::Gunzip qw(gunzip);
use Test::More;

use SymElf qw(run_ok);
use SymFetch;
use SymLoader qw(read_file write_file);
use SymProfile qw(profile shown differences go);

my $t = SymFetch->new(sources => <<'CONF')->start;
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
        location /elves/ { internal; proxy_pass http://%%FAULT%%/ok/; }
        location = /symbolicate/profile {
            symbolicate profile;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source elves uri=/elves/ layout=debuginfod;
            client_max_body_size 256k;
            client_body_buffer_size 1k;
        }
        location = /small/symbolicate/profile {
            symbolicate profile;
            symbolicate_max_frames 3;
        }
        location = /large/symbolicate/profile {
            symbolicate profile;
            client_max_body_size 2m;
        }
        location = /few/symbolicate/profile {
            symbolicate profile;
            symbolicate_max_modules 1;
        }
CONF
my $url = '/symbolicate/profile';
my $out = $t->dir . '/out.pb';

my $own = SymLoader->new;
my $p = profile($own, 'lld', 'clang', '-O2', '-fuse-ld=lld-19');
run_ok('objcopy', '--only-keep-debug', $p->{program}, "$p->{program}.debug");
my $packed = read_file($p->{file});
gunzip(\$packed, \my $plain) or die;

sub shown_answer {
    my ($r) = @_;
    return shown(write_file($out, $r->{body}));
}


my $loaded = $own->run('load', "$p->{program}.debug");
$own->run('profile', $p->{file}, "$out.local");
my $local = shown("$out.local");

# --- a missing module is fetched ---

$t->fault->file("$p->{id}/debuginfo", read_file("$p->{program}.debug"));
my $r = $t->post($url, $packed);
is($r->{status}, 200, 'a packed profile');
is($r->{headers}{'content-type'}, 'application/octet-stream', '... its type');
my $shown = shown_answer($r);
is($t->fault->count("/ok/$p->{id}/debuginfo"), 1, '... its symbols were fetched');
is_deeply([ differences($p, $shown) ], [], "... answers are LLVM's");
is_deeply($shown, $local, "... and symloader's");
like(go($out, '-top'), qr/ leaf$/m, '... go tool pprof reads it');

# --- the same profile in other ways ---

my %same = (
    'not packed' => [ body => $plain ],
    'from a file, in chunks' => [ chunks => [ unpack '(a700)*', $packed ] ],
    'in chunks of one byte' => [ chunks => [ substr($packed, 0, 1), substr $packed, 1 ] ],
    'two members' => [ body => do {
        my ($begin, $rest) = unpack 'a100 a*', $plain;
        gzip(\$begin, \my $first);
        gzip(\$rest, \my $second);
        $first . $second;
    } ],
    'packed for HTTP' => [ body => $packed, headers => [ 'Content-Encoding' => 'gzip' ] ],
);
for my $name (sort keys %same) {
    my $again = $t->request('POST', $url, @{ $same{$name} });
    is($again->{status}, 200, $name) or diag $again->{body};
    ok($again->{body} eq $r->{body}, '... the same answer');
}

# --- a module that nobody has ---

my $none = "$out.none.gz";
SymProfile::pprof('bare', $p->{file}, $none, "lld=$p->{id}", 'libc.so.6=' . 'ab' x 20);
$r = $t->post($url, read_file($none));
is($r->{status}, 200, 'one of two modules is nowhere');
is_deeply([ differences($p, shown_answer($r)) ], [], '... the other one is answered');

# --- refusals ---

my %bad = (
    'no profile' => [ $url, 'no profile', 400, 'no profile of pprof' ],
    'broken gzip' => [ $url, substr($packed, 0, -8) . 'a' x 8, 400, 'not valid gzip' ],
    'half of it' => [ $url, substr($packed, 0, 200), 400, 'not valid gzip' ],
    'a large one' => [ $url, 'a' x 300_000, 413, 'Too Large' ],
    'a bomb' => [ $url, do { my $zeros = "\0" x 1_000_000; gzip(\$zeros, \my $bomb); $bomb }, 413, 'Too Large' ],
    'many locations' => [ "/small$url", $packed, 400, 'number of locations in one profile to <= 3' ],
    'many modules' => [ "/few$url", read_file($none), 400, 'number of modules in one profile to <= 1' ],
    'many mappings' => [ $url, "\x1a\x00" x 16_385, 400, 'more than 16384 mappings' ],
);
for my $name (sort keys %bad) {
    my ($path, $body, $status, $why) = @{ $bad{$name} };
    my $answer = $t->post($path, $body);
    is($answer->{status}, $status, "$name: refused");
    like($answer->{body}, qr/\Q$why\E/, '... and says why');
}

is($t->request('GET', $url)->{status}, 405, 'GET is not allowed');
# --- one long id of many mappings ---

# It is not read again for each of them: the turn would take seconds, and the log is not
# clean then.  Fields of profile.proto: 6 string_table, 3 mapping (1 id, 6 build_id).
sub varint {
    my ($n) = @_;
    my $bytes = '';
    while ($n > 127) {
        $bytes .= chr($n & 127 | 128);
        $n >>= 7;
    }
    return $bytes . chr $n;
}
my $mappings = join '', map { my $m = "\x08" . varint($_) . "\x30\x01"; "\x1a" . varint(length $m) . $m } 1 .. 16_000;
$r = $t->post('/large' . $url, "\x32\x00\x32" . varint(900_000) . 'a' x 900_000 . $mappings);
is($r->{status}, 200, 'a build id of 900 KB in 16,000 mappings');

is($t->end, '', 'nothing is wrong');
done_testing();

#!/usr/bin/perl

# An API that shows source text needs, once it has frames, the sources of their
# modules.  A second round fetches them, once for all waiting requests, as the
# first fetches symbols.  Without sources the answer lacks the text, but is
# complete otherwise.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymExample qw(build_examples);
use SymFetch;
use SymFixtures qw(fixtures need_fixtures);
use SymLoader qw(read_file write_file);
use SymTest;

my $ID = '7F883FCDC55336D0A809B0150F09500B0';
my $FILE = '/Users/swatinem/Coding/sentry-native/examples/example.c';
my $BUNDLE = read_file(need_fixtures('sourcebundles/883fcdc55336d0a809b0150f09500b.src.zip'));

# The text that Python finds in the bundle.
my $LINE = 24;
my $source = do {
    my $script = 'import sys, zipfile; print(zipfile.ZipFile(sys.argv[1])'
        . '.read("files" + sys.argv[2]).decode().split("\n")[int(sys.argv[3]) - 1], end="")';
    open my $fh, '-|', 'python3', '-c', $script,
        fixtures('sourcebundles/883fcdc55336d0a809b0150f09500b.src.zip'), $FILE, $LINE
        or die "python3: $!";
    local $/;
    <$fh>;
};
like($source, qr/\w{4}/, "line $LINE of the source: $source");

my $build = build_examples();

# The bundle belongs to `a`; other modules have other ids.
my %id = (a => $ID, b => SymFetch::id(2), c => SymFetch::id(3));

sub symbols {
    my ($name) = @_;
    return "MODULE Linux x86_64 $id{$name} $name\nFILE 0 $FILE\nFUNC 1000 10 0 fun_$name\n"
        . "1000 10 $LINE 0\n";
}

sub start {
    my ($t) = @_;
    $t->loader_start;
    local $ENV{SYM_BUILD} = $build;
    $t->SymTest::start;
    return $t;
}

my $how = <<'CONF';
            symbolicate_source plain uri=/plain/;
            symbolicate_source native uri=/native/ layout=native;
CONF
my $t = SymFetch->new(workers => 2, how => $how, sources => <<'CONF');
        location /x/ {
            symbolicate quote;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source plain uri=/plain/;
            symbolicate_source native uri=/native/ layout=native;
        }
        location /plain/ { internal; proxy_pass http://%%FAULT%%/as/plain/; }
        location /native/ { internal; proxy_pass http://%%FAULT%%/as/native/; }
CONF
start($t);

sub question {
    my ($name, $path) = @_;
    return ($path // '/x/quote', body => "$name $id{$name} 1004", headers => ['Content-Type' => 'text/plain']);
}

sub ask {
    my ($name) = @_;
    return $t->request('POST', question($name));
}

# One source has the symbols, the other the sources.
$t->fault->file("a/$ID/a.sym", symbols('a'));
$t->fault->file("a/$ID/a.src.zip", $BUNDLE);
$t->fault->file("b/$id{b}/b.sym", symbols('b'));

my ($mach) = '7F88/3FCD/C553/36D0/A809/B0150F09500B.src.zip';
my $r = ask('a');
is($r->{status}, 200, 'frames and sources are fetched');
is_deeply($r->{json},
    { function => 'fun_a', source => $source }, '... and shown');
is($t->fault->count("/as/plain/a/$ID/a.sym"), 1, 'symbols: one GET');
is($t->fault->count("/as/native/a/$ID/a.src.zip"), 1, 'sources: one GET');
is($t->fault->count("/as/native/$mach"), 1, '... after another path for them');
is($t->fault->count("/as/plain/a/$ID/a.src.zip"), 0,
    'a source whose layout has no path for them is not tried');

ask('a') for 1 .. 3;
is($t->fault->count("/as/native/a/$ID/a.src.zip"), 1, 'both are in the store now');

# --- many at the same time ---

my @sockets = map {
    my $s = $t->connect;
    $t->send_all($s, $t->request_text('POST', question('b')));
    $s;
} 1 .. 8;
my @bodies = map { $t->response($_)->{body} } @sockets;
is_deeply(\@bodies, [(qq({"function": "fun_b", "source": null}\n)) x 8],
    'no sources anywhere: only frames, for all clients');
is($t->fault->count("/as/native/b/$id{b}/b.src.zip"), 1, '... after one GET');
is(ask('b')->{body}, $bodies[0], 'their absence is recorded');
is($t->fault->count("/as/native/b/$id{b}/b.src.zip"), 1, '... no other GET');

is($t->end, '', 'nothing is wrong');
done_testing();

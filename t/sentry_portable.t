#!/usr/bin/perl

# A portable PDB that embeds its sources has two kinds of answers: where a
# method's code is, and the text there.  It is downloaded once for both.  A PDB
# that is embedded in an assembly gives the same answers once the assembly was
# loaded.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Cpanel::JSON::XS ();
use SentryCases;
use SymFixtures qw(need_fixtures);
use SymTest;

my $ASSEMBLY = need_fixtures('ppdb/Sentry.Samples.Console.Basic-embedded-ppdb-with-sources.dll');
my $JSON = Cpanel::JSON::XS->new->utf8->canonical;
# one worker: it has logged a request before it reads the answer
my $t = SentryCases->new(workers => 1)->start;

sub ask {
    my ($file, $id, $method, $offset, %options) = @_;
    my $r = $t->answer_of($JSON->encode({ options => \%options,
        modules => [ { type => 'pe_dotnet', debug_file => $file, debug_id => $id } ],
        stacktraces => [ { frames => [ { instruction_addr => $offset,
            function_id => $method, addr_mode => 'rel:0' } ] } ] }));
    is($r->{http_status}, 200, 'an answer') or diag(explain($r));
    return $r->{body};
}

# GETs of the files with the given suffix.
sub gets {
    my ($end) = @_;
    return scalar(() = SymTest::slurp($t->dir . '/logs/files.log') =~ /"GET \S*\Q$end\E HTTP/g);
}

my @EMBEDDED = ('portable-embedded.pdb', 'b6919861-510c-4887-9994-943f64f70c37-870b9ef9', 5, 47);
my $answer = ask(@EMBEDDED);
is($answer->{stacktraces}[0]{frames}[0]{context_line}, 'throw new Exception("test");',
    'a frame of .NET, with its line');
is(gets('portable-embedded.pdb'), 1, '... from one download');
is(gets('portable-embedded.src.zip'), 0, '... and no bundle is requested');
ask(@EMBEDDED);
is(gets('portable-embedded.pdb'), 1, 'then it is in the store');

# One that has only source links may have texts in a bundle.
ask('source-links.pdb', '37e9e8a6-1a8e-404e-b93c-6902e277ff55-a09672e1', 7, 1);
is(gets('source-links.pdb'), 1, 'a PDB with source links: one download');

ask('portable.pdb', '1d6929b4-468b-4db8-9389-9a12bd257e1b-ab8cf31e', 1, 0);
is(gets('/portable.pdb'), 1, 'a PDB without sources: one download');
is(gets('/portable.src.zip'), 2,
    '... and a bundle is requested, under both spellings of the id');

# --- inside an assembly ---

my @lines = do {
    # Python inflates: the PDB, and its text of the given name
    my $script = <<'PY';
import sys, zlib

def inflate(data):
    try:
        return zlib.decompressobj(-15).decompress(data)
    except zlib.error:
        return b""

data = open(sys.argv[1], "rb").read()
pdb = inflate(data[data.find(b"MPDB") + 8:])
texts = (inflate(pdb[at:]) for at in range(len(pdb)))
sys.stdout.buffer.write(next(text for text in texts if b"SentrySdk" in text))
PY
    open my $fh, '-|', 'python3', '-c', $script, $ASSEMBLY or die "python3: $!";
    map { s/\r?\n\z//r } <$fh>;
};
$lines[0] =~ s/^\xef\xbb\xbf//;
is($t->loader->run('load', $ASSEMBLY)->{code}, 0, 'an assembly with its PDB inside');

my $frame = ask('Sentry.Samples.Console.Basic.pdb', '623535c7-c0ea-4dee-b99b-4669e99a7ecc-a878d1fa', 1, 0)
    ->{stacktraces}[0]{frames}[0];
is($frame->{lineno}, 3, 'a frame of its code');
is($frame->{context_line}, $lines[2], "... with its line: $lines[2]");
is_deeply($frame->{post_context}, [ @lines[3 .. 6] ], '... and those after it');

is($t->end, '', 'nothing is wrong');
done_testing();

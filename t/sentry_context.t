#!/usr/bin/perl

# A frame of Sentry's API has the source lines around it, from a source bundle
# or from a portable PDB, as a real Symbolicator shows them: expected values
# were recorded from one (../shared/fixtures/sentry/cases), or are from its own
# tests (crates/symbolicator-native/tests/integration/snapshots).

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Cpanel::JSON::XS ();
use SentryCases;
use SymFixtures qw(need_fixtures);
use SymTest;

my $JSON = Cpanel::JSON::XS->new->utf8->canonical;
need_fixtures('sentry/cases');
my $symbols = need_fixtures('sentry/symbols');

my $t = SentryCases->new->start;
$t->loader->run('load', "$symbols/$_") for
    'portable-embedded.pdb/B6919861510C48879994943F64F70C37ffffffff/portable-embedded.pdb',
    'crash_with_srcsrv.pdb/3249D99D0C4049318610F4E4FB0B69361/crash_with_srcsrv.pdb',
    'source-links.pdb/37E9E8A61A8E404EB93C6902E277FF55ffffffff/source-links.pdb';

sub ask {
    my ($request) = @_;
    my $r = $t->answer_of($JSON->encode($request));
    is($r->{http_status}, 200, 'an answer') or diag(explain($r));
    return $r->{body};
}

my @SHOWN = qw(pre_context context_line post_context source_link);

sub shown {
    my ($frame) = @_;
    return { map { exists $frame->{$_} ? ($_ => $frame->{$_}) : () } @SHOWN };
}

# --- a source bundle ---

my $request = $JSON->decode($t->request_of('source-context'));
my $recorded = $t->recorded('source-context')->{body};
delete $request->{sources};    # the server's own source has the same files

{
    my $answer = ask($request);
    my ($ours, $theirs) = map { $_->{stacktraces}[0]{frames} }
        $answer, $recorded;
    my $n = 0;

    is(@$ours, @$theirs, 'as many frames as were recorded');
    for my $i (0 .. $#$theirs) {
        next if !exists $theirs->[$i]{context_line};
        $n++;
        is_deeply(shown($ours->[$i]), shown($theirs->[$i]),
                  "frame $i: $theirs->[$i]{context_line}");
    }
    is($n, 8, 'frames with lines');
    is(grep({ %{ shown($_) } } @$ours), 8, '... and no others');
    ok($answer->{modules}[0]{features}{has_sources}, 'its module has sources');
    is($answer->{modules}[0]{debug_status}, 'found', '... and is found');
    ok(!exists $answer->{modules}[0]{features}{srcsrv_vcs},
       '... and names no version control system');
}

{
    local $request->{options} = { apply_source_context => \0 };
    my $answer = ask($request);

    is(grep({ %{ shown($_) } } @{ $answer->{stacktraces}[0]{frames} }), 0,
       'not requested: no lines');
    ok(!$answer->{modules}[0]{features}{has_sources},
       '... and no search for sources');
}

# A frame that cannot be symbolicated keeps its own lines, unless its module's
# sources have better ones.
{
    my ($found) = grep { exists $_->{context_line} }
        @{ $recorded->{stacktraces}[0]{frames} };
    my %own = (abs_path => $found->{abs_path} =~ s{/}{\\}gr,
               lineno => $found->{lineno}, context_line => 'mine',
               pre_context => ['before'], post_context => ['after'],
               source_link => 'https://example.com/mine');
    my $frame = { instruction_addr => '0x38a0', addr_mode => 'rel:0', %own };
    my $answer = ask({ %$request, stacktraces => [ { frames => [
        $frame, { %$frame, abs_path => '/elsewhere.c' },
        { %$frame, lineno => 100000 }, { %$frame, addr_mode => 'rel:7' } ] } ] });
    my @frames = @{ $answer->{stacktraces}[0]{frames} };

    is_deeply([ map { $_->{status} } @frames ],
              [ ('missing_symbol') x 3, 'unknown_image' ], 'failed frames');
    is_deeply(shown($frames[0]), shown($found),
              'a path that the sources have, with other slashes');
    is_deeply(shown($frames[1]), shown(\%own), '... that they do not have');
    is_deeply(shown($frames[2]), { map { $_ => $own{$_} }
                  qw(pre_context context_line post_context) },
              '... a line that does not exist');
    is_deeply(shown($frames[3]), shown(\%own),
        '... a module that does not exist');
}

# A module whose frames are all dropped is unused.
{
    my $answer = ask({ %$request, stacktraces => [ { frames => [
        { instruction_addr => '0x38a0', addr_mode => 'rel:0', trust => 'scan' },
    ] } ] });
    is(@{ $answer->{stacktraces}[0]{frames} }, 0, 'a frame that is dropped');
    is($answer->{modules}[0]{debug_status}, 'unused',
       '... leaves its module unused');
}

# --- portable PDBs ---

sub dotnet {
    my ($file, $id, $method, $offset) = @_;
    my $answer = ask({
        modules => [ { type => 'pe_dotnet', debug_file => $file,
                       debug_id => $id } ],
        stacktraces => [ { frames => [ { instruction_addr => $offset,
            function_id => $method, addr_mode => 'rel:0' } ] } ] });
    ok($answer->{modules}[0]{features}{has_sources}, "$file has sources");
    return $answer->{stacktraces}[0]{frames}[0];
}

{
    my $frame = dotnet('portable-embedded.pdb',
        'b6919861-510c-4887-9994-943f64f70c37-870b9ef9', 5, 47);
    is($frame->{abs_path},
       'C:\\dev\\sentry-dotnet\\samples\\Sentry.Samples.Console.Basic\\Program.cs',
       'a frame of .NET');
    is_deeply(shown($frame), {
        pre_context => [
            '    // When debug is enabled, the Sentry client will emit detailed debugging information to the console.',
            '    o.Debug = true;', '});', '',
            '// The following unhandled exception will be captured and sent to Sentry.' ],
        context_line => 'throw new Exception("test");' },
        '... with embedded source');
}

is(dotnet('source-links.pdb', '37e9e8a6-1a8e-404e-b93c-6902e277ff55-a09672e1',
          7, 1)->{source_link},
   'https://raw.githubusercontent.com/dotnet/runtime/d099f075e45d2aa6007a22b71b45a08758559f80/src/libraries/Common/src/System/ThrowHelper.cs',
   'a frame whose source is elsewhere');

{
    my $answer = ask({ options => { apply_source_context => \0 },
        modules => [ { type => 'pe_dotnet', debug_file => 'source-links.pdb',
            debug_id => '37e9e8a6-1a8e-404e-b93c-6902e277ff55-a09672e1' } ],
        stacktraces => [ { frames => [ { instruction_addr => 1,
            function_id => 7, addr_mode => 'rel:0' } ] } ] });
    is_deeply(shown($answer->{stacktraces}[0]{frames}[0]), {},
              '... is not shown if not requested');
    ok($answer->{modules}[0]{features}{has_sources},
       '... but its PDB has sources nevertheless');
}

# --- a PDB with a version control system ---

{
    my $answer = ask({
        modules => [ { type => 'pe', image_addr => '0x2a0000',
            image_size => 36864, debug_file => 'crash_with_srcsrv.pdb',
            debug_id => '3249d99d-0c40-4931-8610-f4e4fb0b6936-1' } ],
        stacktraces => [ { frames => [ { instruction_addr => '0x2a2756' } ] } ],
    });
    is($answer->{modules}[0]{features}{srcsrv_vcs}, 'perforce',
       'the version control system of a PDB');
}

is($t->end, '', 'a clean log');
done_testing();

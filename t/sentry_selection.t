#!/usr/bin/perl

# Which of a module's files wins: the first with full debug information among
# all files of all sources, else the first with symbols, else the first error,
# as in Symbolicator.  The files are an executable with only symbols, and its
# debug file.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Cpanel::JSON::XS ();
use File::Path qw(make_path);
use File::Temp qw(tempdir);

use SentryCases;
use SymFixtures qw(fixtures);
use SymLoader qw(read_file write_file);
use SymTest ();

my $JSON = Cpanel::JSON::XS->new->utf8->canonical;
my $SYMBOLS = fixtures('sentry/symbols');
my $CUT = 'f1/c3bcc0279865fe3058404b2831d9e64135386c';
my $CODE = read_file("$SYMBOLS/$CUT");
my $DEBUG = read_file("$SYMBOLS/$CUT.debug");

my %MODULE = (
    type => 'elf', code_id => 'f1c3bcc0279865fe3058404b2831d9e64135386c',
    debug_id => 'c0bcc3f1-9827-fe65-3058-404b2831d9e6', code_file => '/usr/bin/crash',
    image_addr => '0x100000000', image_size => 196608,
);

# Sources a, b, ... with the given files, or a status for all of them.
sub server {
    my (@sources) = @_;
    my ($sources, $locations, $n) = ('', '', 'a');
    my $dir = tempdir('symtest-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    for my $files (@sources) {
        $sources .= "symbolicate_source $n uri=/$n/ layout=native; ";
        if (!ref $files) {
            $locations .= "location /$n/ { internal; proxy_pass http://%%FILES%%/status/$files/; }\n";
        } else {
            for my $path (keys %$files) {
                my ($folder) = "$dir/$n/$path" =~ m{(.*)/};
                make_path($folder);
                write_file("$dir/$n/$path", $files->{$path});
            }
            make_path("$dir/$n");
            $locations .= "location /$n/ { internal; alias $dir/$n/; log_not_found off; }\n";
        }
        $n++;
    }
    return SentryCases->new(sentry => $sources, sources => $locations)->start;
}

# The status of the module, and the location that was used.
sub ask {
    my ($t, %o) = @_;
    my %options = (dif_candidates => $o{thorough} ? \1 : \0, apply_source_context => \0);
    my %module = (%MODULE, %{ $o{module} // {} });
    delete @module{ @{ $o{without} // [] } };
    my $answer = $t->answer_of($JSON->encode({
        modules => [ \%module ],
        stacktraces => [ { frames => [ { instruction_addr => '0x100012c60' } ] } ],
        options => \%options,
    }));
    my $m = $answer->{body}{modules}[0];
    my @used = map { "$_->{source} " . ($_->{location} =~ s{^/?\w/}{}r) }
        grep { $_->{debug} } @{ $m->{candidates} // [] };
    my $frame = $answer->{body}{stacktraces}[0]{frames}[-1];
    return { status => $m->{debug_status}, used => "@used", frame => $frame->{status},
             debug => $m->{features}{has_debug_info}, lineno => $frame->{lineno},
             all => [ map { $_->{source} } @{ $m->{candidates} // [] } ] };
}

for my $thorough (1, 0) {
    my $how = $thorough ? 'all are compared' : 'until one is good';

    my $t = server({ $CUT => $CODE }, { "$CUT.debug" => $DEBUG });
    my $got = ask($t, thorough => $thorough);
    ok($got->{debug}, "$how: debug information of the second source beats symbols of the first");
    is($got->{used}, "b $CUT.debug", '... and is named') if $thorough;
    ok(ask($t, thorough => $thorough)->{debug}, '... again, from the store');
    is($t->end, '', '... nothing is wrong');

    $t = server({ $CUT => $CODE }, { $CUT => $CODE });
    $got = ask($t, thorough => $thorough);
    is($got->{status}, 'found', "$how: symbols alone");
    is($got->{used}, "a $CUT", '... of the first source') if $thorough;
    is($t->end, '', '... nothing is wrong');

    $t = server({ "$CUT.debug" => "\x7fELF" . 'x' x 99, $CUT => $CODE });
    is(ask($t, thorough => $thorough)->{status}, 'found', "$how: a broken file does not end the search");
    $t->end;

    $t = server({ $CUT => "\x7fELF" . 'x' x 99, "$CUT.debug" => "\x7fELF" . 'y' x 99 });
    $got = ask($t, thorough => $thorough);
    is("$got->{status} $got->{frame}", 'malformed malformed',
        "$how: only broken files");
    $t->end;
}

# a module that is known by only one of its ids
my $t = server({ "$CUT.debug" => $DEBUG });
is(ask($t, without => ['debug_id'])->{status}, 'found', 'by its code id alone');
is(ask($t)->{status}, 'found', '... then by both');
is(ask($t, without => ['code_id'])->{status}, 'found', '... then by its debug id');
is(ask($t, without => [ 'debug_id', 'code_id' ])->{status}, 'missing', 'without ids');
is(ask($t, module => { code_id => 'f1c3b', debug_id => '' })->{status}, 'missing', 'by an odd code id');
is($t->end, '', 'nothing is wrong');

# the first error counts, in the order of sources and files
for my $case ([ 404, 500, 'missing' ], [ 500, 404, 'fetching_failed' ], [ 403, 404, 'fetching_failed' ]) {
    my $u = server(@$case[ 0, 1 ]);
    is(ask($u, thorough => 1)->{status}, $case->[2], "status $case->[0], then $case->[1]");
    $u->end;
}

done_testing();

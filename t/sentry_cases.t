#!/usr/bin/perl

# A real Symbolicator's answers for Windows, .NET and WebAssembly
# (../shared/fixtures/sentry), compared frame by frame with symloader's for the
# same files: function, file and line, the whole chain of inlined calls, and
# nothing where it found nothing.

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFixtures qw(fixtures need_fixtures);
use SymLoader qw(json_lines read_file);

my $cases = need_fixtures('sentry/cases');
my $symbols = fixtures('sentry/symbols');

# The frames of a case, [index, [the answered calls, innermost first]], of all
# its stacks.
sub recorded {
    my ($case) = @_;
    my ($answer) = json_lines(read_file("$cases/$case.response.json")
                              =~ s/\n//gr);
    my ($asked) = json_lines(read_file("$cases/$case.request.json")
                             =~ s/\n//gr);
    my @frames;

    for my $stack (@{ $answer->{stacktraces} }) {
        my @of;
        push @{ $of[ $_->{original_index} ] }, $_ for @{ $stack->{frames} };
        push @frames, grep { defined } @of;
    }
    return ($asked, $answer, @frames);
}

# Position of a frame in its module: an address, or METHOD+OFFSET; none without
# the method.
sub place {
    my ($asked, $frame) = @_;
    my $at = hex $frame->{instruction_addr};

    return defined $frame->{function_id}
        ? sprintf('%x+%x', hex $frame->{function_id}, $at) : undef
        if $asked->{modules}[0]{type} eq 'pe_dotnet';
    if (!defined $frame->{addr_mode}) {
        $at -= hex $asked->{modules}[0]{image_addr};
        # frames without an answer keep the requested address, which is a return
        # address, except for the first frame
        $at-- if $frame->{status} ne 'symbolicated'
            && $frame->{original_index} > 0;
    }
    return sprintf '%x', $at;
}

sub module_number {
    my ($frame) = @_;
    return ($frame->{addr_mode} // 'rel:0') =~ /(\d+)/ ? $1 : 0;
}

# Function, file and line of each call, as text.
sub expected {
    my ($frames) = @_;
    return join '; ', map {
        join ' ', map { $_ // '' } $_->{symbol} // '', $_->{abs_path},
            $_->{lineno} || ''
    } grep { $_->{status} eq 'symbolicated' } @$frames;
}

sub given {
    my ($answer) = @_;
    return join '; ', map {
        join ' ', map { $_ // '' } @$_{qw(function file line)}
    } grep { $_->{function} || $_->{file} } @{ $answer->{inlines} // [] },
        $answer;
}

# Compares a case with the answers of these files, one for each module of the
# request.
sub compare {
    my ($case, $least, @files) = @_;
    my ($asked, $answer, @frames) = recorded($case);
    my (%places, %wanted, $named);

    for my $frame (@frames) {
        my $module = module_number($frame->[0]);
        my $place = place($asked, $frame->[0]) // next;
        $named += $frame->[0]{status} eq 'symbolicated';
        push @{ $places{$module} }, $place;
        push @{ $wanted{$module} }, expected($frame);
    }
    cmp_ok($named, '>=', $least, "$case: this many frames have an answer");

    for my $n (0 .. $#files) {
        my $t = SymLoader->new;
        is($t->run('load', "$symbols/$files[$n]")->{code}, 0,
           "... $files[$n] is loaded");
        my ($listed, @more) = grep { $_->{name} }
            json_lines($t->run('ls', '--json')->{out});
        is(@more, 0, '... one module');
        my $r = $t->run({ stdin => join '', map { "$_\n" } @{ $places{$n} } },
                        'lookup', '--json', '--no-demangle',
                        '--kind', $listed->{kind}, "$listed->{name}/$listed->{id}", '-');
        my @given = map { given($_) } json_lines($r->{out});
        is(@given, @{ $places{$n} }, '... answers all');
        my @differ = grep { ($given[$_] // 'nothing') ne $wanted{$n}[$_] }
            0 .. $#{ $places{$n} };
        is(@differ, 0, '... and every one as recorded')
            or diag(map { "at $places{$n}[$_]\n  ours     $given[$_]\n"
                          . "  recorded $wanted{$n}[$_]\n" }
                        grep { defined } @differ[ 0 .. 9 ]);
    }
    return;
}

compare('pdb-x86', 100,
        'crash.pdb/3249D99D0C4049318610F4E4FB0B69361/crash.pdb');
compare('pe-mingw-dwarf', 80,
        'hello-dwarf.exe/63CE751542000/hello-dwarf.exe');
compare('dotnet', 5,
        'integration.pdb/0C1033F78632492E91C6C314B72E1920ffffffff/integration.pdb');
compare('wasm', 6, 'bd/a18fd85d4a4eb893022d6bfad846b1.debug',
        '10/da03eb5d63d750faab0fb8e7cc12a1c3.debug');

done_testing();

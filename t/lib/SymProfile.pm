package SymProfile;

# SymProfile - profiles of programs that sample themselves, in pprof's form.
#
#     my $p = profile($t, 'gnu', 'gcc', '-O2');      builds t/profile/sampler.c, runs it
#     $p->{program}, {file}, {id}                    its profile without symbols, build id
#     my $shown = shown($file);                      pprof.py's JSON
#     my @bad = differences($p, $shown);             from LLVM's answers
#     my $text = go($p->{file}, '-top');             go tool pprof's
#     otlp('make', $p->{file}, $out, ...);           otlp.py
#     to_json($in, $out); to_protobuf($in, $out);    otlp_json.py

use strict;
use warnings;

use Exporter qw(import);
use FindBin;
use Cpanel::JSON::XS ();

use SymElf qw(output run_ok);
use SymLlvm qw(llvm_frames);

our @EXPORT_OK = qw(profile go_profile shown differences go pprof read_frames loads otlp otlp_json
                    to_json to_protobuf);

my $PPROF = "$FindBin::Bin/lib/pprof.py";
my $SOURCES = "$FindBin::Bin/profile";

sub pprof {
    my (@args) = @_;
    return run_ok('python3', $PPROF, @args);
}

sub otlp {
    my (@args) = @_;
    return scalar output('python3', "$FindBin::Bin/lib/otlp.py", @args);
}

sub otlp_json {
    my (@args) = @_;
    return Cpanel::JSON::XS->new->decode(otlp(@args));
}

sub to_json {
    my (@files) = @_;
    run_ok('/usr/bin/python3', "$FindBin::Bin/lib/otlp_json.py", 'json', @files);
    return $files[1];
}

sub to_protobuf {
    my (@files) = @_;
    run_ok('/usr/bin/python3', "$FindBin::Bin/lib/otlp_json.py", 'protobuf', @files);
    return $files[1];
}

# -symbolize=none: it adds nothing itself.
sub go {
    my ($file, @args) = @_;
    return output('go', 'tool', 'pprof', '-symbolize=none', @args, $file);
}

sub shown {
    my ($file) = @_;
    return Cpanel::JSON::XS->new->decode(scalar output('python3', $PPROF, 'json', $file));
}

# gperftools' form names no build ids, and Go's runtime reads them from the file.
sub bare {
    my ($p, $with_symbols) = @_;
    ($p->{id}) = output('readelf', '-n', $p->{program}) =~ /Build ID: ([0-9a-f]+)/;
    $p->{file} = "$p->{program}.pb.gz";
    pprof('bare', $with_symbols, $p->{file}, "$p->{name}=$p->{id}");
    return $p;
}

sub profile {
    my ($t, $name, @compiler) = @_;
    my $p = { t => $t, name => $name, program => $t->dir . "/$name" };
    run_ok(@compiler, '-g', '-Wl,--build-id', '-o', $p->{program}, "$SOURCES/sampler.c");
    run_ok($p->{program}, "$p->{program}.prof");
    run_ok('go', 'tool', 'pprof', '-proto', '-symbolize=none', "-output=$p->{program}.go.gz",
           $p->{program}, "$p->{program}.prof");
    return bare($p, "$p->{program}.go.gz");
}

sub go_profile {
    my ($t) = @_;
    my $p = { t => $t, name => 'spin', program => $t->dir . '/spin' };
    local $ENV{GOCACHE} = $t->dir . '/cache';
    local $ENV{GOFLAGS} = '-trimpath';
    run_ok('go', 'build', '-ldflags=-B=0x' . 'a5' x 20, '-o', $p->{program}, "$SOURCES/spin.go");
    run_ok($p->{program}, "$p->{program}.go.gz");
    return bare($p, "$p->{program}.go.gz");
}

# Program headers: offset, address, bytes in the file, whether it is code.
sub segments {
    my ($p) = @_;
    $p->{loads} //= [
        map { /^\s+LOAD\s+0x(\S+) 0x(\S+) 0x\S+ 0x(\S+) 0x\S+ (.{3})/ ? [ hex $1, hex $2, hex $3, $4 =~ /E/ ] : () }
        split /\n/, output('readelf', '-lW', $p->{program}) ];
    return @{ $p->{loads} };
}

# Those of code, from the page on in which they begin.
sub loads {
    my ($p) = @_;
    return join ',', map { my $skew = $_->[0] & 4095; sprintf '%x:%x:%x', $_->[0] - $skew, $_->[2] + $skew, $_->[1] - $skew }
        grep { $_->[3] } segments($p);
}

# From an offset in the program to an address.  is_elf: it is an address.
sub address {
    my ($p, $offset) = @_;
    return $offset if $p->{is_elf};
    segments($p);
    my ($load) = grep { $offset >= $_->[0] && $offset - $_->[0] < $_->[2] } @{ $p->{loads} };
    return $load->[1] + $offset - $load->[0];
}

# The locations of the program, with their addresses in it.
sub locations {
    my ($p, $shown) = @_;
    my %ours = map { $_->{id} => $_ } grep { $_->{file} =~ m{(?:^|/)\Q$p->{name}\E$} }
        @{ $shown->{mappings} };
    return map {
        my $m = $ours{ $_->{mapping} };
        $m ? [ $_, address($p, $_->{address} - $m->{start} + $m->{offset}) ] : ();
    } @{ $shown->{locations} };
}

# In the form of SymLlvm.
sub read_frames {
    my ($location) = @_;
    return [ map { [ $_->{system_name}, $_->{file} || '??', $_->{line} ] } @{ $location->{lines} } ];
}

# All answers are LLVM's, for each location of the program.
sub differences {
    my ($p, $shown) = @_;
    my @found = locations($p, $shown);
    my @ours = map { read_frames($_->[0]) } @found;
    my @theirs = llvm_frames($p->{t}, $p->{program}, '', map { $_->[1] } @found);
    die "no location of $p->{name}" if @found < 5;
    # LLVM's paths have "./", ours do not
    return SymLlvm::frame_differences(\@ours, \@theirs);
}

1;

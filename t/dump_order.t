#!/usr/bin/perl

# Unwind rules are in executables, lines in debug files: for a minidump each of
# them is fetched once, even if a source has both.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use File::Find ();
use IO::Uncompress::Gunzip qw(gunzip);
use JSON::PP ();
use SymFixtures qw(need_fixtures);
use SymGiven;

my $root = need_fixtures('recorded/dumps');
my $t = SymGiven->new(at => '/')->start;

my %there;
File::Find::find({ no_chdir => 1, wanted => sub {
    return if !-f $_;
    my $path = s{^\Q$root/elf\E}{}r =~ s/\.gz$//r;
    $there{$path} = 1;
    $t->route($path, file => $_);
} }, "$root/elf");

gunzip("$root/in/c-O2-segv.dmp.gz" => \my $dump) or die 'the dump';
my $source = { id => 'elf', type => 'http', layout => { type => 'native' },
    url => 'http://' . $t->address_of_servers . '/' };
my $r = $t->form('/minidump', sources => JSON::PP::encode_json([$source]), upload_file_minidump => $dump);
my $got = JSON::PP::decode_json($r->{body});
is($got->{stacktraces}[0]{frames}[1]{function}, 'level3', 'functions are found')
    or diag explain $got->{stacktraces}[0]{frames};

my (%times, %first);
my $n = 0;
for my $path (map { $_->{target} } $t->requests) {
    $times{$path}++;
    $first{$path} //= $n++;
}
my @both = grep { $there{$_} && $there{"$_.debug"} && $times{$_} } keys %there;
isnt(scalar(@both), 0, 'a module has both files');
for my $path (@both) {
    is($times{$path}, 1, "$path: the executable is fetched once");
    is($times{"$path.debug"}, 1, '... its debug file, too');
    cmp_ok($first{$path}, '<', $first{"$path.debug"}, '... after it');
}

is($t->end, '', 'nothing is wrong');
done_testing();

# nginx may keep files open and share them between requests (open_file_cache),
# so two modules in one file use one open file.  Each is read by its own
# converter, from the first byte to the last, whatever the other does.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFolder;
use SymLoader qw(sym_text write_file);
use Test::More;

my $FUNCTIONS = 20_000;
my @names = map {"name$_.so"} 1 .. 6;
my $id = SymFolder::id(1);

# all names lead to one file, which contains the ids of all of them
my $t = SymFolder->new(source =>
    'open_file_cache max=16; rewrite ^ /symbols/one.sym break;');
my $locations = $t->{parts}{locations} =~ s/alias [^;]+;/root %%DIR%%;/r;
$t->conf(locations => $locations);
my $text = sym_text('one.so', $id, functions => $FUNCTIONS, lines => 1);
write_file($t->dir . '/symbols/one.sym', $text);
$t->start;

my $last = sprintf 'f%d', $FUNCTIONS - 1;
my $addr = 0x1000 + ($FUNCTIONS - 1) * 0x40;
my $r = $t->post_json('/symbolicate/v5', { jobs => [{
    memoryMap => [map { [$_, $id] } @names],
    stacks => [[map { ([$_, 0x1000], [$_, $addr]) } 0 .. $#names]] }] });
is($r->{status}, 200, 'all of them at once');
is_deeply([map { $_->{function} } @{$r->{json}{results}[0]{stacks}[0]}],
    [map { ('f0', $last) } @names], '... from the first to the last byte');

for my $name (@names) {
    is($t->explain($name, $id)->{json}{state}, 'ready', "$name is ready");
}

is($t->end, '', 'the logs are clean');

done_testing();

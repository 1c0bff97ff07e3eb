# A companion of a file of a request's source comes from that source alone: from
# another, the record that all clients of the source see would depend on who asked
# first.  A missing companion is absent there only.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymDwz;
use SymElf;
use SymGiven;
use Test::More;

my $package = SymDwz->new(SymElf::folder());
my %one = %{ $package->{one} };
my %common = %{ $package->{common} };
my ($at) = grep { ($package->frames('one', $_))[0][1] } $package->addresses('one');
my @want = map { s/ .*//r } map { @$_ } $package->frames('one', $at);

my $t = SymGiven->new(more => 'symbolicate_source configured uri=/configured/ layout=native;',
    sources => 'location /configured/ { internal; proxy_pass http://%%HTTP%%/configured/; }')->start;

sub place {
    my ($base, $file) = @_;
    $t->route("$base/" . $file->{id} =~ s{^(..)(.*)}{$1/$2.debug}r, file => $file->{debug});
    return;
}

# Which sources were asked for the common file.
sub asked_for_common {
    my $rest = substr $common{id}, 2;
    return [ sort map { $_->{target} =~ m{^(/\w+)/.*$rest} ? $1 : () } $t->requests ];
}

sub functions {
    my @sources = map { $t->source("/$_", id => $_, layout => { type => 'native' },
        filters => { filetypes => ['elf_debug'] }) } @_;
    my $r = $t->post('/symbolicate', $t->json({ sources => \@sources,
        options => { apply_source_context => JSON::PP::false },
        modules => [{ type => 'elf', code_id => $one{id}, code_file => 'one',
            image_addr => '0x1000000', image_size => 0x100000 }],
        stacktraces => [{ frames => [{ instruction_addr => sprintf '0x%x', 0x1000000 + $at }] }] }),
        'Content-Type' => 'application/json');
    return [ map { $_->{function} // $_->{status} } @{ $r->{json}{stacktraces}[0]{frames} } ];
}

place('/own', \%one);
place("/$_", \%common) for qw(other configured);

my $without = functions('own', 'other');
isnt("@$without", "@want", 'the source lacks the companion, others have it: names are missing');
is($without->[-1], $want[-1], '... but not those of the file itself');
is_deeply(asked_for_common(), ['/own'], '... only the source of the file was asked');

$t->forget;
place("/$_", \%one) for qw(whole own);
place('/whole', \%common);
is_deeply(functions('whole', 'other'), \@want, 'a source with both: all names');
is_deeply(asked_for_common(), ['/whole'], '... and only this one was asked');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'a clean log');
done_testing();

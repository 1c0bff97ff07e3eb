#!/usr/bin/perl

# Filters of a source: it is tried only for modules with matching file paths
# (path=), and only with a checksum (checksum).

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Cpanel::JSON::XS ();

use SentryCases;
use SymTest ();

my $JSON = Cpanel::JSON::XS->new->utf8->canonical;

my %MODULE = (
    type => 'elf', code_id => 'f1c3bcc0279865fe3058404b2831d9e64135386c',
    debug_id => 'c0bcc3f1-9827-fe65-3058-404b2831d9e6', image_addr => '0x100000000',
    image_size => 196608,
);

# Whether the module was found, and the locations of its candidates.
sub ask {
    my ($options, %module) = @_;
    my $t = SentryCases->new(
        sentry => "symbolicate_source theirs uri=/files/ layout=native $options;")->start;
    my $answer = $t->answer_of($JSON->encode({
        modules => [ { %MODULE, %module } ],
        stacktraces => [ { frames => [ { instruction_addr => '0x100012c60' } ] } ],
        options => { dif_candidates => \1, apply_source_context => \0 },
    }));
    my $module = $answer->{body}{modules}[0];
    is($t->end, '', "$options: nothing is wrong");
    my @seen = map { $_->{location} =~ s{.*/symbols/}{}r } @{ $module->{candidates} // [] };
    return ($module->{debug_status}, \@seen);
}

my $CUT = 'f1/c3bcc0279865fe3058404b2831d9e64135386c';
my @BOTH = ('found', [ $CUT, "$CUT.debug" ]);
my @NONE = ('missing', ['No object files listed on this source']);

is_deeply([ ask('path=/usr/bin/*', code_file => '/usr/bin/crash') ], \@BOTH, 'a pattern matches');
is_deeply([ ask('path=*windows* path=/USR/*', code_file => '/usr/bin/crash') ], \@BOTH,
    'one of two, in any case');
is_deeply([ ask('path=d:/windows/**', code_file => 'C:\\Windows\\crash') ], \@NONE, 'none matches');
is_deeply([ ask('path=?:/windows/*', code_file => 'C:\\Windows\\crash') ], \@BOTH,
    'slashes of both kinds are one');
is_deeply([ ask('path=*') ], \@NONE, 'a module without names');
is_deeply([ ask('checksum', code_file => 'crash') ], \@NONE, 'a checksum is required');
is_deeply([ ask('checksum', code_file => 'crash', debug_checksum => 'SHA256:00') ], \@BOTH,
    '... and there is one');
is_deeply([ ask('kinds=elf_code', code_file => 'crash') ], [ 'found', [$CUT] ],
    'only one type of file');

for my $bad ('path=[a', 'path=a**b', 'path=' . 'a' x 257) {
    my $u = SymTest->new->conf(locations => <<"CONF");
        location / { symbolicate; symbolicate_loader unix:/x;
                     symbolicate_source s uri=/s/ $bad; }
CONF
    my ($code, $log) = $u->check;
    isnt($code, 0, 'refused: ' . substr $bad, 0, 20);
    like($log, qr/is not a pattern: use one like/, '... with the reason');
}

done_testing();

# "I uploaded the symbols, why are there none?" is usually a question about
# another build: explain lists the ids under which the store has the same name.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymLoader qw(sym_text write_file);
use SymTest;
use Test::More;

my $t = SymTest->new(workers => 1);
my $id = 'BBA6FA10B8AAB33D000000000000000';
my @files;
push @files, write_file($t->dir . "/$_.sym", sym_text('app', "${id}0$_")) for 1 .. 9;
push @files, write_file($t->dir . '/other.sym', sym_text('app.exe', "${id}11")),
    write_file($t->dir . '/before.sym', sym_text('ap', "${id}11"));
$t->load(@files)->conf(locations => <<'CONF')->start;
        location /symbolicate { symbolicate; }
        location /admin       { symbolicate; symbolicate_admin on; }
CONF

sub other_ids {
    my ($name, $id) = @_;
    my $r = $t->request('GET', "/admin/explain/$name/$id");
    is($r->{status}, $_[2], "$name/$id: $_[2]");
    return $r->{json}{other_ids};
}

is_deeply(other_ids('ap', "${id}01", 404), ["${id}11"], 'a build in the store');
is_deeply(other_ids('app', "${id}99", 404), [map {"${id}0$_"} 1 .. 8],
          'the first eight of many builds');
is(other_ids('appp', "${id}01", 404), undef, 'a name that it does not know');
is(other_ids('app', "${id}01", 200), undef, 'symbols are there: no other ids');

is($t->stop->log_trouble, '', 'the log is clean');
done_testing();

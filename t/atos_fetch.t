# Missing modules are fetched for atos as for other APIs: within the request,
# once, and modules that no source has are reported as missing.  The paths of
# symbolicate_admin are below its location, too.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFolder;
use Test::More;

my $t = SymFolder->new;
$t->conf(locations => $t->{parts}{locations}
    . 'location /atos { symbolicate atos; symbolicate_admin on; }')->start;

my @app = ('App', SymFolder::id(1));
$t->upload(@app, prefix => 'app_', lines => 1);

sub ask {
    my ($name, $id) = @_;
    return $t->post_json('/atos', { uuid => $id, image => $name,
        load_address => '0x1000', addresses => ['0x2004', '0x2024'] });
}

sub texts { return [map { $_->{text} } @{$_[0]{json}{results}}] }

my $want = [map {"app_0 (in App) (app_.c:$_)"} 1, 2];
my $r = ask(@app);
is($r->{status}, 200, 'answered');
is_deeply(texts($r), $want, 'a module that only the source had');
$t->wait_for(sub { $t->access_log =~ /frames=2/ }, 'a log line');
like($t->access_log, qr/status=ok frames=2 modules=1 missing=0/, 'counted');

$r = ask('Gone', SymFolder::id(2));
is($r->{status}, 200, 'a module that the source does not have');
is_deeply([map { $_->{status} } @{$r->{json}{results}}], ['missing', 'missing'],
    '... is missing');

unlink $t->file(@app) or die;
is_deeply(texts(ask(@app)), $want, 'the source is not asked again');

$r = $t->request('GET', "/atos/explain/" . join '/', @app);
is($r->{status}, 200, 'explain works below /atos');
is($r->{json}{state}, 'ready', '... it is there');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');

done_testing();

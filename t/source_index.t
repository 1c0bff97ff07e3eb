#!/usr/bin/perl

# A symstore whose index (000Admin) lists its files: only those are requested,
# and none if the index cannot be read.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Cpanel::JSON::XS ();
use File::Path qw(make_path);
use File::Temp qw(tempdir);

use SentryCases;
use SymFixtures qw(need_fixtures);
use SymLoader qw(read_file write_file);
use SymTest ();

my $JSON = Cpanel::JSON::XS->new->utf8->canonical;
my $ID = '3249D99D0C4049318610F4E4FB0B69361';
my $PDB = read_file(need_fixtures("sentry/symbols/crash.pdb/$ID/crash.pdb"));
my %MODULE = (
    type => 'pe', code_id => '5ab380779000', code_file => 'C:\\a\\crash.exe',
    debug_id => '3249d99d-0c40-4931-8610-f4e4fb0b6936-1', debug_file => 'C:\\a\\crash.pdb',
    image_addr => '0x100000000', image_size => 36864,
);

# A store of one PDB, with these files in 000Admin, behind a server that logs
# its requests.
sub start {
    my (%admin) = @_;
    my $dir = tempdir('symtest-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    make_path("$dir/000Admin", "$dir/crash.pdb/$ID");
    write_file("$dir/crash.pdb/$ID/crash.pdb", $PDB);
    write_file("$dir/000Admin/$_", $admin{$_}) for keys %admin;
    chmod 0755, $dir;
    my $t = SentryCases->new(
        sentry  => 'symbolicate_source store uri=/store/ layout=symstore index;',
        served  => "location /disk/ { alias $dir/; log_not_found off; }",
        sources => <<"CONF")->start;
        location /store/ { internal; proxy_pass http://%%FILES%%/disk/; }
CONF
    return ($t, $dir);
}

sub ask {
    my ($t) = @_;
    my $answer = $t->answer_of($JSON->encode({
        modules => [ \%MODULE ],
        stacktraces => [ { frames => [ { instruction_addr => '0x100001000' } ] } ],
        options => { dif_candidates => \1, apply_source_context => \0 },
    }));
    my $m = $answer->{body}{modules}[0];
    return ($m->{debug_status}, join ' ', map { $_->{location} =~ s{.*/disk/}{}r } @{ $m->{candidates} });
}

my $LINE = qq("crash.pdb\\$ID","x"\r\n);
my $NOTHING = 'No object files listed on this source';

for my $case (
    [ 'one text', { 'lastid.txt' => '0000000001', '0000000001' => $LINE },
      'found', "crash.pdb/$ID/crash.pdb" ],
    [ 'the second of two', { 'lastid.txt' => "2\r\n", '0000000001' => qq("a.dll\\1",\n), '0000000002' => $LINE },
      'found', "crash.pdb/$ID/crash.pdb" ],
    [ 'the executable is listed, but missing',
      { 'lastid.txt' => '1', '0000000001' => qq($LINE"crash.exe\\5AB380779000",\n) },
      'found', "crash.exe/5AB380779000/crash.exe crash.pdb/$ID/crash.pdb" ],
    [ 'not listed', { 'lastid.txt' => '1', '0000000001' => qq("a.dll\\1",\n) }, 'missing', $NOTHING ],
    [ 'empty', { 'lastid.txt' => '0' }, 'missing', $NOTHING ],
    [ 'a text is missing', { 'lastid.txt' => '2', '0000000001' => $LINE }, 'missing', $NOTHING, 1 ],
    [ 'no last number', { 'lastid.txt' => 'x' }, 'missing', $NOTHING, 1 ],
    [ 'too many texts', { 'lastid.txt' => '10001' }, 'missing', $NOTHING, 1 ],
    [ 'no index', {}, 'missing', $NOTHING, 1 ])
{
    my ($title, $admin, $status, $locations, $is_trouble) = @$case;
    my ($t, $dir) = start(%$admin);
    my @got = ask($t);
    is($got[0], $status, "$title: $status");
    is($got[1], $locations, '... and that is reported');
    is((ask($t))[0], $status, '... again');
    my @asked = grep {m{/disk/}} split /\n/, SymTest::slurp("$t->{dir}/logs/files.log");
    cmp_ok(scalar(grep {m{000Admin}} @asked), '>=', 1, '... the index was read');
    cmp_ok(scalar(grep {m{lastid}} @asked), '<=', 2, '... at most once a worker');
    is(scalar(grep { !m{000Admin} && !m{crash} } @asked), 0,
        '... and no other file was requested');
    is($t->end, '', '... nothing is wrong');
    my $said = SymTest::slurp("$t->{dir}/logs/error.log") =~ /index of symbol source "store": text/;
    is(!!$said, !!$is_trouble, '... and the log says why nothing is requested');
}

my $u = SymTest->new->conf(locations => <<'CONF');
        location / { symbolicate; symbolicate_loader unix:/x;
                     symbolicate_source s uri=/s/ layout=native index; }
CONF
my ($code, $log) = $u->check;
isnt($code, 0, 'refused: an index of another layout');
like($log, qr/takes "index" with layout=symstore only/, '... with the reason');

done_testing();

#!/usr/bin/perl

# Clients of Mozilla's symbol server read ours: its statuses, texts and headers, and
# symbols of try builds, which only those find who ask for them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text write_file);
use SymUpload;

my $t = SymUpload->new(downloads => 1,
    tokens => { ci => { secret => 'secret' }, try => { secret => 'trier', rest => 'rights=try' } })->start;
my @id = map { SymFolder::id($_) } 0 .. 9;

my %text = (regular => sym_text('lib.so', $id[1], prefix => 'regular'),
    try => sym_text('new.so', $id[2], prefix => 'try'),
    both => sym_text('both.so', $id[3], prefix => 'both'), other => sym_text('both.so', $id[3], prefix => 'other'),
    named => sym_text('try', $id[4], prefix => 'named'));

sub upload {
    my ($token, $name, $id, $text) = @_;
    mkdir "$t->{dir}/$_" for 'zip', "zip/$name", "zip/$name/$id";
    write_file("$t->{dir}/zip/$name/$id/$name.sym", $text);
    is(system("cd '$t->{dir}/zip' && rm -f ../symbols.zip && zip -qr ../symbols.zip '$name' && rm -r '$name'"), 0,
       'a zip');
    my $r = $t->curl('-H', "auth-token: $token", '-F', "symbols.zip=\@$t->{dir}/symbols.zip", $t->url('/upload/'));
    is($r->{status}, 201, "... of $name is uploaded");
    is($r->{json}{upload}{try_symbols}, $token eq 'trier' ? JSON::PP::true() : JSON::PP::false(), '... as such');
    return;
}

upload('secret', 'lib.so',  $id[1], $text{regular});
upload('secret', 'both.so', $id[3], $text{both});
upload('secret', 'try',     $id[4], $text{named});
upload('trier',  'new.so',  $id[2], $text{try});
upload('trier',  'both.so', $id[3], $text{other});

sub get { return $t->request('GET', "/files/$_[0]", headers => $_[1] // []) }

# --- regular and try symbols ---

my $new = "new.so/$id[2]/new.so.sym";
for my $case (["lib.so/$id[1]/lib.so.sym", 'regular'], ["lib.so/$id[1]/lib.so.sym?try", 'regular'],
              ["try/lib.so/$id[1]/lib.so.sym", 'regular'], ["$new?try", 'try'], ["$new?a=b&try=0", 'try'],
              ["try/$new", 'try'], ["try/new.so/\L$id[2]\E/new.so.sym", 'try'],
              ["both.so/$id[3]/both.so.sym", 'both'], ["both.so/$id[3]/both.so.sym?try", 'both'],
              ["try/$id[4]/try.sym", 'named'], ["try/try/$id[4]/try.sym", 'named'])
{
    my $r = get($case->[0]);
    is($r->{status}, 200, $case->[0]);
    is($r->{body}, $text{ $case->[1] }, "... is $case->[1]");
}
is($t->request('HEAD', "/files/$new?try")->{status}, 200, 'HEAD');
for my $path ($new, "$new?trying", "$new?a=try", "$new?_refresh", "try$new", "new.so/try/$id[2]/new.so.sym") {
    is(get($path)->{status}, 404, "not found by chance: $path");
}

# --- nothing ---

my $zeros = '0' x 33;
my $allowed = 'accept,accept-encoding,authorization,content-type,dnt,origin,user-agent,x-csrftoken,x-requested-with';

sub has_cors {
    my ($r) = @_;
    is_deeply([ @{ $r->{headers} }{ map {"access-control-allow-$_"} qw(origin methods headers) } ],
        [ '*', 'GET', $allowed ], '... scripts may read it');
    return;
}

for my $case (["lib.so/$id[5]/lib.so.sym", ''], ["try/lib.so/$id[5]/lib.so.sym", ''], ['a/0/a.dl_', ''],
              ['a/0/a.ex_', ''], ['a/0/a.pd_', ''], ['a/0/a.dbg.gz', ''], ['a/abcdef/a.tar.bz2', ''],
              ["lib.so/$id[1]/file.ptr", ' (and ignored)'], ["lib.so/$zeros/lib.so.sym", ' (and ignored)'],
              ["lib.so/$id[1]/lib.so.SYM~", ' (and ignored)'], ['a/0/a.pdb', ' (and ignored)'],
              ['a/0/a.dbg', ' (and ignored)'], ['a/0/a.DL_', ' (and ignored)'])
{
    for my $headers ([], [ Origin => 'https://a.example' ]) {
        my $r = get($case->[0], $headers);
        is($r->{status}, 404, "404: $case->[0]");
        is($r->{headers}{'content-type'}, 'text/html; charset=utf-8', '... HTML');
        is($r->{body}, "Symbol Not Found$case->[1]", '... text');
        has_cors($r);
    }
}
has_cors(get("lib.so/$id[1]/lib.so.sym"));

for my $path ("lib.so/x/lib.so.sym", 'a/0', 'a/0/b/c.sym', '%22/0/a.sym', 'index2.txt', "try/$id[1]/a/b/c.sym") {
    my $r = get($path);
    is($r->{status}, 404, "no such path: $path");
    is_deeply($r->{json}, { error => 'Not Found', path => '/files/' . ($path =~ s/%22/"/r) }, '... JSON');
}

for my $method (qw(POST PUT DELETE OPTIONS)) {
    my $r = $t->request($method, "/files/$new", body => '');
    is($r->{status}, 405, $method);
    is($r->{headers}{allow}, 'GET, HEAD', '... Allow');
    is_deeply($r->{json}, { error => "Method Not Allowed ($method): /files/$new" }, '... JSON');
}

# --- names and ids ---

# As dump_syms writes them: of Windows and Linux.
my ($CODE, $BUILD) = ('5CF2591C6859000', 'c0ffee1234567890abcdef0123456789abcdef01');
my $windows = "MODULE windows x86_64 $id[6] xul.pdb\nINFO CODE_ID $CODE xul.dll\n"
    . "INFO GENERATOR mozilla/dump_syms 2.3.7\nFILE 0 a.c\nFUNC 1000 20 0 xul\n1000 20 1 0\n";
my $linux = "MODULE Linux x86_64 $id[7] libxul.so\nINFO CODE_ID \U$BUILD\E\nFUNC 1000 20 0 linux\n";
my $tried = $windows =~ s/$id[6] xul.pdb/$id[8] other.pdb/r =~ s/$CODE xul.dll/0123456701000 other.dll/r;
upload('secret', 'xul.pdb', $id[6], $windows);
upload('secret', 'libxul.so', $id[7], $linux);
upload('trier', 'other.pdb', $id[8], $tried);

for my $case (["xul.dll/$CODE/xul.sym", "xul.pdb/$id[6]/xul.sym"],
              ["xul.dll/\L$CODE\E/xul.dll.sym?code_file=&_refresh", "xul.pdb/$id[6]/xul.dll.sym?code_file=&_refresh"],
              ["libxul.so/$BUILD/libxul.so.sym", "libxul.so/$id[7]/libxul.so.sym"],
              ["try/xul.dll/$CODE/x y.sym", "try/xul.pdb/$id[6]/x%20y.sym"],
              ['other.dll/0123456701000/a.sym?try', "other.pdb/$id[8]/a.sym?try"],
              ['try/other.dll/0123456701000/a.sym?a=b', "try/other.pdb/$id[8]/a.sym?a=b"])
{
    for my $method (qw(GET HEAD)) {
        my $r = $t->request($method, '/files/' . $case->[0] =~ s/ /%20/r);
        is($r->{status}, 302, "$method $case->[0]");
        like($r->{headers}{location}, qr{^(?:http://[^/]+)?\Q/files/$case->[1]\E$}, '... the path with the debug id');
    }
}
for my $path ('other.dll/0123456701000/a.sym', "other.dll/$CODE/a.sym", "XUL.dll/$CODE/a.sym",
              "xul.dll/${CODE}1/a.sym", "xul.dll/$CODE/xul.dll")
{
    is(get($path)->{status}, 404, "no such module: $path");
}

my $base = 'http://localhost/files';
my %xul = (debug_id => $id[6], debug_filename => 'xul.pdb', code_file => 'xul.dll', code_id => $CODE, generator => undef,
    url => "$base/xul.pdb/$id[6]/xul.sym");
for my $case (["xul.dll/$CODE", \%xul], ["xul.dll/\L$CODE\E?_refresh", \%xul], ["xul.pdb/$id[6]", \%xul],
              ["libxul.so/$BUILD", { debug_id => $id[7], debug_filename => 'libxul.so', code_file => undef,
                  code_id => uc $BUILD, generator => undef, url => "$base/libxul.so/$id[7]/libxul.so.sym" }],
              ['other.dll/0123456701000?try', { debug_id => $id[8], debug_filename => 'other.pdb', code_file => 'other.dll',
                  code_id => '0123456701000', generator => undef, url => "$base/try/other.pdb/$id[8]/other.sym" }])
{
    my $r = get("api/syminfo/$case->[0]");
    is($r->{status}, 200, "syminfo $case->[0]");
    is_deeply($r->{json}, $case->[1], '... what is known') or diag $r->{body};
    has_cors($r);
    my ($path) = $r->{json}{url} =~ m{^\Q$base\E/(.*)};
    like(get($path)->{body}, qr/^MODULE \w+ x86_64 $case->[1]{debug_id} /, '... its URL gives the symbols');
}
for my $path ("xul.dll/$id[6]", "xul.pdb/$CODE", 'other.dll/0123456701000', "no.dll/$CODE", 'xul.dll/', 'xul.dll', 'xul.dll/x',
              "xul.dll/$CODE/a", "xul.dll/$zeros")
{
    my $r = get("api/syminfo/$path");
    is_deeply([ @$r{qw(status body)} ], [ 404, 'Code file / id Not Found' ], "no syminfo of $path");
    is($r->{headers}{'content-type'}, 'text/html; charset=utf-8', '... HTML');
}

# --- times ---

for my $case ([ "lib.so/$id[1]/lib.so.sym", 'true' ], [ $new, 'YES' ], [ "a/$zeros/a.sym", '1' ]) {
    like(get($case->[0], [ Debug => $case->[1] ])->{headers}{'debug-time'}, qr/^\d+\.\d+$/, "time of $case->[0]");
}
is(get($new, [ Debug => $_ ])->{headers}{'debug-time'}, undef, "none: $_") for 'false', '', 'on';

is($t->end, '', 'nothing is wrong');
done_testing();

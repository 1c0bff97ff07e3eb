# Names with characters that are special in a URL must reach the right object:
# S3 reads an unescaped plus as a space.  The source's access log shows what it
# received, where nginx writes the path as sent.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use SymLoader qw(sym_text write_file);
use Test::More;

my $id = SymFetch::id(7);

# Debug file, folder, path as it must be sent: all characters except A-Z a-z 0-9
# - . _ ~ as %XX (Signature V4, "Create a canonical request", UriEncode).
my @names = (
    ['libstdc++.so.6', 'libstdc%2B%2B.so.6/ID/libstdc%2B%2B.so.6.sym'],
    ['my app', 'my%20app/ID/my%20app.sym'],
    ['a~b', 'a~b/ID/a~b.sym'],
    ['{x}', '%7Bx%7D/ID/%7Bx%7D.sym'],
    ['me@home', 'me%40home/ID/me%40home.sym'],
    ['<name omitted>', '%3Cname%20omitted%3E/ID/%3Cname%20omitted%3E.sym'],
    ['win+32.pdb', 'win%2B32.pdb/ID/win%2B32.sym'],
    ['..so', '..so/ID/..so.sym'],
);

my $t = SymFetch->new(sources => <<'SOURCES', how => <<'CONF');
        location /prefixed/ { internal; proxy_pass http://unix:%%DIR%%/s:/b/c/; }
        location /bare/   { internal; proxy_pass http://unix:%%DIR%%/s; }
        location /vars/   { internal;
                            proxy_pass http://unix:%%DIR%%/s:/v/$symbolicate_path; }
        location /folder/ { internal; alias %%DIR%%/symbols/; }
        location /by-bare { symbolicate; symbolicate_loader unix:%%LOADER%%;
                            symbolicate_source bare uri=/bare/; }
        location /by-vars { symbolicate; symbolicate_loader unix:%%LOADER%%;
                            symbolicate_source vars uri=/vars/; }
        location /by-alias { symbolicate; symbolicate_loader unix:%%LOADER%%;
                            symbolicate_source folder uri=/folder/; }
SOURCES
            symbolicate_source s uri=/prefixed/;
CONF
$t->conf(http => <<'CONF')->start;
    log_format line '$request';
    server {
        listen unix:%%DIR%%/s;
        access_log %%DIR%%/logs/source.log line;
        location / { root %%DIR%%/root; }
    }
CONF

# Request lines that the source received since the last call.
my $seen = 0;
sub lines {
    my @lines = split /\n/, SymTest::slurp($t->dir . '/logs/source.log');
    my @new = @lines[$seen .. $#lines];
    $seen = @lines;
    return @new;
}

sub asked {
    my ($where, $prefix, $folder, $id) = @_;
    for my $n (@names) {
        my ($name, $path) = @$n;
        (my $file = $name) =~ s/\.pdb\z//;
        write_file($t->dir . "/$folder/$name/$id/$file.sym",
            sym_text($name, $id));
        my $r = $t->post("/$where/v5", $t->question([$name, $id]));
        is($t->found($r, $name, $id), 1, "$where: $n->[0]");
        next if !defined $prefix;
        $path =~ s/ID/$id/;
        my $lines = $t->wait_for(sub { my @l = lines(); @l && \@l },
            "the source's log") or last;
        is_deeply($lines, ["GET $prefix$path HTTP/1.0"],
            '... as it is sent');
    }
    return;
}

asked('symbolicate', '/b/c/', 'root/b/c', SymFetch::id(1));
asked('by-bare', '/bare/', 'root/bare', SymFetch::id(2));
asked('by-vars', '/v/', 'root/v', SymFetch::id(3));
asked('by-alias', undef, 'symbols', SymFetch::id(4));

# Names that would leave their folder are never requested.
for my $name ('..', '.') {
    my $r = $t->ask([$name, $id]);
    is($r->{status}, 200, "$name: answered");
    is($t->found($r, $name, $id), 0, '... with false');
}
is_deeply([lines()], [], '... and no GET');

is($t->end, '', 'nothing is wrong');

done_testing();

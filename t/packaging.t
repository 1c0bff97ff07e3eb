# Debian's packages, as far as testable without building them (./dev packages
# does): the site's file serves unchanged, and facts in several places agree.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

my $root = SymTest::root();
my %text = map { $_ => SymTest::slurp("$root/packaging/$_") } qw(
    symloader.service symloader.socket symloader.sysusers symloader.tmpfiles
    debian/control debian/changelog nginx/symbolicate);

# --- the site ---

my $t = SymTest->new->load("$root/samples");
my $site = $text{'nginx/symbolicate'};
for ([qr/listen 127\.0\.0\.1:8000;/, 'listen %%ADDRESS%%;'],
     [qr{/var/lib/symbolicate;}, '%%STORE%%;'],
     [qr{unix:/run/symloader/}, 'unix:%%STORE%%/']) {
    my ($own, $ours) = @$_;
    is($site =~ s/$own/$ours/g, 1, "the site has $own");
}
$t->spawn("daemon off;\n" . ($> == 0 ? "user root;\n" : '')
          . SymTest::bare_conf($site));
my $r = $t->post_json('/symbolicate/v5', {
    memoryMap => [['linux_inline', 'BBA6FA10B8AAB33D00000000000000000']],
    stacks => [[[0, 88967]]],
});
is($r->{json}{results}[0]{stacks}[0][0]{function}, 'main', 'the site answers');
is($t->request('GET', "/$_->[0]")->{status}, $_->[1], "/$_->[0]")
    for ['__heartbeat__', 200], ['page/', 200], ['metrics', 200], ['_symbols/a', 404],
        ['admin/explain/linux_inline/BBA6FA10B8AAB33D00000000000000000', 200];
$t->stop;

# --- names ---

my ($user) = $text{'symloader.service'} =~ /^User=(.*)$/m;
my ($group) = $text{'symloader.service'} =~ /^Group=(.*)$/m;
my ($socket) = $text{'symloader.socket'} =~ /^ListenSequentialPacket=(.*)$/m;
like($text{'symloader.sysusers'}, qr/^u \Q$user\E - /m, 'the user is created');
like($text{'symloader.tmpfiles'},
     qr{^d /var/lib/symbolicate\s+2755 \Q$user $group\E }m, '... owns the store');
like($text{'symloader.tmpfiles'}, qr{^L \S+/loader\.sock\s.* \Q$socket\E$}m,
     '... which has a link to the socket');
like($text{'symloader.socket'}, qr/^SocketUser=\Q$user\E$/m, '... owns the socket');
like($text{'symloader.socket'}, qr/^SocketGroup=\Q$group\E$/m, '... and its group');
like($text{'nginx/symbolicate'}, qr/\bunix:\Q$socket\E;/,
     'the site names the socket');

# --- versions and packages ---

my ($version) = $text{'debian/changelog'} =~ /\A\S+ \(([^)]+)\)/;
my $said = `"@{[SymTest::build_dir()]}/symloader" --version`;
like($said, qr/ \Q$version\E$/m, "symloader is of the packages' version");

# make needs the packages that ./dev installs; a package build has some of them
# anyway.
my ($dev) = SymTest::slurp("$root/dev") =~ /^BUILD_PACKAGES=\((.*?)\)/ms;
my %own = map { $_ => 1 } qw(gcc g++ libc6-dev make);
my @need = sort grep { !$own{$_} } map { s/^pkg-config$/pkgconf/r } split ' ', $dev;
my ($depends) = $text{'debian/control'} =~ /^Build-Depends: (.*?)^\S/ms;
is_deeply([sort grep { !/^(?:debhelper-|dh-)/ } $depends =~ /^\s*([a-z][a-z0-9+.-]+)/mg],
          \@need, "the build depends on the packages that ./dev installs");

done_testing();

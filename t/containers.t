# The image's Containerfile, the example for compose and the manifest for
# Kubernetes repeat the same facts: users, paths, ports, nginx.conf.  They must
# agree, and the configuration must serve.  ./dev image builds and runs the
# image.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

use JSON::PP qw(decode_json);

my $ROOT = SymTest::root();
my @module = ('overflow', 'B0E1FC01EF48E39CAF5C881D2DF0C3840');

# The documents of a YAML file.
sub documents {
    my ($file) = @_;
    my $json = `python3 -c 'import json, sys, yaml
print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))' '$ROOT/$file'`;
    is($?, 0, "$file is YAML") or BAIL_OUT($file);
    return @{decode_json($json)};
}

my $recipe = SymTest::slurp("$ROOT/packaging/oci/Containerfile");
my $conf = SymTest::slurp("$ROOT/packaging/oci/nginx.conf");
my ($compose) = documents('packaging/oci/compose.yaml');
my %kind = map { $_->{kind} => $_ }
    documents('packaging/kubernetes/symbolicate.yaml');

# --- the recipe ---

my ($uid) = $recipe =~ /useradd .*--uid (\d+)/;
my ($user) = $recipe =~ /^USER (\S+)$/m;
my ($port) = $recipe =~ /^EXPOSE (\d+)$/m;
my ($volumes) = $recipe =~ /^VOLUME (.*)$/m;
my ($health) = $recipe =~ /^HEALTHCHECK .*CMD (.*)$/m;
is($user, '33:33', 'nginx is not root, but www-data');
cmp_ok($uid, '>', 0, 'nor is the loader');
for my $path ($recipe =~ /^COPY (packaging\S+)/mg) {
    ok(-e "$ROOT/$path", "$path is there");
}

# it compiles with the packages that ./dev installs
my ($needs) = SymTest::slurp("$ROOT/dev") =~ /^BUILD_PACKAGES=\((.*?)\)/ms;
my ($installs) = $recipe =~ /^FROM \S+ AS build.*?recommends \\\n(.*?)^WORKDIR/ms;
is_deeply([sort grep { $_ ne '\\' } split ' ', $installs],
    [sort split ' ', $needs], 'packages to build with');

# and it excludes from the checkout only files for tests and measurements
is_deeply([sort grep {/^\w/} SymTest::slurp("$ROOT/.dockerignore")
    =~ /^([^#\n].*)$/mg], [qw(bench build build-* fuzz t var)],
    'all other files reach the build');

# --- compose ---

my ($nginx, $loader) = @{$compose->{services}}{qw(nginx loader)};
for my $name ('nginx', 'loader') {
    my $service = $compose->{services}{$name};
    is($service->{image}, 'ngx-symbolicate', "compose, $name: the image");
    ok($service->{read_only}, '... a read-only root');
    is_deeply($service->{cap_drop}, ['ALL'], '... no capabilities');
    ok((grep { $_ eq 'store:/var/lib/symbolicate' } @{$service->{volumes}}),
        '... and the store');
}
is($loader->{user}, "$uid:33", 'compose: the user of the loader');
is_deeply($loader->{command}, ['symbolicate-loader'], '... its command');
like($recipe, qr{ /usr/bin/$loader->{command}[0]$}m, '... of the image');
is($nginx->{user}, undef, 'compose: nginx has the user of the image');
is($nginx->{pid}, 'service:loader', '... and process ids of the loader');
like($nginx->{ports}[0], qr/:$port$/, '... and its port');

# --- Kubernetes ---

my $pod = $kind{StatefulSet}{spec}{template}{spec};
my %container = map { $_->{name} => $_ } @{$pod->{containers}};
my %probe = %{$container{nginx}};
my @claims = map { $_->{metadata}{name} }
    @{$kind{StatefulSet}{spec}{volumeClaimTemplates}};
my %volume = map { $_ => 1 } @claims, map { $_->{name} } @{$pod->{volumes}};
ok($pod->{shareProcessNamespace}, 'Kubernetes: process ids are shared');
is($pod->{securityContext}{fsGroup}, 33, '... the group of the volume');
is("$container{nginx}{securityContext}{runAsUser}:"
    . $pod->{securityContext}{runAsGroup}, $user, '... the user of nginx');
is($container{loader}{securityContext}{runAsUser}, $uid, '... of the loader');
is($container{nginx}{ports}[0]{containerPort}, $port, '... the port');
for my $name ('nginx', 'loader') {
    my $context = $container{$name}{securityContext};
    is($container{$name}{image}, $nginx->{image}, "Kubernetes, $name: the image");
    ok($context->{readOnlyRootFilesystem}
        && !$context->{allowPrivilegeEscalation}, '... without rights');
    is_deeply($context->{capabilities}, { drop => ['ALL'] },
        '... or capabilities');
    is_deeply([grep { !$volume{$_->{name}} }
        @{$container{$name}{volumeMounts}}], [], '... its volumes exist');
}
for my $path (@{decode_json($volumes)}) {
    ok((grep { $_->{mountPath} eq $path } @{$container{nginx}{volumeMounts}}),
        "Kubernetes: $path is a volume");
}
my ($lines) = $conf =~ /^(load_module .*)\z/ms;
is($kind{ConfigMap}{data}{'nginx.conf'}, $lines,
    "Kubernetes: the image's nginx.conf");
is_deeply($kind{Service}{spec}{selector},
    $kind{StatefulSet}{spec}{template}{metadata}{labels},
    'Kubernetes: the service finds its pods');

# --- the configuration ---

my $t = SymTest->new->load(SymTest::symbol_file(@module));
my %own = (
    'load_module modules/ngx_http_symbolicate_module.so;' =>
        'load_module %%MODULE%%;',
    "listen $port;" => 'listen %%ADDRESS%%;',
    'error_log stderr;' => 'error_log %%DIR%%/logs/error.log info;',
    'access_log /dev/stdout;' => 'access_log %%DIR%%/logs/access.log;',
    '/var/spool/symbolicate/' => '%%DIR%%/tmp/',
    '/tmp/nginx.pid' => '%%DIR%%/nginx.pid',
    '/var/lib/symbolicate/store' => '%%STORE%%',
);
for my $part (sort { length $b <=> length $a } keys %own) {
    my $n = $conf =~ s/\Q$part\E/$own{$part}/g;
    ok($n, "nginx.conf has $part");
}
$conf =~ s{ /tmp/}{ %%DIR%%/tmp/}g;
$conf = "daemon off;\n$conf";
$conf = "user root;\n$conf" if $> == 0;
$t->spawn($conf);

my ($checks) = $health =~ m{http://127\.0\.0\.1:$port(/\w+)"};
is($t->request('GET', $_)->{status}, 200, "$_ answers")
    for $checks, '/metrics', '/page/', map { $probe{$_}{httpGet}{path} }
        qw(startupProbe readinessProbe livenessProbe);
my $r = $t->post_json('/symbolicate/v5',
    { stacks => [[[0, 4096]]], memoryMap => [[@module]] });
ok($r->{json}{results}[0]{found_modules}{join '/', @module}, 'v5');
$r = $t->post('/symbolicate', '{"stacktraces": [], "modules": []}',
    'Content-Type' => 'application/json');
is($r->{status}, 200, "Sentry's API");
is($t->stop->log_trouble, '', 'the log is clean');

done_testing();

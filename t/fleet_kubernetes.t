#!/usr/bin/perl

# The manifest of a fleet on Kubernetes has the same pods as that of one node, but
# for what a fleet needs: names of pods, a port for peers, a Secret.  Its
# configuration must serve, and answer peers on their port only.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

use JSON::PP qw(decode_json);

my $FOLDER = SymTest::root() . '/packaging/kubernetes';

sub documents {
    my ($file) = @_;
    my $json = `python3 -c 'import json, sys, yaml
print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))' '$FOLDER/$file'`;
    is($?, 0, "$file is YAML") or BAIL_OUT($file);
    return map { ("$_->{kind} $_->{metadata}{name}" => $_) } @{ decode_json($json) };
}

my %one = documents('symbolicate.yaml');
my %fleet = documents('fleet.yaml');
my ($set, $only) = map { $_->{'StatefulSet symbolicate'}{spec} } \%fleet, \%one;
my ($pod, $single) = map { $_->{template}{spec} } $set, $only;
my ($peers, $secret) = @fleet{ 'Service symbolicate-peers', 'Secret symbolicate-bucket' };
my $conf = $fleet{'ConfigMap symbolicate'}{data}{'nginx.conf'};

# --- what a fleet needs ---

is($peers->{spec}{clusterIP}, 'None', 'a headless service gives the pods names');
is($set->{serviceName}, $peers->{metadata}{name}, '... the set uses it');
is_deeply($peers->{spec}{selector}, $set->{template}{metadata}{labels}, '... and it finds them');
my ($name, $domain, $port) = $conf =~ m{proxy_pass http://(\w+)-\$peer\.([\w-]+)\.default\.svc\.cluster\.local:(\d+)/};
is($name, 'symbolicate', 'the configuration has these names');
is($domain, $peers->{metadata}{name}, '... below the service');
my ($nginx) = grep { $_->{name} eq 'nginx' } @{ $pod->{containers} };
my ($open) = grep { $_->{name} eq 'peers' } @{ $nginx->{ports} };
is($open->{containerPort}, $port, '... and the port');
is($peers->{spec}{ports}[0]{targetPort}, 'peers', '... which the service has, too');
my ($split) = $conf =~ /split_clients \$uri \$peer \{(.*?)\}/s;
is(scalar(my @parts = $split =~ /;/g), $set->{replicas}, 'a share of the modules for each replica');
my ($file) = $conf =~ m{file=/etc/symbolicate/(\S+);};
ok($secret->{stringData}{$file}, 'the key is in the Secret');
my ($warm) = $conf =~ /warm=(\d+)s/;
my $probe = $nginx->{startupProbe};
is($probe->{httpGet}{path}, '/__heartbeat__', 'a pod is ready when it is warm');
cmp_ok($probe->{periodSeconds} * $probe->{failureThreshold}, '>', 2 * $warm, '... and has the time for that');

# --- the rest is that of one node ---

for my $c (@{ $pod->{containers} }) {
    $c->{ports} = [ grep { $_->{name} ne 'peers' } @{ $c->{ports} } ] if $c->{ports};
    $c->{volumeMounts} = [ grep { $_->{name} ne 'bucket' } @{ $c->{volumeMounts} } ];
}
my ($volume) = grep { $_->{name} eq 'bucket' } @{ $pod->{volumes} };
is($volume->{secret}{secretName}, $secret->{metadata}{name}, 'the Secret is mounted');
is($volume->{secret}{defaultMode}, 0440, '... for the group of the pod');
$pod->{volumes} = [ grep { $_->{name} ne 'bucket' } @{ $pod->{volumes} } ];
is_deeply($pod, $single, 'the pod of one node');
is_deeply($set->{volumeClaimTemplates}, $only->{volumeClaimTemplates}, '... with its volume');
is_deeply($fleet{'Service symbolicate'}, $one{'Service symbolicate'}, '... and its service');

# --- the configuration ---

my $t = SymTest->new;
my %own = (
    'load_module modules/ngx_http_symbolicate_module.so;' => 'load_module %%MODULE%%;',
    'listen 8000;'                                         => 'listen %%ADDRESS%%;',
    'listen 8001;'                                         => 'listen unix:%%DIR%%/peers;',
    '$server_port != 8001'                                 => '$server_port != ""',
    'error_log stderr;'                                    => 'error_log %%DIR%%/logs/error.log info;',
    'access_log /dev/stdout;'                              => 'access_log %%DIR%%/logs/access.log;',
    '/var/spool/symbolicate/'                              => '%%DIR%%/tmp/',
    '/tmp/nginx.pid'                                       => '%%DIR%%/nginx.pid',
    '/var/lib/symbolicate/store'                           => '%%STORE%%',
    'kube-dns.kube-system.svc.cluster.local'               => '127.0.0.1',
    'file=/etc/symbolicate/credentials'                    => 'file=%%DIR%%/credentials',
    'warm=30s'                                             => 'warm=300ms',
    'https://artifacts.s3.eu-central-1.amazonaws.com/'     => 'http://127.0.0.1:1/',
);
for my $part (sort { length $b <=> length $a } keys %own) {
    ok($conf =~ s/\Q$part\E/$own{$part}/g, "nginx.conf has $part");
}
$conf =~ s{ /tmp/}{ %%DIR%%/tmp/}g;
open my $out, '>', $t->dir . '/credentials' or die;
print $out $secret->{stringData}{$file};
close $out;
$t->symloader('init');
$t->spawn("daemon off;\n" . ($> == 0 ? "user root;\n" : '') . $conf);
ok(SymTest->wait_for(sub { $t->request('GET', '/__heartbeat__')->{status} == 200 }, 'ready'), 'the node is ready');
is($t->request('GET', '/_peer/artifact')->{status}, 404, 'clients may not ask as peers');
my $said = `curl -s -o /dev/null -w '%{http_code}' --unix-socket '@{[ $t->dir ]}/peers' http://x/_peer/artifact`;
is($said, 400, 'peers may');
$t->allow(qr/symbolicate_share|symbolicate_loader|connect\(\)|symbol source/);
is($t->stop->log_trouble, '', 'the log is clean');

done_testing();

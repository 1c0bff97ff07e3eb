# Clients are notified when symbols arrive that they did not get: nginx posts to
# a webhook, once per module, again after failures, and across reloads and
# restarts.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Cpanel::JSON::XS;
use IO::Select;
use IO::Socket::UNIX;
use SymFolder;
use Test::More;

my $t = SymFolder->new(workers => 2, how => <<'CONF');
            symbolicate_missing on;
            symbolicate_webhook uri=/_hook;
            symbolicate_negative_ttl absent=1h;
CONF
my $path = $t->dir . '/hook';
$t->{parts}{server} = <<"CONF";
        location = /_hook {
            internal;
            proxy_pass http://unix:$path:/in;
            proxy_set_header Authorization "Bearer x";
        }
CONF
my $hook = IO::Socket::UNIX->new(Local => $path, Listen => 16) or die $!;
chmod 0777, $path;
$t->start;

sub is_called {
    my ($seconds) = @_;
    return IO::Select->new($hook)->can_read($seconds);
}

# The next request to the hook, which gets this status; returns its header and
# its JSON.
sub call {
    my ($status) = @_;
    is_called($SymTest::PATIENCE) or die 'nobody calls the webhook';
    my $c = $hook->accept;
    my $text = '';
    my $is_whole = sub {
        my ($head, $body) = split /\r\n\r\n/, $text, 2;
        my ($length) = ($head // '') =~ /^Content-Length: (\d+)/mi;
        return defined $length && length($body // '') >= $length;
    };
    while (!$is_whole->()) {
        sysread $c, $text, 65536, length $text or last;
    }
    $t->send_all($c, "HTTP/1.1 $status Any\r\nContent-Length: 2\r\n\r\nok")
        if $status;
    close $c;
    my ($head, $body) = split /\r\n\r\n/, $text, 2;
    return ($head, Cpanel::JSON::XS->new->utf8->decode($body));
}

sub entry {
    my ($name) = @_;
    my $r = $t->request('GET', '/admin/missing?show=all');
    my ($e) = grep { $_->{name} eq $name } @{$r->{json}{modules} // []};
    return $e // {};
}

sub wait_told {
    my ($name, $told) = @_;
    $t->wait_for(sub { (entry($name)->{webhook} // '') eq $told },
        "the webhook and $name: $told");
    return;
}


sub load {
    my (@module) = @_;
    $t->upload(@module);
    is($t->loader->run('load', '--quiet', $t->file(@module))->{code}, 0,
        "$module[0] is loaded by hand");
    return;
}

my @a = ('a.so', SymFolder::id(0xf1));
my @never = ('never.so', SymFolder::id(0xf2));
my @b = ('b.so', SymFolder::id(0xf3));
my @c = ('c.so', SymFolder::id(0xf4));
my @d = ('d.so', SymFolder::id(0xf5));
$t->ask(\@a, \@never, \@b, \@c, \@d);
wait_told($_, 'no') for qw(a.so never.so b.so c.so d.so);

# --- it comes ---

load(@a);
my ($head, $json) = call(200);
like($head, qr{^POST /in HTTP/1}, 'a POST');
like($head, qr{^Content-Type: application/json\r?$}mi, '... of JSON');
like($head, qr{^Authorization: Bearer x\r?$}m, '... through the location');
is($json->{event}, 'arrived', 'the modules');
is(scalar @{$json->{modules}}, 1, 'the new module, and nothing else');
my $m = $json->{modules}[0];
is_deeply([@$m{qw(name id source kind requests frames)}],
    [@a, 'local', 'symcache', 1, 1], 'the module');
wait_told('a.so', 'delivered');
is($m->{$_}, entry('a.so')->{$_}, "$_, as in the list")
    for qw(first_asked last_asked arrived);

# --- it fails, is retried, and also reports modules that arrived meanwhile ---

load(@b);
call(500);
load(@c);
my %told;
call(0);    # the connection ends without an answer
for (1 .. 2) {
    (undef, $json) = call(204);
    $told{$_->{name}}++ for @{$json->{modules}};
    last if $told{'b.so'} && $told{'c.so'};
}
is_deeply([sort keys %told], ['b.so', 'c.so'], 'notified in the end');
wait_told($_, 'delivered') for 'b.so', 'c.so';
is($t->request('GET', '/admin/missing')->{json}{counts}{webhook_failures}, 2,
    'failures are counted');
like($t->loader->wait_log(qr/webhook.*status 500/), qr/not delivered/,
    '... and logged');

# --- a reload and a killed loader in between ---

$t->reload;
load(@d);
is_called($SymTest::PATIENCE) or die 'nobody calls the webhook';
kill KILL => $t->loader->pid;    # while the hook has not answered yet
$t->loader->wait_end;
(undef, $json) = call(200);
is($json->{modules}[0]{name}, 'd.so', 'notified before the loader died');
$t->loader_start;
(undef, $json) = call(200);
is($json->{modules}[0]{name}, 'd.so', '... and once more: it could not know');
wait_told('d.so', 'delivered');

# --- fetched after all ---

$t->upload(@never);
$t->forget(@never);
$t->ask(\@never);
(undef, $json) = call(200);
is_deeply([map {"$_->{name} $_->{source}"} @{$json->{modules}}],
    ['never.so folder'], 'a module from a source is reported, too');
wait_told('never.so', 'delivered');
ok(!is_called(1.5), 'nothing is reported twice without a reason');

is($t->end, '', 'the logs are clean');

# --- configuration ---

sub refused {
    my ($conf, $what, $why) = @_;
    my $x = SymFolder->new(how => 'symbolicate_missing on;' . $conf);
    my ($code, $said) = $x->check;
    isnt($code, 0, "refused: $what");
    like($said, $why, '... says why');
    return;
}
refused('symbolicate_webhook /_hook;', 'no uri=', qr/needs "uri=/);
refused('symbolicate_webhook uri=x;', 'no path', qr/needs "uri=/);
refused('} location /o { symbolicate; symbolicate_missing on; '
    . 'symbolicate_webhook uri=/b; } location /p { symbolicate; '
    . 'symbolicate_missing on; symbolicate_webhook uri=/c;', 'two of one loader',
    qr/two webhooks/);

done_testing();

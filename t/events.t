# S3 posts an event when a symbol file was uploaded or removed.  The store
# forgets its path, and the next request fetches the file.  However many records a
# post has, no other request waits for it.  If the loader is away the sender
# must get an error, or an upload would never be noticed.
#
# The posts follow the examples in Amazon's S3 and SNS guides.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Compress::Gzip qw(gzip);
use SymFolder;
use Test::More;

my $t = SymFolder->new(workers => 2)->start;

sub record {
    my ($event, $key) = @_;
    return { eventVersion => '2.1', eventSource => 'aws:s3',
        awsRegion => 'us-west-2', eventTime => '1970-01-01T00:00:00.000Z',
        eventName => $event, s3 => { s3SchemaVersion => '1.0',
            bucket => { name => 'symbols', arn => 'arn:aws:s3:::symbols' },
            object => { key => $key, size => 1024 } } };
}

sub symbols { return 'v1/' . SymFolder::path(@_) }

sub notify {
    my (@records) = @_;
    return $t->post_json('/admin/events', { Records => \@records });
}

sub counts {
    my ($records, $paths, $removed, $ignored) = @_;
    return { records => $records, paths => $paths, removed => $removed,
        ignored => $ignored };
}

# --- uploads and removals ---

my @module = ('a.so', SymFolder::id(0xc1));
is($t->function($t->ask(\@module)), 'false', 'not there yet');
$t->upload(@module, prefix => 'first');
is($t->function($t->ask(\@module)), 'false', 'known as absent');

my $r = notify(record('ObjectCreated:Put', symbols(@module)));
is($r->{status}, 200, 'ObjectCreated');
is($r->{headers}{'content-type'}, 'application/json', 'answered in JSON');
is_deeply($r->{json}, counts(1, 1, 1, 0), 'a negative entry was removed');
is($t->function($t->ask(\@module)), 'first0', 'the next request gets it');

$t->upload(@module, prefix => 'second');
is_deeply(notify(record('ObjectCreated:CompleteMultipartUpload',
    symbols($module[0], lc $module[1])))->{json}, counts(1, 1, 0, 0),
    'a file with another spelling of the id is another path');
is($t->function($t->ask(\@module)), 'first0', '... so the old file stays');
is_deeply(notify(record('ObjectCreated:CompleteMultipartUpload',
    symbols(@module)))->{json}, counts(1, 1, 1, 0), 'replaced');
is($t->function($t->ask(\@module)), 'second0',
    'the next request gets the new file');

unlink $t->file(@module);
is_deeply(notify(record('ObjectRemoved:Delete', symbols(@module)))->{json},
    counts(1, 1, 1, 0), 'ObjectRemoved');
is($t->function($t->ask(\@module)), 'false', 'and it is gone');

my @plus = ('libstdc++.so', SymFolder::id(0xc2));
$t->ask(\@plus);
$t->upload(@plus);
(my $key = symbols(@plus)) =~ s/\+/%2B/g;
is_deeply(notify(record('ObjectCreated:Put', $key))->{json}, counts(1, 1, 1, 0),
    'a key that S3 has encoded');
is($t->function($t->ask(\@plus)), 'f0', '... is found');

is_deeply(notify(record('ObjectCreated:Put', 'v1/index.txt'),
    record('ObjectTagging:Put', symbols(@module)),
    record('ObjectCreated:Put', symbols(@module)))->{json}, counts(3, 2, 1, 1),
    'other events are counted, and other files do no harm');
is_deeply(notify()->{json}, counts(0, 0, 0, 0), 'no records');

# --- other forms, other encodings ---

my $one = $t->json({ Records => [record('ObjectCreated:Put', symbols(@module))] });
is_deeply($t->post_json('/admin/events', { Type => 'Notification',
    MessageId => '1', Message => $one })->{json}, counts(1, 1, 0, 0), 'SNS');
is_deeply($t->post_json('/admin/events', { 'detail-type' => 'Object Created',
    source => 'aws.s3', detail => { bucket => { name => 'symbols' },
    object => { key => symbols(@module) } } })->{json}, counts(1, 1, 0, 0),
    'EventBridge');

gzip(\$one => \my $packed);
is_deeply($t->post('/admin/events', $packed, 'Content-Encoding' => 'gzip')
    ->{json}, counts(1, 1, 0, 0), 'gzip');
is_deeply($t->request('POST', '/admin/events', chunks => [$one =~ /(.{1,50})/gs])
    ->{json}, counts(1, 1, 0, 0), 'in chunks');

# --- posts that are not events ---

for (['{"Records":', qr/^malformed: the events are not JSON/],
    ['', qr/^malformed: the events are not JSON/],
    ['{"Records": 1}', qr/^malformed: Records is not an array/],
    ['{"Records": [{"eventName": 1}]}', qr/^malformed: .*eventName/],
    ['{"a": 1}', qr/^unsupported: neither Records nor/]) {
    my ($body, $sentence) = @$_;
    $r = $t->post('/admin/events', $body);
    is($r->{status}, 400, "refused: '$body'");
    like($r->{json}{description}, $sentence, '... with the reason');
}

my $url = 'https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription'
    . '&Token=2336412f37';
$r = $t->post_json('/admin/events', { Type => 'SubscriptionConfirmation',
    Message => 'You have chosen to subscribe', SubscribeURL => $url });
is($r->{status}, 400, 'an SNS subscription that waits');
like($r->{json}{description}, qr/SubscribeURL/,
    '... and the answer says what to do');
like($t->error_log, qr/open this address: \Q$url\E,/,
    '... and the log has the URL');

# --- many ---

my $many = 3000;
my @ids = map { SymFolder::id(0xd00000 + $_) } 1 .. $many;
my $batch = $t->json({ Records => [
    map { record('ObjectCreated:Put', symbols('many.so', $_)) } @ids] });
my @some = map { ['many.so', $_] } @ids[0 .. 299];
$t->ask(@some);
$r = $t->post('/admin/events', $batch);
is_deeply($r->{json}, counts($many, $many, 300, 0), 'thousands in one post');

# --- no request waits for events, and they wait for the loader ---

my $pid = $t->loader->pid;
kill 'STOP', $pid;
my $socket = $t->connect;
$t->send_all($socket, $t->request_text('POST', '/admin/events', body => $batch));
for (1 .. 8) {
    is($t->request('GET', '/__heartbeat__')->{status}, 200,
        'other requests are served');
}
ok(!IO::Select->new($socket)->can_read(0), 'not answered before the loader is');

my $gone = $t->connect;
$t->send_all($gone, $t->request_text('POST', '/admin/events', body => $batch));
close $gone;
kill 'CONT', $pid;
is_deeply($t->finish($socket)->{json}, counts($many, $many, 0, 0),
    'answered when the loader continues');

# --- the loader exits ---

kill 'STOP', $pid;
my @waiting = map { $t->connect } 1 .. 4;
$t->send_all($_, $t->request_text('POST', '/admin/events', body => $batch))
    for @waiting;
my $forget = $t->connect;
$t->send_all($forget, $t->request_text('DELETE',
    "/admin/cache/a.so/$module[1]"));
# nginx has read all records when it has sent each to the loader
$t->request('GET', '/__lbheartbeat__') for 1 .. 4;
kill 'KILL', $pid;
$t->loader->wait_end;
$t->{is_serving} = 0;

for my $socket (@waiting, $forget) {
    $r = $t->finish($socket);
    is($r->{status}, 503, 'the loader dies meanwhile: 503');
    like($r->{json}{description}, qr/loader (went away|is not running)/,
        '... with the reason');
    ok($r->{headers}{'retry-after'}, '... and when to retry');
}

$r = $t->post('/admin/events', $one);
is($r->{status}, 503, 'no loader: 503');
is($r->{json}{description}, 'the symbol loader is not running', '... why');
is($r->{headers}{'retry-after'}, 5, '... and when to retry');

$t->loader_start;
$r = $t->wait_for(sub {
    my $r = $t->post('/admin/events', $batch);
    $r->{status} == 200 && $r }, 'the loader is back');
is_deeply($r->{json}, counts($many, $many, 0, 0), 'events succeed again');

is($t->end, '', 'the logs are clean');

done_testing();

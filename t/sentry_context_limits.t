#!/usr/bin/perl

# Source context costs as much as it shows, not as much as the files are large:
# a thousand frames in one large file, a file of one endless line, and more
# lines than an answer may show.  Small requests are answered meanwhile.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Time::HiRes qw(time);

use Cpanel::JSON::XS ();
use SentryCases;
use SymLoader qw(write_file);

my $JSON = Cpanel::JSON::XS->new->utf8;
my $ID = '00112233445566778899AABBCCDDEEFF0';
my $LINES = 400_000;    # some 10 MB
my $WIDE = 26_000;      # lines of 150 bytes: 11 around each are more than 32 MiB

# Each of the three functions has 16 bytes of code for each line of its file.
my %files = (
    'large.c' => [ 0x1000000, 1000, 397,
        join '', map { sprintf "statement number %u;\n", $_ } 1 .. $LINES ],
    'endless.c' => [ 0x2000000, 2, 1, "first\n" . 'x' x 20_000_000 ],
    'wide.c' => [ 0x3000000, $WIDE, 1,
        join '', map { sprintf("%06u", $_) . 'y' x 144 . "\n" } 1 .. $WIDE ],
);

my $t = SentryCases->new;
my $dir = $t->dir;

{
    my $text = "MODULE Linux x86_64 $ID large\n";
    my @names = sort keys %files;
    my $functions = '';

    for my $n (0 .. $#names) {
        my ($base, $count, $step) = @{ $files{ $names[$n] } };
        $text .= "FILE $n /src/$names[$n]\n";
        $functions .= sprintf "FUNC %x %x 0 f%u\n", $base, 16 * $count, $n;
        $functions .= sprintf "%x 10 %u %u\n", $base + 16 * $_, 1 + $_ * $step, $n
            for 0 .. $count - 1;
    }
    write_file("$dir/large.sym", $text . $functions);
}

{
    my $script = <<'END';
import json, struct, sys, zipfile
out, id = sys.argv[1:3]
with open(out, 'wb') as f:
    f.write(b'SYSB' + struct.pack('<I', 2))
with zipfile.ZipFile(out, 'a', zipfile.ZIP_DEFLATED) as z:
    for name in sys.argv[3:]:
        z.write(name, 'files/' + name.split('/')[-1])
    z.writestr('manifest.json', json.dumps({'debug_id': id, 'files': {
        'files/' + n: {'type': 'source', 'path': '/src/' + n}
        for n in (name.split('/')[-1] for name in sys.argv[3:])}}))
END
    write_file("$dir/$_", $files{$_}[3]) for keys %files;
    system('python3', '-c', $script, "$dir/large.src.zip",
        '00112233-4455-6677-8899-aabbccddeeff', map {"$dir/$_"} sort keys %files) == 0
        or die 'python3 cannot make a bundle';
}

$t->start;
for my $file ('large.sym', 'large.src.zip') {
    my $r = $t->loader->run('load', "$dir/$file");
    is($r->{code}, 0, "$file is loaded") or diag($r->{err});
}

# Frames at the first $n lines of a file that the symbols name.
sub request_of {
    my ($file, $n) = @_;
    my $base = $files{$file}[0];
    return $JSON->encode({
        modules => [ { type => 'elf', image_addr => '0x0', debug_file => 'large',
            debug_id => '00112233-4455-6677-8899-aabbccddeeff' } ],
        stacktraces => [ { frames => [ map { { addr_mode => 'rel:0',
            instruction_addr => sprintf '0x%x', $base + 16 * $_ } } 0 .. $n - 1 ] } ] });
}

sub frames_of {
    my ($file, $n) = @_;
    my $started = time;
    my $r = $t->answer_of(request_of($file, $n));
    is($r->{http_status}, 200, "$n frames in $file") or diag(substr $r->{body}, 0, 500);
    note(sprintf '%.0f ms', 1000 * (time - $started));
    my @frames = @{ $r->{body}{stacktraces}[0]{frames} };
    is(@frames, $n, '... all are answered');
    return @frames;
}

# --- many frames in one file ---

{
    my @frames = frames_of('large.c', 1000);
    my @wrong = grep {
        my $line = 1 + 397 * $_;
        my $f = $frames[$_];
        my @want = map {"statement number $_;"} $line - 5 .. $line + 5;
        splice @want, 0, 5 if $_ == 0;    # no line before the first
        join('|', @{ $f->{pre_context} // [] }, $f->{context_line} // '',
             @{ $f->{post_context} // [] }) ne join '|', @want;
    } 0 .. 999;
    is(@wrong, 0, '... each with its own lines') or diag("frame $wrong[0]");
}

# --- one endless line ---

{
    my @frames = frames_of('endless.c', 2);
    is_deeply($frames[0]{post_context}, [ 'x' x 140 . ' {snip}' ],
              'a line of 20 MB is cut');
    is_deeply([ @{ $frames[1] }{qw(pre_context context_line)} ],
              [ ['first'], 'x' x 140 . ' {snip}' ], '... wherever it is shown');
    ok(!exists $frames[1]{post_context}, '... and is the last one');
}

# --- more than an answer may show; other requests do not wait for it ---

{
    my $s = $t->connect;
    my $started = time;
    $t->send_all($s, $t->request_text('POST', '/sentry/symbolicate',
        body => request_of('wide.c', $WIDE),
        headers => [ 'Content-Type' => 'application/json' ]));
    my @small = frames_of('large.c', 1);
    is($small[0]{context_line}, 'statement number 1;',
        'a small request during a huge one');

    my $r = $t->response($s);
    is($r->{status}, 200, 'the huge one');
    note(sprintf '%.0f ms, %u bytes', 1000 * (time - $started), length $r->{body});
    my @frames = @{ $JSON->decode($r->{body})->{stacktraces}[0]{frames} };
    is(@frames, $WIDE, '... all its frames are answered');
    is(grep({ $_->{lineno} } @frames), $WIDE, '... with their positions');
    is($frames[0]{context_line}, '000001' . 'y' x 144, '... and lines');

    my @with = grep { exists $frames[$_]{context_line} } 0 .. $#frames;
    my $bytes = 0;
    $bytes += length
        for map { (@{ $_->{pre_context} // [] }, $_->{context_line},
                   @{ $_->{post_context} // [] }) } @frames[@with];
    is($with[-1], $#with, '... up to a frame');
    cmp_ok($bytes, '>=', 32 << 20, '... that is the first beyond 32 MiB');
    cmp_ok($bytes, '<', (32 << 20) + 11 * 150, '... and no more');
}

is($t->end, '', 'a clean log');
done_testing();

#!/usr/bin/perl

# The page sends a minidump that is dropped on it to /minidump, and shows the stacks
# of the answer.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymGiven;
use SymLoader qw(write_file);
use SymTest;
use SymTools;
use Test::More;

my $root = SymTest::root();
my $t = SymGiven->new(at => '/', more => 'client_max_body_size 16m;')->start;
my $script = $t->dir . '/ask.mjs';

write_file($script, <<"JS");
import { readFileSync } from 'node:fs';
import { isDump, symbolicateDump } from '$root/page/dump.mjs';
const bytes = readFileSync(process.argv[2]);
try {
  const report = await symbolicateDump(new Blob([bytes]), process.argv[3]);
  console.log([isDump(bytes), report.title, ...report.stacks.map((s) => `\${s.title}: \${s.frames.length}`)].join('|'));
} catch (error) {
  console.log([isDump(bytes), error.message].join('|'));
}
JS

sub ask {
    my ($file) = @_;
    my @command = (SymTools::path('node'), $script, $file, 'http://' . $t->address . '/symbolicate');
    open my $out, '-|', @command or die "node: $!";
    return join '', <$out>;
}

like(ask("$root/fuzz/corpus/minidump/x64_linux"),
     qr/^true\|Minidump — SIGSEGV.*\|Thread 100 main \(crashed\): [1-9]/, 'the stacks of a minidump');
like(ask("$root/README.md"), qr/^false\|The server answers: /, 'the server says why it does not read a file');

is($t->end, '', 'a clean log');
done_testing();

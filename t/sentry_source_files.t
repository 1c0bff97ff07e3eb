# A filesystem source reads regular files below the configured folders, and
# nothing else: no "..", no link that leads out, no pipe.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use POSIX qw(mkfifo);
use SymGiven;
use Test::More;

my $root = tempdir('symroot-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $other = tempdir('symother-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $t = SymGiven->new(types => "filesystem=$root/open,$root/second/")->start;
my $n = 0;

sub put {
    my ($folder, $name, $number) = @_;
    my $file = "$folder/" . SymGiven::path_of($name, $number);
    make_path($file =~ s{/[^/]*\z}{}r);
    open my $out, '>', $file or die "$file: $!";
    print $out SymGiven::text_of($name, $number);
    close $out;
    return $file;
}

sub ask {
    my ($path, $name, $number) = @_;
    return $t->symbolicate([{ id => 'f', type => 'filesystem', path => $path,
        filters => { filetypes => ['breakpad'] } }], [$name, $number]);
}

sub found {
    my ($path, $what) = @_;
    my $name = 'a' . ++$n . '.pdb';
    put($path, $name, $n);
    is($t->function_of(ask($path, $name, $n), 0), 'f0', $what);
    return;
}

sub refused {
    my ($path, $what) = @_;
    my $name = 'a' . ++$n . '.pdb';
    put("$other", $name, $n);
    my $r = ask($path, $name, $n);
    is($t->status_of($r, 0), 'fetching_failed', $what) or diag $r->{body};
    return;
}

make_path("$root/open/sub", "$root/second", "$root/closed", "$root/opened");
found("$root/open", 'a root');
found("$root/open/", '... with a slash');
found("$root/open/sub", 'a folder below it');
found("$root/second", 'another root');

my $missing = ask("$root/open", 'none.pdb', 999);
is($t->status_of($missing, 0), 'missing', 'no such file');

refused($other, 'a folder that is not configured');
refused("$root", 'the folder around it');
refused("$root/opened", 'a folder whose name begins like a configured one');
refused("$root/open/../../" . $other =~ s{.*/}{}r, 'a way out with ..');
refused("$root/open/sub/../../../" . $other =~ s{.*/}{}r, '... from below');
refused('', 'an empty path');
refused('/', 'the root folder');
refused('relative', 'a relative path');

symlink($other, "$root/open/link") or die $!;
refused("$root/open/link", 'an absolute link');
symlink('../../' . $other =~ s{.*/}{}r, "$root/open/relative") or die $!;
refused("$root/open/relative", 'a relative link');

my $name = 'l' . ++$n . '.pdb';
my $real = put($other, $name, $n);
my $place = "$root/open/" . SymGiven::path_of($name, $n);
make_path($place =~ s{/[^/]*\z}{}r);
symlink($real, $place) or die $!;
is($t->status_of(ask("$root/open", $name, $n), 0), 'fetching_failed',
    'a file that is a link out');

symlink('sub', "$root/open/inner") or die $!;
found("$root/open/inner", 'a link that stays inside');

$name = 'p' . ++$n . '.pdb';
$place = "$root/open/" . SymGiven::path_of($name, $n);
make_path($place =~ s{/[^/]*\z}{}r);
mkfifo($place, 0666) or die $!;
is($t->status_of(ask("$root/open", $name, $n), 0), 'missing',
    'a pipe is not a file');

$name = 'd' . ++$n . '.pdb';
make_path("$root/open/" . SymGiven::path_of($name, $n));
is($t->status_of(ask("$root/open", $name, $n), 0), 'missing',
    'a folder is not a file');

my $r = $t->symbolicate([$t->source('/s')], ['h.pdb', 5000]);
is($t->status_of($r, 0), 'fetching_failed', 'http is not allowed here');
is(scalar(my @seen = $t->requests), 0, '... and no request was sent');

$r = $t->symbolicate([{ id => 'f', type => 'filesystem', path => "$root/open\0x" }],
    ['h.pdb', 5001]);
is($r->{status}, 422, 'a path with a NUL');

is($t->end, '', 'nothing else');
done_testing();

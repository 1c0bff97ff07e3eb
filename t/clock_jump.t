#!/usr/bin/perl

# The system clock may jump: an entry expires when the clock says so, forwards
# and backwards, and nothing expires because the clock was set back.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFetch;
use SymLoader qw(write_file);
use SymTest;

my $t = SymFetch->new->conf(locations => <<'CONF');
        location /symbolicate {
            symbolicate;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source s uri=/source/;
            symbolicate_negative_ttl absent=1h;
        }
        location /source/ { internal; proxy_pass http://%%FAULT%%/as/s/; }
        location /__ { symbolicate_health; }
CONF

# Moves the clock of nginx and the loader.
my ($file, $now) = ($t->dir . '/clock', 0);

sub jump {
    open my $out, '+<', $file or die "$file: $!";
    syswrite $out, pack 'q<', $now += $_[0];
    return;
}

write_file($file, pack 'q<', 0);
{
    local $ENV{PATH} = $ENV{SYM_PATH};
    system('gcc', '-O2', '-fPIC', '-shared', '-o', "$file.so", "$FindBin::Bin/lib/clock.c")
        == 0 or BAIL_OUT('gcc');
}
{
    local @ENV{qw(LD_PRELOAD SYM_CLOCK)} = ("$file.so", $file);
    $t->start;
}

my @module = ('jump.so', SymFetch::id(1));
$t->fault->script('s', 'status/404');

# Whether the source got a request.
sub is_asked {
    my $before = $t->fault->stats->{total}{done} // 0;
    is($t->ask(\@module)->{status}, 200, 'answered');
    return $t->fault->stats->{total}{done} > $before ? 1 : 0;
}

is(is_asked(), 1, 'a module that no source has: it is requested');
is(is_asked(), 0, '... and not again');
jump(7200);
is(is_asked(), 1, '... but two hours later');
is(is_asked(), 0, '... and kept');
jump(-365 * 86400);
is($t->ask(\@module)->{status}, 200, 'a year back: answered');
jump(366 * 86400);
is(is_asked(), 1, 'forward again: it is requested');
is(is_asked(), 0, '... and kept');

is($t->stop->log_trouble, '', 'the log is clean');
done_testing();

package SymSentryCli;

# The real sentry-cli, which uploads to a SymUpload.  `./dev test` installs it from
# npm's registry; without it the tests that need it are skipped.
#
#     use SymSentryCli;                        the last one with the older calls
#     use SymSentryCli 'var/clients/sentry';   the current one, of `./dev clients`
#     my ($code, $said) = SymSentryCli::run($t, 'ci-secret', 'debug-files', 'upload', ...);

use strict;
use warnings;

use SymTest;
use Test::More ();

my $program;

sub import {
    my ($class, $folder) = @_;
    ($program) = grep { -x } glob SymTest::root() . '/' . ($folder // 'var/sentry_cli')
        . '/node_modules/@sentry/cli-linux-*/bin/sentry-cli';
    Test::More::plan(skip_all => 'no sentry-cli: npm could not install it') if !$program;
}

sub run {
    my ($t, $token, @args) = @_;
    my $pid = open my $out, '-|';
    die "fork: $!" if !defined $pid;
    if (!$pid) {
        open STDERR, '>&', \*STDOUT or die;
        $ENV{SENTRY_LOAD_DOTENV} = 0;
        $ENV{SENTRY_DISABLE_UPDATE_CHECK} = 1;
        $ENV{HOME} = $t->{dir};
        delete @ENV{qw(http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy)};
        chdir $t->{dir} or die;
        exec $program, '--url', $t->url('/'), '--auth-token', $token, @args or die "$program: $!";
    }
    my $said = join '', readline $out;
    close $out;
    return ($? >> 8, $said);
}

1;

#!/usr/bin/perl

# Tab in a shell completes commands, options and modules.  The shells run their
# own scripts here; zsh's completion functions, which need a terminal, are
# replaced by ones that print their arguments.

use strict;
use warnings;

use Cwd qw(abs_path);
use FindBin;
use lib "$FindBin::Bin/lib";
use SymLoader;
use Test::More;

my $scripts = abs_path("$FindBin::Bin/../packaging/completion");
my $t = SymLoader->new;
my $id = 'BBA6FA10B8AAB33D0000000000000000';
my @modules = ("libxul.so/${id}1", "my app/${id}2");
$t->run('load', '--quiet',
        map { $t->file("$_.sym", SymLoader::sym_text(split m{/}, $modules[$_])) }
            0 .. $#modules);

mkdir $t->dir . '/bin' or die;
symlink $t->{program}, $t->dir . '/bin/symloader' or die;
$ENV{HOME} = $t->dir;
my $path = "PATH=" . $t->dir . '/bin:$PATH';    # a tool's own path goes before

my $bash = $t->file('try.bash', <<"END");
$path
source $scripts/symloader.bash
COMP_WORDS=("\$@") COMP_CWORD=\$((\$# - 1))
_symloader
printf '%s\\n' "\${COMPREPLY[\@]}"
END
my $fish = $t->file('try.fish', <<"END");
set -x PATH @{[$t->dir]}/bin \$PATH
source $scripts/symloader.fish
complete -C (string join -- ' ' \$argv) | string replace -r '\\t.*' ''
END
my $zsh = $t->file('try.zsh', <<"END");
$path
_describe() { print -rl -- \${\${(P)2}%%:*} }
compadd() { print -rl -- \${(P)2} }
_files() { }
words=("\$@") CURRENT=\$# PREFIX=\$words[-1]
eval "try() { \$(< $scripts/_symloader) }"
try
END

for my $shell (['bash', $bash], ['fish', '-N', $fish], ['zsh', '-f', $zsh]) {
    my $completes = sub {
        open my $out, '-|', @$shell, 'symloader', @_ or die "$shell->[0]: $!";
        return map { chomp; ($_ => 1) } <$out>;
    };
    my %got = $completes->('lo');
    ok($got{load} && $got{lookup}, "$shell->[0] completes commands");
    %got = $completes->('pu');
    ok($got{'push-symbols'}, '... one with a hyphen');
    %got = $completes->('mi');
    ok($got{mirror}, '... and mirror');
    %got = $completes->('ls', '--');
    ok($got{'--json'} && $got{'--store'}, '... options of a command');
    ok(!$got{'--quota'}, '... and not those of others');
    %got = $completes->('atos', '-');
    ok($got{'-arch'}, '... options of one dash');
    %got = $completes->('--store', $t->store, 'show', 'lib');
    ok($got{$modules[0]}, '... modules of the store');
    ok(!$got{$modules[1]}, '... that begin like that');
}

done_testing();

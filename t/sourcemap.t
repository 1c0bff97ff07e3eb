#!/usr/bin/perl

# Source maps and scripts: `symloader load` stores mappings, functions and texts
# as separate artifacts, and `lookup --kind=sourcemap` answers a line and a
# column.  Expected names are those of Sentry's js-source-scopes.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(json_lines write_file);

my $t = SymLoader->new;
my $dir = $t->dir;

# --- a map ---

my $ID = '0123456789ABCDEF0123456789ABCDEF0';
write_file("$dir/app.js.map", <<'END');
{"version":3,"file":"app.js","sourceRoot":"src","sources":["a.ts","../../b.ts",null],
"sourcesContent":["let a\nlet b\n",null,"x"],"names":["first","second"],
"debugId":"01234567-89ab-cdef-0123-456789abcdef",
"mappings":"AAAAA,KCCGC;E,GDAA"}
END
my $r = $t->run('load', "$dir/app.js.map");
is($r->{code}, 0, 'a source map loads') or diag($r->{err});
like($r->{out}, qr/: app\.js\.map\/$ID: mappings, /, '... under its debug id');
like($r->{out}, qr/: app\.js\.map\/$ID: sources, /, '... with the texts in it');

# positions by hand: ECMA-426, 10.2
is($t->run('dump', '--kind=sourcemap', "app.js.map/$ID")->{out}, <<'END', 'all tokens');
1:1 src/a.ts:1:1 first
1:6 src/../../b.ts:2:4 second
2:3
2:6 src/a.ts:2:4
END
$r = $t->run('lookup', '--kind=sourcemap', "app.js.map/$ID", qw(1:1 1:5 1:6 1:999 2:7));
is($r->{out}, <<'END', 'a position is that of the token at or before it');
src/a.ts:1:1 first
src/a.ts:1:1 first
src/../../b.ts:2:4 second
src/../../b.ts:2:4 second
src/a.ts:2:4
END
is($r->{code}, 0, '... and all were found');
$r = $t->run('lookup', '--kind=sourcemap', '--json', "app.js.map/$ID",
    qw(1:6 2:1 2:4 3:1 4294967295:4294967295));
is_deeply([ json_lines($r->{out}) ],
    [   { line => 1, column => 6, source => 'src/../../b.ts', source_line => 2,
            source_column => 4, name => 'second' },
        { line => 2, column => 1 }, { line => 2, column => 4 },
        { line => 3, column => 1 },
        { line => 4294967295, column => 4294967295 } ],
    'nothing is before the first token of a line, nor at one without a source');
is($r->{code}, 1, '... which the exit code says');
for my $wrong (qw(1 1: :1 0:1 1:0 1:1:1 a:1 4294967297:1)) {
    is($t->run('lookup', '--kind=sourcemap', "app.js.map/$ID", $wrong)->{code}, 2,
        "'$wrong' is not a position");
}

is($t->run('dump', '--kind=sources', "app.js.map/$ID")->{out},
    "src/\nsrc/a.ts\n", 'texts have the names of sources');
is($t->run('dump', '--kind=sources', '--path=src/a.ts', "app.js.map/$ID")->{out},
    "let a\nlet b\n", '... and are stored');

# --- a script ---

write_file("$dir/app.js", <<'END');
"use strict";var a=function(){return()=>1};a.b={c(){}};class K{m(){}get g(){return 1}}
/* 𝕏 */ (function(){})();
//# sourceMappingURL=app.js.map?v=1
//# debugId=01234567-89ab-cdef-0123-456789abcdef
END
$r = $t->run('load', "$dir/app.js");
like($r->{out}, qr/: app\.js\/$ID: functions, /, 'a script loads under the id in its comment')
    or diag($r->{err});
is($t->run('dump', '--kind=script', "app.js/$ID")->{out}, <<'END', 'its functions');
1:20 a
1:37 <anonymous>
1:42 a
1:43 -
1:49 a.bc
1:54 -
1:56 new K
1:64 K.m
1:69 new K
1:69 get K.g
1:86 new K
1:87 -
2:11 <anonymous>
2:23 -
END
like($t->run('show', "app.js/$ID")->{out},
    qr/^source_map\s+app\.js\.map$/m, 'it says where its map is');
is($t->run('dump', '--kind=sources', '--path=text', "app.js/$ID")->{out} =~ tr/\n//, 4,
    'its text is stored');

# --- a map in a script ---

write_file("$dir/in.js", <<'END');
var f=function(){};
//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbInRleHQiXSwic291cmNlc0NvbnRlbnQiOlsibGV0IGYiXSwibmFtZXMiOltdLCJtYXBwaW5ncyI6IkFBQUEifQ==
END
$r = $t->run('load', "$dir/in.js");
like($r->{out}, qr/in\.js\/(\w+): mappings, /, 'a map inside of a script is read');
my ($id) = $r->{out} =~ /in\.js\/(\w+): mappings/;
is($t->run('lookup', '--kind=sourcemap', "in.js/$id", '1:3')->{out}, "text:1:1\n",
    '... and answers');
is($t->run('dump', '--kind=sources', '--path=#0', "in.js/$id")->{out}, "let f",
    '... a source named like the script itself is found by its number');

# --- invalid scripts ---

write_file("$dir/bad.js", "var a=function({;\n");
$r = $t->run('load', "$dir/bad.js");
is($r->{code}, 0, 'a script that cannot be parsed loads');
like($r->{err}, qr/its functions cannot be read: not JavaScript \(byte 16\)/,
    '... with a warning');
like($r->{out}, qr/bad\.js\/\w+: text, /, '... as text');

done_testing();

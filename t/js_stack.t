#!/usr/bin/perl

# Text stacks of JavaScript: `symloader symbolicate --symbols FOLDER` writes
# them with their original names and positions, and leaves everything else
# unchanged.  The maps were made by hand, field by field (ECMA-426).

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(write_file);

my $t = SymLoader->new;
my $dir = $t->dir;
mkdir "$dir/dist" or die;
mkdir "$dir/dist/js" or die;

# function a(){throw 1}  var b=()=>a();  b();
write_file("$dir/dist/js/app.js",
    "function a(){throw 1}var b=()=>a();b();\n//# sourceMappingURL=maps/app.js.map\n");
# tokens: column 9 is readCart, 13 is cart.ts 2:3, 25 is checkout, 31 is main.ts 1:10
# (the call of readCart), 35 is main.ts 2:1
write_file("$dir/dist/js/app.js.map", '{"version":3,"sources":["cart.ts","main.ts"],'
    . '"names":["readCart","checkout"],"mappings":'
    . '"AAAA,SAASA,IACP,YCDEC,MAAKD,IACTC"}');

sub run_text {
    my ($text, @more) = @_;
    write_file("$dir/trace.txt", $text);
    return $t->run('symbolicate', '--symbols', "$dir/dist", @more, "$dir/trace.txt");
}

my $r = run_text(<<'END');
Error: 1
    at a (https://example.com/js/app.js:1:14)
    at b (https://example.com/js/app.js?v=2:1:32)
    at https://cdn.example.com/other/path/js/app.js:1:36
    at new Promise (<anonymous>)
END
is($r->{out}, <<'END', 'a stack of Chrome');
Error: 1
    at readCart (cart.ts:2:3)
    at checkout (main.ts:1:10)
    at <unknown> (main.ts:2:1)
    at new Promise (<anonymous>)
END
is($r->{code}, 0, '... of which every position was found') or diag($r->{err});

$r = run_text("a\@https://example.com/js/app.js:1:14\r\n\@https://example.com/js/app.js:1:32\r\n"
        . "https://example.com/js/app.js:1:36\r\nglobal code\@https://example.com/gone.js:1:1");
is($r->{out}, "readCart\@cart.ts:2:3\r\ncheckout\@main.ts:1:10\r\n<unknown>\@main.ts:2:1\r\n"
        . "global code\@https://example.com/gone.js:1:1",
    'stacks of Firefox and Safari, with their line ends');
is($r->{code}, 1, '... one frame was not found');

$r = run_text("    at a (https://example.com/js/app.js:1:14)\n    at b (https://example.com/gone.js:1:1)\n", '--explain');
is($r->{out}, <<"END", 'which files were used');
    at readCart (cart.ts:2:3)
    at b (https://example.com/gone.js:1:1)

https://example.com/js/app.js
    script: $dir/dist/js/app.js
    source map: $dir/dist/js/app.js.map

https://example.com/gone.js
    script: none with this path or its end
    source map: none
END

write_file("$dir/secret.js", "function s(){}\n");
write_file("$dir/secret.js.map", '{"version":3,"sources":["s"],"names":[],"mappings":"AAAA"}');
$r = run_text("    at s (https://example.com/../secret.js:1:3)\n    at s (https://a/js/../../secret.js:1:3)\n");
is($r->{out}, "    at s (https://example.com/../secret.js:1:3)\n    at s (https://a/js/../../secret.js:1:3)\n",
    'paths stay in the folder');

$r = run_text("    at a (/js/app.js:0:1)\n    at a (/js/app.js:1:99999999999)\n    at a (/js/app.js:9:9)\n");
is($r->{out}, "    at a (/js/app.js:0:1)\n    at a (/js/app.js:1:99999999999)\n    at a (/js/app.js:9:9)\n",
    'other text is unchanged');

write_file("$dir/trace.txt", "    at a (/js/app.js:1:1)\n");
$r = $t->run('symbolicate', "$dir/trace.txt");
is($r->{code}, 2, 'a folder is needed');
like($r->{err}, qr/needs --symbols/, '... as the error says');

done_testing();

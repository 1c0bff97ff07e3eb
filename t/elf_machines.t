# Other processors than this one: files made by yaml2obj in both classes and
# byte orders, with the peculiarities of each machine's symbols.
# llvm-symbolizer reads the same files.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymElf qw(info symbols symbols_agree yaml error_of output);
use Test::More;

# A linked file: .text of 0x1000 bytes at 0x11000, mapped from 0x10000 on.
sub file {
    my ($name, %o) = @_;

    return yaml($name, <<"END");
--- !ELF
FileHeader:
  Class: $o{class}
  Data: $o{data}
  Type: @{[ $o{type} // 'ET_EXEC' ]}
  Machine: $o{machine}
ProgramHeaders:
  - Type: PT_LOAD
    Flags: [ PF_R, PF_X ]
    VAddr: 0x10000
    MemSize: 0x2000
    FirstSec: .text
    LastSec: .text
Sections:
  - Name: .text
    Type: SHT_PROGBITS
    Flags: [ SHF_ALLOC, SHF_EXECINSTR ]
    Address: 0x11000
    Size: 0x1000
  - Name: .data
    Type: SHT_PROGBITS
    Flags: [ SHF_ALLOC, SHF_WRITE ]
    Address: 0x20000
    Size: 0x100
@{[ $o{sections} // '' ]}
Symbols:
$o{symbols}
END
}

sub symbol {
    my ($name, $value, %o) = @_;
    my $text = "  - Name: '$name'\n    Value: $value\n";

    $text .= "    Section: @{[ $o{section} // '.text' ]}\n" if !$o{index};
    $text .= "    Index: $o{index}\n" if $o{index};
    $text .= "    Type: STT_$o{type}\n" if $o{type};
    $text .= "    Binding: STB_$o{binding}\n" if $o{binding};
    $text .= "    Size: $o{size}\n" if $o{size};
    return $text;
}

sub listed {
    return join(' ', map { sprintf('%x+%x:%s', @{$_}{qw(addr size name)}) }
                symbols($_[0]));
}

# --- names of machines: those of Breakpad's ElfArchitecture() ---

for my $case (['ELFCLASS32', 'ELFDATA2LSB', 'EM_386', 'x86'],
              ['ELFCLASS64', 'ELFDATA2LSB', 'EM_X86_64', 'x86_64'],
              ['ELFCLASS32', 'ELFDATA2MSB', 'EM_ARM', 'arm'],
              ['ELFCLASS64', 'ELFDATA2LSB', 'EM_AARCH64', 'arm64'],
              ['ELFCLASS32', 'ELFDATA2MSB', 'EM_MIPS', 'mips'],
              ['ELFCLASS64', 'ELFDATA2LSB', 'EM_MIPS', 'mips'],
              ['ELFCLASS32', 'ELFDATA2MSB', 'EM_PPC', 'ppc'],
              ['ELFCLASS64', 'ELFDATA2LSB', 'EM_PPC64', 'ppc64'],
              ['ELFCLASS64', 'ELFDATA2MSB', 'EM_S390', 's390'],
              ['ELFCLASS32', 'ELFDATA2MSB', 'EM_SPARC', 'sparc'],
              ['ELFCLASS64', 'ELFDATA2MSB', 'EM_SPARCV9', 'sparcv9'],
              ['ELFCLASS64', 'ELFDATA2LSB', 'EM_RISCV', 'riscv'],
              ['ELFCLASS64', 'ELFDATA2LSB', 'EM_BPF', 'unknown'])
{
    my ($class, $data, $machine, $want) = @$case;
    my $path = file('machine', class => $class, data => $data,
                    machine => $machine,
                    symbols => symbol('f', '0x11000', type => 'FUNC',
                                      size => 16));
    my %got = info($path);

    is("$got{class} $got{order} $got{arch} $got{base}",
       join(' ', $class =~ /(\d+)/, $data =~ /LSB/ ? 'little' : 'big', $want,
            '10000'),
       "$machine $class $data");
    is(listed($path), '1000+10:f', '... and its symbol');
}

# --- which symbols name code ---

my $many = file('many', class => 'ELFCLASS64', data => 'ELFDATA2LSB',
    machine => 'EM_X86_64', symbols => join('',
    symbol('local', '0x11010', type => 'FUNC', size => 16),
    symbol('label', '0x11080'),
    symbol('small', '0x11020', type => 'FUNC', size => 4),
    symbol('sized', '0x11030', type => 'FUNC', size => 8),
    symbol('data_in_text', '0x110c0', type => 'OBJECT', size => 8),
    symbol('section_end', '0x12000'),
    symbol('other_section', '0x20000', type => 'OBJECT', size => 8),
    symbol('data_label', '0x20010'),
    symbol('absolute', '0x11044', index => 'SHN_ABS', type => 'FUNC'),
    symbol('undefined', '0x11048', index => 'SHN_UNDEF', type => 'FUNC'),
    symbol('thread', '0x1104c', type => 'TLS', size => 4),
    symbol('global', '0x11010', type => 'FUNC', size => 16,
           binding => 'GLOBAL'),
    symbol('large', '0x11020', type => 'FUNC', size => 8, binding => 'WEAK'),
    symbol('no_size', '0x11030', type => 'FUNC', binding => 'GLOBAL'),
    symbol('versioned@@V_2', '0x11040', type => 'FUNC', size => 4,
           binding => 'GLOBAL'),
    symbol('ifunc', '0x11050', type => 'GNU_IFUNC', size => 4,
           binding => 'GLOBAL'),
    symbol('below_base', '0x1000', type => 'FUNC', size => 4,
           binding => 'GLOBAL'),
    symbol('last', '0x11ff0', type => 'FUNC', binding => 'GLOBAL')));

is(listed($many), join(' ', '1010+10:global', '1020+8:large', '1030+8:sized',
    '1040+4:versioned', '1050+4:ifunc', '1080+40:label',
    '1ff0+10:last'), 'symbols that name code');
symbols_agree($many, 7, 'several at one address');

# After the end of a function inside another, llvm-symbolizer has no name;
# eu-addr2line continues with the outer one, and so do we.
my $nested = file('nested', class => 'ELFCLASS64', data => 'ELFDATA2LSB',
    machine => 'EM_X86_64', symbols => join('',
    symbol('outer', '0x11060', type => 'FUNC', size => 16),
    symbol('inner', '0x11064', type => 'FUNC', size => 4)));
is(listed($nested), '1060+10:outer 1064+4:inner', 'a function in another');
like(output('eu-addr2line', '-S', '-e', $nested, '0x1106c'), qr/^outer\+0xc$/m,
     '... eu-addr2line continues with the outer one');

# A label in a function with a size is not a function, unlike one after it.
my $labels = file('labels', class => 'ELFCLASS64', data => 'ELFDATA2LSB',
    machine => 'EM_X86_64', symbols => join('',
    symbol('whole', '0x11060', type => 'FUNC', size => 16),
    symbol('inner', '0x11064'), symbol('entry', '0x11068', type => 'FUNC'),
    symbol('after', '0x11070'), symbol('.L0 ', '0x11074'),
    symbol('.Lfunction', '0x11080', type => 'FUNC')));
is(listed($labels), '1060+10:whole 1068+8:entry 1070+10:after '
    . '1080+f80:.Lfunction', 'labels in a function, and of compilers');
like(output('eu-addr2line', '-S', '-e', $labels, '0x11066'), qr/^whole\+0x6$/m,
     '... eu-addr2line ignores them, too');

# --- ARM: the lowest bit means Thumb, $a, $t and $d name nothing ---

for my $data ('ELFDATA2LSB', 'ELFDATA2MSB') {
    my $arm = file('arm', class => 'ELFCLASS32', data => $data,
        machine => 'EM_ARM', symbols => join('',
        symbol('$t', '0x11000'), symbol('$d.1', '0x11020'),
        symbol('$a', '0x11040'),
        symbol('thumb', '0x11001', type => 'FUNC', size => 0x20,
               binding => 'GLOBAL'),
        symbol('thumb_end', '0x11021', type => 'FUNC', binding => 'GLOBAL'),
        symbol('arm', '0x11040', type => 'FUNC', size => 8,
               binding => 'GLOBAL')));

    is(listed($arm), '1000+20:thumb 1020+20:thumb_end 1040+8:arm',
       "ARM $data: neither Thumb bit nor mapping symbols");
    symbols_agree($arm, 3, '... ARM');
}

my $aarch64 = file('aarch64', class => 'ELFCLASS64', data => 'ELFDATA2LSB',
    machine => 'EM_AARCH64', symbols => join('', symbol('$x', '0x11000'),
    symbol('$d', '0x11010'),
    symbol('f', '0x11000', type => 'FUNC', binding => 'GLOBAL')));
is(listed($aarch64), '1000+1000:f', 'arm64: no mapping symbols');

# on other machines such a name is a name
my $dollar = file('dollar', class => 'ELFCLASS64', data => 'ELFDATA2LSB',
    machine => 'EM_X86_64', symbols => symbol('$a', '0x11000'));
is(listed($dollar), '1000+1000:$a', 'x86_64: $a is a label');

my $mips = file('mips', class => 'ELFCLASS32', data => 'ELFDATA2MSB',
    machine => 'EM_MIPS', symbols => symbol('f', '0x11005', type => 'FUNC',
                                            size => 8));
is(listed($mips), '1004+8:f', 'MIPS: the lowest bit means microMIPS');
symbols_agree($mips, 1, '... MIPS');

# --- 64-bit PowerPC: a function's symbol is the address of a descriptor ---

my $ppc64 = file('ppc64', class => 'ELFCLASS64', data => 'ELFDATA2MSB',
    machine => 'EM_PPC64', sections => <<'END', symbols => join('',
  - Name: .opd
    Type: SHT_PROGBITS
    Flags: [ SHF_ALLOC, SHF_WRITE ]
    Address: 0x30000
    Content: "000000000001110000000000000000000000000000000000000000000001120000000000000000000000000000000000"
END
    symbol('one', '0x30000', section => '.opd', type => 'FUNC', size => 0x20,
           binding => 'GLOBAL'),
    symbol('two', '0x30018', section => '.opd', type => 'FUNC', size => 0x10,
           binding => 'GLOBAL')));
is(listed($ppc64), '1100+20:one 1200+10:two', 'ppc64: through .opd');
symbols_agree($ppc64, 2, '... ppc64');

# A debug file has no bytes of .opd, so the addresses of functions are unknown.
# The linker's stub, which has no size, must not name everything after it.
my $ppc64_debug = file('ppc64_debug', class => 'ELFCLASS64',
    data => 'ELFDATA2MSB', machine => 'EM_PPC64', sections => <<'END',
  - Name: .opd
    Type: SHT_NOBITS
    Flags: [ SHF_ALLOC, SHF_WRITE ]
    Address: 0x30000
    Size: 48
END
    symbols => join('',
    symbol('0000001b.plt_call.strtol', '0x11000'),
    symbol('start', '0x11080', size => 8, type => 'FUNC'),
    symbol('one', '0x30000', section => '.opd', type => 'FUNC', size => 0x20,
           binding => 'GLOBAL')));
is(listed($ppc64_debug), '1080+8:start', 'ppc64: .opd is in another file');

# --- a kernel: the first segment is the base, although another is lower ---

my $kernel = yaml('kernel', <<'END');
--- !ELF
FileHeader: { Class: ELFCLASS64, Data: ELFDATA2LSB, Type: ET_EXEC, Machine: EM_X86_64 }
ProgramHeaders:
  - { Type: PT_LOAD, VAddr: 0xffffffff81000000, FirstSec: .text, LastSec: .text }
  - { Type: PT_LOAD, VAddr: 0, FirstSec: .data..percpu, LastSec: .data..percpu }
Sections:
  - { Name: .text, Type: SHT_PROGBITS, Flags: [ SHF_ALLOC, SHF_EXECINSTR ], Address: 0xffffffff81000000, Size: 0x100 }
  - { Name: .data..percpu, Type: SHT_PROGBITS, Flags: [ SHF_ALLOC, SHF_WRITE ], Address: 0, Size: 0x100 }
Symbols:
  - { Name: startup_64, Type: STT_FUNC, Section: .text, Value: 0xffffffff81000010, Size: 16 }
END
my %kernel = info($kernel);
is($kernel{base}, 'ffffffff81000000', 'vmlinux: base');
is(listed($kernel), '10+10:startup_64', '... and its symbols');

# --- refused, with a reason ---

my $module = yaml('module', <<'END');
--- !ELF
FileHeader: { Class: ELFCLASS64, Data: ELFDATA2LSB, Type: ET_REL, Machine: EM_X86_64 }
END
is(error_of($module), 'unsupported: relocatable file (kernel module, object '
   . 'file, or dwz\'s): its addresses are settled when it is loaded or linked (ELF header, '
   . 'byte 16)', 'a kernel module');

done_testing();

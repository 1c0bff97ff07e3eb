# fish completion for symloader(1).  Commands and options come from its own
# help, modules from the store that the command line or the environment names.

function __symloader_commands
    symloader help | string match -rg '^  ([a-z][a-z-]*) +([A-Z].*)' \
        | paste - -
    printf 'help\tPrints help\n'
end

function __symloader_command
    for word in (commandline -opc)[2..]
        if contains -- $word (__symloader_commands | string split -f1 \t)
            echo $word
            return 0
        end
    end
    return 1
end

function __symloader_options
    symloader (__symloader_command | string match -v help) --help \
        | string match -rg '^  (?:-[a-z], )?(--?[a-zA-Z-]+)(?: \S+)*  +(.*)' \
        | paste - -
end

function __symloader_modules
    set -l words (commandline -opc)
    set -l store
    if set -l i (contains -i -- --store $words)
        set store --store $words[(math $i + 1)]
    end
    symloader ls $store (commandline -ct)'*' 2>/dev/null \
        | string match -rg '^ready .*  ([^ ].*)$' | head -n 200
end

complete -c symloader -n 'not __symloader_command; or __symloader_command | string match -q help' \
    -f -a '(__symloader_commands)'
complete -c symloader -n 'string match -q -- "-*" (commandline -ct)' \
    -a '(__symloader_options)'
complete -c symloader -n 'contains -- (__symloader_command) lookup show rm dump ls' \
    -a '(__symloader_modules)'

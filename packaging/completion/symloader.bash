# bash completion for symloader(1).  Commands and options come from its own
# help, modules from the store that the command line or the environment names.

# The store's modules that begin with $1.
_symloader_modules() {
    local i store=()

    for ((i = 1; i < COMP_CWORD; i++)); do
        if [ "${COMP_WORDS[i]}" = --store ]; then
            store=(--store "${COMP_WORDS[i + 1]}")
        fi
    done
    symloader ls "${store[@]}" "$1*" 2>/dev/null \
        | sed -n 's/^ready .*  \([^ ].*\)$/\1/p' | head -n 200
}

_symloader() {
    local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local commands command='' word
    COMPREPLY=()

    commands=$(symloader help \
               | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        if grep -qx -- "$word" <<<"$commands"; then
            command=$word
            break
        fi
    done

    case $previous in
    --store | --symbols | --socket | --state | --ids | --output | -o) return ;; # files
    esac

    if [ "$previous" = help ] || [ -z "$command" ] && [[ $cur != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands help" -- "$cur")
    elif [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(
            compgen -W "$(symloader ${command:+"$command"} --help \
                          | grep -oE '^  (-[a-z], )?--?[a-zA-Z-]+' \
                          | grep -oE -- '--?[a-zA-Z-]+$')" -- "$cur")
    elif [[ $command =~ ^(lookup|show|rm|dump|ls)$ ]]; then
        mapfile -t COMPREPLY < <(_symloader_modules "$cur")
    fi
}

complete -o default -F _symloader symloader

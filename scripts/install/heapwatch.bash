# SPDX-License-Identifier: BSD-3-Clause
# Completion of heapwatch for bash. What there is to complete is read from the programs' own --help, so it cannot be out of date.

# The words that a help text has for its options.
_heapwatch_options() {
        "$@" --help 2>/dev/null | grep -oE '(^|[ ,[])--[a-z][a-z-]*' | tr -d ' ,['
}

_heapwatch_commands() {
        "$1" --help 2>/dev/null | sed -n 's/^  \([a-z]\{1,\}\) \{2,\}.*/\1/p'
}

# Names of targets of one's own daemon.
_heapwatch_targets() {
        timeout 1 "$1" ctl targets 2>/dev/null | sed -n '1!s/^\([A-Za-z0-9._-]\{1,\}\)[ \t].*/\1/p'
}

_heapwatch() {
        local program=$1 word=$2 command=${COMP_WORDS[1]} words=

        COMPREPLY=()
        if [ "$COMP_CWORD" -eq 1 ]; then
                words="$(_heapwatch_commands "$program") --help --version"
        elif [ "${word#-}" != "$word" ]; then
                words=$(_heapwatch_options "$program" "$command")
        else
                case $command:$COMP_CWORD in
                ctl:2) words=$("$program" ctl --help 2>/dev/null | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p') ;;
                rules:2) words='check list test' ;;
                ctl:* | top:* | trend:* | alerts:* | doctor:*) words=$(_heapwatch_targets "$program") ;;
                esac
        fi
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

_heapwatchd() {
        COMPREPLY=()
        if [ "${2#-}" != "$2" ]; then
                mapfile -t COMPREPLY < <(compgen -W "$(_heapwatch_options "$1")" -- "$2")
        fi
}

complete -o default -F _heapwatch heapwatch
complete -o default -F _heapwatchd heapwatchd

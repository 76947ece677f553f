#!/bin/bash
# Help, manual and program say the same: every command answers -h on standard output within 80
# columns, its options are those of its manual page, mistakes go to standard error as one line, and
# README.md has a section for it. usage: help.sh SYMTAPE
# shellcheck disable=SC2317 # functions are called through check
set -u
symtape=$(realpath "$1")
cd "${SYMTAPE_ROOT:-.}" || exit 1
failed=0

check() { # what, then a command
    local what=$1
    shift
    if "$@"; then
        echo "ok - $what"
    else
        echo "not ok - $what"
        failed=1
    fi
}

at_most_80_columns() { ! grep -nE '^.{81}' <<<"$1" >&2; }
equal() {
    [ "$1" = "$2" ] && return
    diff <(echo "$1") <(echo "$2") >&2
    return 1
}

# "-o --output TAPE" of each option, from the help and from a page's OPTIONS.
help_options() { # text, section
    sed -n "/^$2:\$/,/^\$/p" <<<"$1" | sed -E ':next; /\|$/{N; s/\n +//; b next}' |
        sed -nE 's/^  (-.,|   ) (--[a-z0-9-]+)(\[=([^ ]+)\]| ([^ ]+))?(  .*|$)/\1 \2 \4\5/p' |
        sed -E 's/,//; s/^ +//; s/ +$//; s/  */ /g' | sort
}
page_options() { # page, section
    sed -n "/^# $2\$/,/^# /p" "$1" | grep -E '^\*-' |
        sed -E 's/\\//g; s/[*_[]//g; s/\]//g; s/,//; s/(--[a-z0-9-]+)=/\1 /; s/ +$//' | sort
}
words_only() { sed -E 's/[][_=]//g; s/\\//g' <<<"$1"; }

one_error_line() { # expected exit code, words...
    local expected=$1 out err code
    shift
    err=$("$symtape" "$@" 2>&1 >/dev/null </dev/null)
    code=$?
    out=$("$symtape" "$@" 2>/dev/null </dev/null)
    [ "$code" = "$expected" ] && [ -z "$out" ] && [[ $err == "symtape: "* ]] &&
        [ "$(wc -l <<<"$err")" = 1 ] && return
    echo "$*: exit $code, stdout '$out', stderr '$err'" >&2
    return 1
}

overview=$("$symtape" help)
commands=$(sed -n '/^Commands:$/,/^$/p' <<<"$overview" | sed -n 's/^  \([a-z]*\) .*/\1/p')
check "there are commands" [ -n "$commands" ]
check "the overview fits 80 columns" at_most_80_columns "$overview"
check "-h is help" equal "$overview" "$("$symtape" -h)"
check "--help is help" equal "$overview" "$("$symtape" --help)"

for command in $commands; do
    page=man/symtape-$command.1.scd
    text=$("$symtape" "$command" -h 2>/tmp/help.$$)
    check "$command -h is quiet on stderr" [ ! -s /tmp/help.$$ ]
    rm -f /tmp/help.$$
    check "$command -h fits 80 columns" at_most_80_columns "$text"
    check "help $command is the same" equal "$text" "$("$symtape" help "$command")"
    check "$command --help is the same" equal "$text" "$("$symtape" "$command" --help)"
    check "$command has a page" [ -f "$page" ]
    check "$command: options of help and page agree" \
        equal "$(words_only "$(help_options "$text" Options)")" \
        "$(words_only "$(page_options "$page" OPTIONS)")"
    check "$command: the page is installed" grep -q "'symtape-$command.1'" man/meson.build
    check "$command: symtape(1) lists it" grep -q "symtape-$command\*(1)" man/symtape.1.scd
    check "$command: README has a section" grep -qE "^#+ .*\b$command\b" README.md
    check "$command: an unknown option is told" one_error_line 2 "$command" --no-such-option
done
check "common options of help and page agree" \
    equal "$(words_only "$(help_options "$("$symtape" info -h)" 'Common options')")" \
    "$(words_only "$(page_options man/symtape.1.scd 'COMMON OPTIONS')")"

check "no command is a usage error" one_error_line 2
check "an unknown command is told" one_error_line 2 improt
check "a missing operand is told" one_error_line 2 info
check "an operand too many is told" one_error_line 2 version extra
check "a missing file is told" one_error_line 4 info /nonexistent/x.tape

for shell in bash zsh fish; do
    script=$("$symtape" completions "$shell")
    check "completions $shell names every command" \
        test -z "$(for c in $commands; do grep -q "$c" <<<"$script" || echo "$c"; done)"
    if command -v "$shell" >/dev/null; then
        check "completions $shell is good $shell" "$shell" -n <(echo "$script")
    fi
done
exit $failed

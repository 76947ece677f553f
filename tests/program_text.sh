#!/bin/sh
# Text of a file gets into a Python program through minify/program/python_text.h only. In the writers of
# programs (minify/repro/*.c) buf_put() joins texts that were written so, and no format takes a string
# but for messages. profile/ knows no minify/: its writers of lines to paste quote texts with python_put_string()
# and write names that they checked. Prints what is otherwise; SYMTAPE_ROOT is the tree.
cd "${SYMTAPE_ROOT:-.}" || exit 2
paste="profile/calls/dynamic/paste.c profile/calls/tree/guards_filter.c cmd/inputs/regions_python.c"
bad=$(
    # What is joined: buffers that hold program text, lines of it, and names on their way to repro_name().
    grep -n 'buf_put(' minify/repro/*.c | grep -vE \
        -e 'buf_put\([a-z>-]+, (repro_bare\()?buf_str\(&(text|line|names|values|body)\)' \
        -e 'buf_put\(&line, str_from\(buf_str\(&names\), 2\)\)' \
        -e 'buf_put\(w->out, text\.n \? repro_bare' \
        -e 'repro\.c:[0-9]+: *buf_put\(r->out, str_first\(line, n\)\)' \
        -e 'buf_put\(&(names|line), buf_str\(&(names|values)\)\)' \
        -e 'buf_put\(&wish, ' \
        -e 'repro_names\.c:[0-9]+: *buf_put\((out, part|&text, digits|out, e->text)\)' \
        -e 'repro_verify\.c'
    # Formats that take a text: messages, and the buffer of a name.
    awk '/buf_printf\(/ { call = FILENAME ":" FNR; text = "" }
         call { text = text $0 }
         call && /;/ { if (text ~ /%\.\*s|%s[^"]*"[^;]*STR_ARG/) print call ": " text; call = "" }' \
        minify/repro/repro.c minify/repro/repro_[ceinv]*.c | grep -v 'repro_verify\.c'
    grep -n 'json_quote\|json_put' minify/repro/*.c
    # Lines to paste: what put_variable() checked, items that are quoted, and names of arguments.
    grep -nE 'buf_put\(|buf_putc\(|put_without_scope|format_text' $paste | grep -vE \
        -e 'paste\.c:[0-9]+: *buf_put\((out, (name|path)|&p->text, source_text\(p, row\))\)'
    awk '/buf_printf\(/ { call = FILENAME ":" FNR; text = "" }
         call { text = text $0 }
         call && /;/ { if (text ~ /%\.\*s|%s/ && text !~ /STR_ARG\(name\)|pinned \?/) print call ": " text; call = "" }' $paste
)
[ -z "$bad" ] && exit 0
echo "$bad"
echo "a text of a file goes into a program through minify/program/python_text.h, into a line to paste quoted"
exit 1

#!/bin/sh
# usage: embed.sh OUTPUT FILE...
# The recorder's Python files as a C table: name below deep/python, and lines.
output=$1
shift
{
    echo '/* Made by trace/record/embed.sh. */'
    echo '#include "trace/record/deep_install.h"'
    echo 'const struct deep_python_file deep_python_files[] = {'
    for file; do
        printf '    { "%s", (const char *const[]){\n' "${file##*/deep/python/}"
        sed 's/\\/\\\\/g; s/"/\\"/g; s/^/        "/; s/$/\\n",/' "$file"
        echo '        0 } },'
    done
    echo '    { 0, 0 },'
    echo '};'
} >"$output"

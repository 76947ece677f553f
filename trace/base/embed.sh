#!/bin/sh
# usage: embed.sh OUTPUT HEADER STRUCT ARRAY FOLDER FILE...
# Text files as a C table that HEADER declares: struct STRUCT { name, text } ARRAY[], the names from
# FOLDER/ on, ended by NULL. As bytes: a literal may not be that long.
output=$1 header=$2 struct=$3 array=$4 folder=$5
shift 5
{
    echo "/* Made by trace/base/embed.sh. */"
    echo '#include <stddef.h>'
    echo "#include \"$header\""
    i=0
    for file; do
        echo "static const char text_$i[] = {"
        od -An -v -t d1 "$file" | sed 's/\([0-9]\)\( \|$\)/\1,\2/g'
        echo '0 };'
        i=$((i + 1))
    done
    echo "const struct $struct $array[] = {"
    i=0
    for file; do
        echo "    { \"$folder/${file##*"$folder/"}\", text_$i },"
        i=$((i + 1))
    done
    echo '    { NULL, NULL },'
    echo '};'
} >"$output"

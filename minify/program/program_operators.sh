#!/bin/sh
# The base names of aten's operators in the tables that are named, in-place forms ("_" in a row's FORMS)
# included, sorted, as elements of a C array.
awk '
    /"aten::/ {
        name = $0
        sub(/^.*"aten::/, "", name)
        sub(/[^A-Za-z0-9_].*$/, "", name)
        print name
    }
    name != "" && (/", *"_[" ]/ || /^ *"_[" ]/) {
        print name "_"
        name = ""
    }
' "$@" | LC_ALL=C sort -u | sed 's/.*/"&",/'

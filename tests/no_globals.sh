#!/bin/bash
# usage: no_globals.sh LIBRARY...
# Libraries hold no global state: no object of theirs has anything in a writable section. (A
# sanitizer adds counters and redzones of its own, so such builds are skipped.)
set -u
status=0
for library in "$@"; do
    if nm "$library" 2>/dev/null | grep -qE '__(asan|ubsan|sanitizer)_'; then
        echo "skipped: built with a sanitizer"
        exit 77
    fi
    # Constant tables with addresses in them are in .data.rel.ro, which is read-only once loaded.
    found=$(objdump -t "$library" 2>/dev/null |
        awk '/\.o:/ { object = $1 }
             $0 ~ / O (\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ && $0 !~ /\.data\.rel\.ro/ { print object, $NF }')
    [ -z "$found" ] || { echo "$library: global state: $found" >&2; status=1; }
done
exit $status

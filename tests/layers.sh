#!/bin/bash
# Rooms look only downward: every #include "ROOM/..." is held to the table "Rooms" in
# CONTRIBUTING.md, and the rooms that are libraries neither print nor exit.
set -u
cd "${SYMTAPE_ROOT:-.}" || exit 1
status=0

complain() {
    echo "$1" >&2
    status=1
}

# Rows of the table: | room/ | holds | includes | libraries |
allowed() {
    sed -n "s@^| $1/ *|[^|]*| *\([^|]*[^| ]\) *|.*@\1@p" CONTRIBUTING.md
}

rooms=$(sed -n 's@^| \([a-z]*\)/ *|.*@\1@p' CONTRIBUTING.md)
for room in trace replay profile minify cmd tests; do
    grep -qw "$room" <<<"$rooms" || complain "CONTRIBUTING.md: no row for $room/ in the table of rooms"
done

for room in $rooms; do
    row=$(allowed "$room")
    for file in $(find "$room" -name '*.[ch]' -o -name '*.def'); do
        for included in $(sed -n 's@^ *# *include "\([^"]*\)".*@\1@p' "$file"); do
            other=${included%%/*}
            [ "$other" != "$included" ] || complain "$file: \"$included\" does not name its room"
            [ "$other" = "$room" ] || [ "$row" = "all" ] || grep -qw "$other" <<<"$row" ||
                complain "$file: $room/ may not include \"$included\" (only: $row)"
            [ -e "$included" ] || complain "$file: \"$included\" does not exist"
        done
    done
done

# _exit() in the child of a fork() is not exit(), nor is Python's in the text of a repro.
for room in trace replay profile minify; do
    hits=$(grep -nE '\b(printf|puts|putchar|vprintf|perror|exit|abort)[ ]*\(|\b(stdout|stderr)\b' \
        "$room"/*.c "$room"/*/*.c 2>/dev/null | grep -vE '^[^:]*:[0-9]+: *(/\*| \*|//)|sys\.exit')
    [ -z "$hits" ] || complain "a library prints or exits:
$hits"
done
exit $status

#!/bin/bash
# Rooms look only downward. Every #include "ROOM/..." of the sources is held to the tables of rooms:
# that of the top level is in CONTRIBUTING.md, that of a room with sub-rooms in its README.md. A row
# names what its room may include of the rooms and files beside it; a name in parentheses is an
# exception that points upward and is known. What follows "never" in a row are folders whose headers
# no file of the room may reach, by whatever it includes. Rooms that are libraries do not exit, and one
# file prints.
set -u
cd "${SYMTAPE_ROOT:-.}" || exit 1
status=0

complain() {
    echo "$1" >&2
    status=1
}

libraries="trace replay profile prove minify"
top="$libraries cmd tests"

# "FOLDER ROOM INCLUDES" for each row of the tables, in their order.
rows() {
    sed -n 's@^| \([a-z_]*\)/ *|[^|]*| *\([^|]*[^| ]\) *|.*@. \1 \2@p' CONTRIBUTING.md
    find $libraries cmd -name README.md | while read -r file; do
        sed -n "s@^| \([a-z_0-9]*\)/ *|[^|]*| *\([^|]*[^| ]\) *|.*@${file%/README.md} \1 \2@p" "$file"
    done
}

includes() {
    grep -rnoE '^ *# *include "[^"]*"' --include='*.[ch]' --include='*.def' --include='*.cu' $libraries cmd |
        sed 's@^\([^:]*\):[0-9]*: *# *include "\(.*\)"$@\1 \2@'
}

found=$( { rows | sed 's/^/row /'; includes | sed 's/^/include /'; } | awk '
    # Whether words, divided by commas or blanks, hold the word.
    function holds(words, word,   list, n, i) {
        gsub(/[(),]/, " ", words)
        n = split(words, list, " ")
        for (i = 1; i <= n; i++) {
            sub(/\/$/, "", list[i])
            if (list[i] == word || list[i] == "all")
                return 1
        }
        return 0
    }
    $1 == "row" {
        folder = $2; room = $3
        words = $0; sub(/^row [^ ]* [^ ]* /, "", words)
        if (match(words, /,? *never .*/)) {
            never[(folder == "." ? "" : folder "/") room "/"] = substr(words, RSTART)
            words = substr(words, 1, RSTART - 1)
        }
        may[folder, room] = words
        place[folder, room] = ++n_rows[folder]
        order[folder, n_rows[folder]] = room
        next
    }
    {
        file = $2; included = $3
        direct[file] = direct[file] " " included
        na = split(file, a, "/"); nb = split(included, b, "/")
        if (nb == 1) { print file ": \"" included "\" does not name its room"; next }
        folder = ""
        for (k = 1; k < na && k < nb && a[k] == b[k]; k++)
            folder = folder (k > 1 ? "/" : "") a[k]
        if (k == na)
            next # of the same folder, or of a room inside it
        if (folder == "")
            folder = "."
        if (!((folder, a[k]) in may)) {
            if (!((folder, a[k]) in missing))
                print (folder == "." ? "CONTRIBUTING.md" : folder "/README.md") ": no row for " a[k] "/"
            missing[folder, a[k]] = 1
        } else if (!holds(may[folder, a[k]], b[k]))
            print file ": " a[k] "/ may not include \"" included "\" (only: " may[folder, a[k]] ")"
        used[folder, a[k], b[k]] = 1
    }
    # Folders that the room may not reach, among all that the file includes, at any depth.
    function reach(file, root, folders,   list, i, n, forbidden, j, m) {
        if ((root, file) in seen)
            return
        seen[root, file] = 1
        n = split(direct[file], list, " ")
        m = split(folders, forbidden, /[, ]+/)
        for (i = 1; i <= n; i++) {
            for (j = 1; j <= m; j++)
                if (forbidden[j] ~ /\// && index(list[i], forbidden[j] "/") == 1)
                    print root ": reaches \"" list[i] "\" by " file ", which its room may never"
            reach(list[i], root, folders)
        }
    }
    END {
        for (file in direct)
            for (room in never)
                if (index(file, room) == 1)
                    files[++n_files] = file SUBSEP room
        for (i = 1; i <= n_files; i++) {
            split(files[i], pair, SUBSEP)
            reach(pair[1], pair[1], never[pair[2]])
        }
        for (folder in n_rows)
            for (i = 1; i <= n_rows[folder]; i++) {
                room = order[folder, i]
                words = may[folder, room]
                gsub(/\([^)]*\)/, " ", words)
                n = split(words, list, /[, ]+/)
                for (j = 1; j <= n; j++)
                    if ((folder, list[j]) in place && place[folder, list[j]] >= i)
                        print folder "/README.md: " room "/ may not include " list[j] "/, which does not stand above it"
            }
    }')
[ -z "$found" ] || complain "$found"

for room in $top; do
    grep -q "^| $room/ *|" CONTRIBUTING.md || complain "CONTRIBUTING.md: no row for $room/ in the table of rooms"
done
while read -r file included; do
    [ -e "$included" ] || complain "$file: \"$included\" does not exist"
done < <(includes | sort -u -k2,2)

# What is printed leaves through cmd/cli/out.c, which shows control characters of files as escapes. A row
# names a file and what of the process's output it may name, as a pattern.
prints='\b(v?f?printf|v?dprintf|f?puts|f?putc|putchar|perror|psignal|fwrite|f?puts_unlocked|putc(har)?_unlocked)[ ]*\(|\b(stdout|stderr)\b|\bSTD(OUT|ERR)_FILENO\b|\bwrite[ ]*\([ ]*[12][ ]*,'
may_print='
cmd/cli/out.c             .
cmd/main.c                out_init\((&)?out, stdout, stderr, 
trace/base/file/output.c  output->fd = STDOUT_FILENO
minify/process/child.c    STD(OUT|ERR)_FILENO, NULL, 0, output
minify/process/capture.c  STD(OUT|ERR)_FILENO, NULL, 0, (out|said)
minify/remote/launcher.c  STD(OUT|ERR)_FILENO, NULL, 0, (out|said)
cmd/query/cmd_query.c     write\(STDERR_FILENO, text, sizeof text - 1
cmd/cmd_worker.c          worker_serve\(STDIN_FILENO, STDOUT_FILENO, 
replay/backend/cuda/runtime/compile_worker.c STD(OUT|ERR)_FILENO, "/dev/null", O_WRONLY
minify/process/torch_worker.c STD(OUT|ERR)_FILENO, "/dev/null", O_WRONLY
'
hits=$(grep -rnE --include='*.[ch]' "$prints" $libraries cmd | grep -vE '^[^:]*:[0-9]+:[^"]*(/\*| \* |//)')
while read -r file allowed; do
    [ -z "$file" ] || hits=$(echo "$hits" | grep -vE "^$file:[0-9]+:.*${allowed}")
done <<<"$may_print"
[ -z "$hits" ] || complain "prints, but not through cmd/cli/out.h:
$hits"

# _exit() in the child of a fork() is not exit(), nor is Python's in the text of a repro.
hits=$(grep -rnE --include='*.c' '\b(exit|abort)[ ]*\(' $libraries |
    grep -vE '^[^:]*:[0-9]+: *(/\*| \*|//)|sys\.exit')
[ -z "$hits" ] || complain "a library exits:
$hits"
exit $status

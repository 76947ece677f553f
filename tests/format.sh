#!/bin/bash
# C sources are as clang-format 14 writes them (.clang-format); other versions differ. `--fix` rewrites them.
set -u
cd "${SYMTAPE_ROOT:-.}" || exit 1
tool=
for name in clang-format-14 clang-format; do
    "$name" --version 2>/dev/null | grep -q 'version 14\.' && tool=$name && break
done
[ -n "$tool" ] || { echo "skipped: no clang-format 14"; exit 77; }
sources() {
    find trace replay profile prove minify cmd tests -path tests/fuzz/corpus -prune -o -name '*.[ch]' -print0
}
if [ "${1:-}" = --fix ]; then
    sources | xargs -0 -n 100 -P 2 "$tool" -i
    exit
fi
bad=$(sources | xargs -0 -n 100 -P 2 "$tool" --dry-run -Werror 2>&1 | grep -oE '^[^: ]+:[0-9]+' | sort -u)
[ -z "$bad" ] && exit 0
echo "$bad"
echo "not as clang-format writes it: tests/format.sh --fix"
exit 1

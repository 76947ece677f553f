#!/bin/sh
# exports.sh SYMTAPE [BACKEND [SIZE...]]: the programs of ../shared/exports, run on the CPU (or BACKEND)
# at three sizes (or those of 0 1 2), agree with what eager PyTorch computed. Skipped (77) where the
# folder is absent.
symtape=$(realpath "$1") || exit 4
backend=${2:-cpu}
shift; [ $# = 0 ] || shift
sizes=${*:-0 1 2}
shared=${SYMTAPE_SHARED:-${SYMTAPE_ROOT:-.}/../shared}
[ -d "$shared/exports" ] || { echo "skipped: no $shared/exports"; exit 77; }
cd "$shared/exports" || exit 4
failed=0 runs=0
for values in *.values.safetensors; do
    name=${values%.values.safetensors}
    for program in "$name.pt2" "$name.core.pt2"; do
        [ -f "$program" ] || continue
        for size in $sizes; do
            runs=$((runs + 1))
            if ! out=$("$symtape" run --backend "$backend" "$program" --inputs "$values" \
                --input-prefix "in.$size." --compare-with "$values" --compare-prefix "out.$size." 2>&1)
            then
                failed=$((failed + 1))
                echo "$program, size $size: $out"
            fi
        done
    done
done
echo "$((runs - failed)) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ] && [ "$runs" -gt 0 ]

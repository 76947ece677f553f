#!/bin/bash
# backend.sh SYMTAPE SHARED [LOG...]: the CUDA backend on a machine with a GPU; prints a table in markdown.
#
# The programs of SHARED/exports at three sizes beside what eager PyTorch computed; each graph that
# AOTAutograd made in the LOGs (SHARED/traces/*.aot_eager.log.zst unless given) beside the CPU backend, a
# minute each; where the time of the forward graphs goes; compute-sanitizer, where it is installed.
set -u
symtape=$(realpath "$1") shared=$(realpath "$2")
shift 2
[ $# -gt 0 ] || set -- "$shared"/traces/*.aot_eager.log.zst
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "# The CUDA backend, $(date +%F)"
echo
"$symtape" --version
"$symtape" info --backends | sed -n '/^cuda/,/^[a-z]/p' | sed '$d;s/^/    /'

echo
echo "| program | sizes that agree with eager PyTorch | of |"
echo "|---|---|---|"
for values in "$shared"/exports/*.values.safetensors; do
    name=${values%.values.safetensors}
    for program in "$name.pt2" "$name.core.pt2"; do
        agree=0
        for size in 0 1 2; do
            timeout 60 "$symtape" replay --backend cuda "$program" --inputs "$values" \
                --input-prefix "in.$size." --against "$values" --against-prefix "out.$size." \
                >"$work/out" 2>&1 && agree=$((agree + 1))
        done
        echo "| $(basename "$program") | $agree | 3 |"
    done
done

echo
echo "| log | exit code | outputs that agree with the CPU backend | first that does not |"
echo "|---|---|---|---|"
for log in "$@"; do
    timeout 60 "$symtape" replay --backend cuda --against cpu "$log" >"$work/out" 2>&1
    code=$?
    [ $code != 124 ] || code="more than 60 s"
    echo "| $(basename "$log" .log.zst) | $code | $(grep -c ' agree' "$work/out") |" \
        "$(grep -m1 -E ' differ;|^symtape:' "$work/out" | cut -c1-150) |"
done

for log in "$@"; do
    echo
    echo "## $(basename "$log" .log.zst)"
    echo
    timeout 60 "$symtape" replay --backend cuda --profile --runs 5 "$log" 2>&1 | head -12 | cut -c1-140 |
        sed 's/^/    /'
done

if command -v compute-sanitizer >/dev/null; then
    echo
    for program in test_resnet bert unet; do
        echo "compute-sanitizer, $program.core.pt2:" \
            "$(timeout 120 compute-sanitizer "$symtape" replay --backend cuda \
                "$shared/exports/$program.core.pt2" 2>&1 | grep 'ERROR SUMMARY')"
    done
fi

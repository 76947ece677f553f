#!/bin/bash
# backend.sh [options] SYMTAPE SHARED [PART...]: the CUDA backend on a machine with a GPU, as tables in markdown.
#
# Parts, in this order; all of them unless named. Each has its share of the time; what it left out is told at its end.
#
#   exports      the programs of SHARED/exports at three sizes beside what eager PyTorch computed
#   experiments  what CUDA's graphs, events, memory and cuBLASLt's nodes cost here (experiments.c)
#   peers        wall times beside PyTorch's, eager and compiled once for all sizes (peers.py)
#   tf32         the same for --tf32-logs where products may round to TF32
#   profile      where the time of each graph goes
#   graphs       each graph that AOTAutograd made in the logs, at several sizes, beside the CPU backend, node by node
#   sanitizer    compute-sanitizer: memcheck over programs and graphs, racecheck, initcheck and synccheck over a few
#
# Options:
#   --seconds N        for all of it (540)
#   --logs A,B         names in SHARED/traces: A is A.aot_eager.log.zst (those of the named models)
#   --peers-logs A,B   logs of the part peers (as --logs without the large ones)
#   --tf32-logs A,B    (resnet18.eval,bert.eval)
#   --sizes N          sizes of a graph in peers and graphs (3)
#   --jobs N           comparisons beside each other (half the processors)
#   --python PYTHON    one that has PyTorch (python3)
#   --experiments P    the program (beside SYMTAPE's folder: ../tests/device/experiments)
#   --commit ID        of symtape, for the head (git's, where there is one)
set -u
here=$(dirname "$(realpath "$0")")
seconds=540 sizes=3 jobs=$(($(nproc) / 2)) python=python3 experiments= commit=
[ "$jobs" -ge 1 ] || jobs=1
small=resnet18.eval,bert.eval,gpt2.eval,llama.eval,unet.eval,gin.eval,moe.eval,jagged.eval
small=$small,resnet18.train,unet.train,gin.train,moe.train,jagged.train,bert.train,gpt2.train
logs=$small,t5.eval,hrnet_w18.eval,t5.train,hrnet_w18.train
peers_logs=$small tf32_logs=resnet18.eval,bert.eval
while [ $# -gt 0 ]; do
    case $1 in
    --seconds) seconds=$2 ;;
    --logs) logs=$2 ;;
    --peers-logs) peers_logs=$2 ;;
    --tf32-logs) tf32_logs=$2 ;;
    --sizes) sizes=$2 ;;
    --jobs) jobs=$2 ;;
    --python) python=$2 ;;
    --experiments) experiments=$(realpath "$2") ;;
    --commit) commit=$2 ;;
    -*) echo "backend.sh: no option $1" >&2; exit 2 ;;
    *) break ;;
    esac
    shift $(($# > 1 ? 2 : 1))
done
[ $# -ge 2 ] || { sed -n '2,25s/^# \{0,1\}//p' "$0" >&2; exit 2; }
symtape=$(realpath "$1") shared=$(realpath "$2")
shift 2
all="exports experiments peers tf32 profile graphs sanitizer"
for part in "$@"; do
    case " $all " in
    *" $part "*) ;;
    *) echo "backend.sh: no part $part; there are $all" >&2; exit 2 ;;
    esac
done
parts=${*:-$all}
experiments=${experiments:-$(dirname "$symtape")/../tests/device/experiments}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SECONDS=0

# ---- Time ----

# What a part gets of the whole, if all run, in percent; those that are left out leave theirs to the others.
share() {
    case $1 in
    exports) echo 8 ;; experiments) echo 7 ;; peers) echo 38 ;; tf32) echo 9 ;;
    profile) echo 8 ;; graphs) echo 18 ;; sanitizer) echo 12 ;;
    esac
}

# The part may go on until $until; what it does not come to is counted in $left_out.
begin() {
    local sum=0 part found=
    for part in $all; do
        [ "$part" != "$1" ] || found=1
        [ -z "$found" ] || case " $parts " in *" $part "*) sum=$((sum + $(share "$part"))) ;; esac
    done
    until=$((SECONDS + (seconds - SECONDS) * $(share "$1") / sum))
    : >"$work/left_out"
    printf '\n## %s\n\n' "$2"
}

left() { echo $((until - SECONDS > 0 ? until - SECONDS : 0)); }
time_for() {
    [ "$(left)" -ge 2 ] && return
    echo "$1" >>"$work/left_out"
    return 1
}
end() {
    [ ! -s "$work/left_out" ] || printf '\nLeft out, no time: %s.\n' "$(sort -u "$work/left_out" | paste -sd ' ')"
}

# log NAME: its path, if it is there.
log_of() {
    local path=$shared/traces/$1.aot_eager.log.zst
    [ -e "$path" ] && echo "$path"
}
logs_of() {
    local name
    for name in ${1//,/ }; do log_of "$name"; done
}
short() { sed 's,.*/\([^/:]*\.\),\1,; s/\.aot_eager\.log\.zst//' <<<"$1"; } # a program, or LOG:GRAPH

# ---- Parts ----

head_lines() {
    [ -n "$commit" ] || commit=$(git -C "$here" rev-parse --short HEAD 2>/dev/null)
    echo "# The CUDA backend, $(date +%F)"
    echo
    echo "- $("$symtape" --version | head -1)${commit:+, commit $commit}"
    nvidia-smi --query-gpu=name,driver_version,clocks.max.sm --format=csv,noheader 2>/dev/null | sed 's/^/- /'
    "$python" -c 'import torch; print("- PyTorch", torch.__version__, "CUDA", torch.version.cuda)' 2>/dev/null
    echo "- $(nproc) processors; parts: $parts"
    echo
    "$symtape" info --backends | sed -n '/^cuda/,/^[a-z]/p' | sed '$d;s/^/    /'
}

exports() {
    local values name program size agree
    begin exports "Exported programs beside eager PyTorch's values"
    echo "| program | sizes that agree | of | first that does not |"
    echo "|---|---|---|---|"
    for values in "$shared"/exports/*.values.safetensors; do
        name=${values%.values.safetensors}
        for program in "$name.pt2" "$name.core.pt2"; do
            agree=0 why=
            for size in 0 1 2; do
                time_for "$(basename "$program"):$size" || continue
                if timeout 60 "$symtape" run --backend cuda "$program" --inputs "$values" --input-prefix "in.$size." \
                    --compare-with "$values" --compare-prefix "out.$size." >"$work/out" 2>&1; then
                    agree=$((agree + 1))
                else
                    why=${why:-$(grep -m1 -E ' differ;|^symtape:' "$work/out" | cut -c1-150)}
                fi
            done
            echo "| $(basename "$program") | $agree | 3 | $why |"
        done
    done
    end
}

experiments() {
    begin experiments "Experiments"
    if [ -x "$experiments" ]; then
        timeout "$(left)" "$experiments" 2>&1 | sed '1d;s/^## /### /'
        [ "${PIPESTATUS[0]}" != 124 ] || printf '\nThere was no time for more.\n'
    else
        echo "There is no $experiments."
    fi
}

run_peers() { # LOGS OPTION...
    local files
    mapfile -t files < <(logs_of "$1")
    shift
    timeout $(($(left) + 20)) "$python" "$here/peers.py" "$symtape" "${files[@]}" --sizes "$sizes" \
        --seconds "$(left)" "$@" 2>"$work/err" || grep -E "^peers.py|Error" "$work/err" | tail -3
}
peers() {
    begin peers "Beside PyTorch"
    run_peers "$peers_logs"
}
tf32() {
    begin tf32 "Beside PyTorch, with TF32"
    run_peers "$tf32_logs" --tf32
}

# list LOGS FILE: "NUMBER SELECTOR SIZES" a line, 0 being the recorded sizes; those first.
list() {
    local files
    mapfile -t files < <(logs_of "$1")
    timeout "$(left)" "$python" "$here/peers.py" "$symtape" "${files[@]}" --sizes "$sizes" --list 2>"$work/err" |
        sort -s -n -k1,1 >"$2"
    cat "$work/err"
}

profile() {
    local number selector at
    begin profile "Where the time goes"
    list "$logs" "$work/list"
    while read -r number selector at; do
        [ "$number" = 0 ] || continue
        time_for "$(short "${selector%%:*}")" || continue
        printf '### %s %s\n\n' "$(short "${selector%%:*}")" "${selector#*:}"
        timeout "$(left)" "$symtape" run --backend cuda --profile --runs 5 "$selector" --sizes "$at" 2>&1 |
            sed '/memory at its peak/,$d' | head -12 | cut -c1-140 | sed 's/^/    /'
        echo
    done <"$work/list"
    end
}

compare() { # SELECTOR SIZES FILE
    local code row
    timeout "$(left)" "$symtape" run --backend cuda --compare-with cpu --nodes "$1" --sizes "$2" >"$3.out" 2>&1
    code=$?
    [ $code != 124 ] || code="no time"
    row=$(grep -m1 'first bad node' "$3.out" | sed 's/^ *first bad node: //; s/ at .*, whose inputs agree//' | cut -c1-260)
    row=${row:-$(grep -m1 -E ' differ;|^symtape:' "$3.out" | cut -c1-150)}
    echo "| $(short "${1%%:*}") ${1#*:} | ${2//,/ } | $code | $(grep -cE '^ +out\..* agree' "$3.out") |" \
        "$(sed -n 's/^ *nodes: //p' "$3.out") | ${row//|/\\|} |" >"$3"
}
graphs() {
    local n=0 selector at
    begin graphs "Recorded graphs beside the CPU backend"
    list "$logs" "$work/list"
    echo "| graph | sizes | exit code | outputs that agree | nodes | first that does not |"
    echo "|---|---|---|---|---|---|"
    while read -r _ selector at; do
        n=$((n + 1))
        time_for "$(short "${selector%%:*}")" || continue
        compare "$selector" "$at" "$work/row.$(printf %04d $n)" &
        while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    done <"$work/list"
    wait
    cat "$work"/row.???? 2>/dev/null
    end
}

sanitize() { # FILE TOOL PROGRAM...
    local file=$1 tool=$2
    shift 2
    timeout "$(left)" compute-sanitizer --tool "$tool" "$symtape" run --backend cuda "$@" >"$file.out" 2>&1
    [ $? != 124 ] || echo "no time" >>"$file.out"
    echo "| $tool | $(short "$1") | $(grep -E 'SUMMARY|^no time' "$file.out" | sed 's/^=* *//' | tail -1) |" \
        "$(grep -m1 -E '^========= +(Invalid|Race|Error:|Warning:|Uninit|Barrier)' "$file.out" | cut -c1-120) |" >"$file"
}
sanitizer() {
    local n=0 tool what
    begin sanitizer "compute-sanitizer"
    command -v compute-sanitizer >/dev/null || { echo "It is not installed."; return; }
    echo "| tool | program or graph | summary | first |"
    echo "|---|---|---|---|"
    while read -r tool what; do
        n=$((n + 1))
        [ -e "${what%%:*}" ] || continue
        time_for "$tool:$(short "$what")" || continue
        sanitize "$work/san.$(printf %04d $n)" "$tool" "$what" &
        while [ "$(jobs -rp | wc -l)" -ge 4 ]; do wait -n; done
    done <<END
memcheck $shared/exports/select.core.pt2
racecheck $shared/exports/mlp.core.pt2
memcheck $shared/exports/mlp.core.pt2
memcheck $shared/exports/moe.core.pt2
memcheck $shared/traces/moe.train.aot_eager.log.zst:0/0
memcheck $shared/traces/jagged.train.aot_eager.log.zst:0/0
memcheck $shared/traces/gin.train.aot_eager.log.zst:0/0
synccheck $shared/exports/mlp.core.pt2
initcheck $shared/exports/mlp.core.pt2
racecheck $shared/traces/unet.train.aot_eager.log.zst:0/0
memcheck $shared/traces/unet.train.aot_eager.log.zst:0/0
memcheck $shared/exports/unet.core.pt2
memcheck $shared/exports/test_resnet.core.pt2
memcheck $shared/exports/bert.core.pt2
memcheck $shared/exports/t5.core.pt2
racecheck $shared/traces/gin.train.aot_eager.log.zst:0/0
END
    wait
    cat "$work"/san.???? 2>/dev/null
    end
}

head_lines
for part in $all; do
    case " $parts " in *" $part "*) "$part" ;; esac
done
printf '\nAll of it took %d s.\n' "$SECONDS"

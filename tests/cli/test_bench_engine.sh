#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench_engine.sh with a program that prints what dsocr_profile prints: figures that are known, and runs that must not pass.
set -u
cd "$TMPDIR" || exit 99
bench=$LLMPERF_SOURCE/tests/bench/bench_engine.sh

cat >engine <<'EOF'
#!/usr/bin/env bash
tier=deep graphs=0
while [ $# -gt 0 ]; do
    case $1 in --tier) tier=$2 && shift ;; --graphs) graphs=1 ;; esac
    shift
done
if [ -n "${NO_GPU:-}" ]; then
    echo "dsocr_profile: no GPU to run on: no device" >&2
    exit 3
fi
case $tier in none) ms=1.0000 ;; regions) ms=1.0100 ;; light) ms=1.0050 ;; deep) ms=1.1000 ;; esac
printf '\nDecode step: %s ms mean, 0.9000 ms median, 1.2000 ms p99, of 512.\n\n' $ms
case $tier in
deep) echo "ledger: ${DEEP:-complete}, $((1000 + graphs * ${MORE:-0})) kernels seen, 1000 attributed, 200 in a decode step" ;;
light) echo "ledger: ${LIGHT:-sampled}, 100 kernels seen, 100 attributed, 5.25 % of the work collected" ;;
regions) echo "ledger: no_device, 0 kernels seen, 0 attributed" ;;
esac
EOF
chmod +x engine

bench() { # CODE [ROUNDS]
    bash "$bench" ./engine "${2:-1}" >out 2>&1
    local got=$?
    [ "$got" = "$1" ] || { echo "exit code $got, not $1"; cat out; exit 1; }
}
has() { grep -qF -- "$1" out || { echo "lacks: $1"; cat out; exit 1; }; }

bench 0 2
has "deepseek_ocr eager deep    mean   1100.00 us (+10.00 %)  median    900.00 us ( +0.00 %)  complete"
has "attribution: 500.0 ns for each of 200 kernels of a step, 0.0500 % of the step; regions 10.00 us, records and attribution 90.00 us"
has "| DeepSeek-OCR, decode step, graph, light | 1005.0 us, +0.50 %, sampled, collected 5.25 % | none 1000.0 us, 200 kernels | <= 1 % | yes |"
export DEEP=incomplete; bench 1; unset DEEP
has "verdicts of deep and light, eager and graph, are incomplete,incomplete,sampled,sampled"
export LIGHT=incomplete; bench 1; unset LIGHT
export MORE=-1; bench 1; unset MORE
has "do not see the same number of kernels: 1000,999"
export NO_GPU=1; bench 77

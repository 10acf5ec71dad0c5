#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench_engine.py with a program that prints what dsocr_profile prints: figures that are known, and runs that must not pass.
set -u
cd "$TMPDIR" || exit 99
bench=$LLMPERF_SOURCE/tests/bench/bench_engine.py

cat >engine <<'EOF'
#!/usr/bin/env bash
tier=deep graphs=0 repeats=0
while [ $# -gt 0 ]; do
    case $1 in --tier) tier=$2 && shift ;; --graphs) graphs=1 ;; --repeats) repeats=$2 && shift ;; esac
    shift
done
if [ -n "${NO_GPU:-}" ]; then
    echo "dsocr_profile: no GPU to run on: no device" >&2
    exit 3
fi
case $tier in none) us=1000 ;; regions) us=1010 ;; light) us=1005 ;; deep) us=1100 ;; esac
[ "${LLMPERF_CUPTI_PATH:-}" != other ] || us=1200
if [ -n "${CUDA_INJECTION64_PATH:-}" ]; then
    us=1095
    [ "$CUDA_INJECTION64_PATH" != "$PWD/bare.so" ] || echo "bare: ${BARE:-ok}" >&2
fi
[ "${DIES:-}" != $tier ] || exit 3
echo ready
for ((i = 0; i < repeats; i++)); do
    read -r || exit 3
    echo "turn: $us.000 us mean, 900.000 us median"
done
case $tier in
deep) echo "ledger: ${DEEP:-complete}, $((1000 + graphs * ${MORE:-0})) kernels seen, 1000 attributed, 200 in a decode step" ;;
light) echo "ledger: ${LIGHT:-sampled}, 100 kernels seen, 100 attributed, 5.25 % of the work collected" ;;
regions) echo "ledger: no_device, 0 kernels seen, 0 attributed" ;;
esac
EOF
chmod +x engine

bench() { # CODE [OPTION...]
    python3 "$bench" ./engine --bare bare.so --cycles 4 "${@:2}" >out 2>&1
    local got=$?
    [ "$got" = "$1" ] || { echo "exit code $got, not $1"; cat out; exit 1; }
}
has() { grep -qF -- "$1" out || { echo "lacks: $1"; cat out; exit 1; }; }

bench 0
has "deepseek_ocr eager deep     mean   1100.00 us  +10.00 % [+10.00, +10.00]  of the sums +10.00 %  median step    900.00 us   +0.00 %"
has "deepseek_ocr eager attribution: 500.0 ns for each of 200 kernels of a step"
has "| DeepSeek-OCR, decode step, graph, light | 1005.0 us, +0.50 % [+0.50, +0.50], sampled, collected 5.25 % | none 1000.0 us, 200 kernels | <= 1 % | yes |"
has "deepseek_ocr graph none     mean   1000.00 us   +0.00 % [+0.00, +0.00]"
has "| Llama 3 8B, 8 of 32 layers, decode step, eager, deep | 1100.0 us, +10.00 % [+10.00, +10.00], complete | none 1000.0 us, 200 kernels | <= 10.5 % | yes |"
bench 0 --modes none,light,light@LLMPERF_CUPTI_PATH=other --workloads llama_3_8b --launched graph
has "| Llama 3 8B, 8 of 32 layers, decode step, graph, light@LLMPERF_CUPTI_PATH=other | 1200.0 us, +20.00 %"
export DEEP=incomplete; bench 1; unset DEEP
has "deepseek_ocr: the verdict of deep is incomplete, not complete"
export LIGHT=incomplete; bench 1; unset LIGHT
has "llama_3_8b: the verdict of light is incomplete, not sampled"
export BARE=no_records; bench 1; unset BARE
has "deepseek_ocr: the verdict of bare is no_records, not ok"
export MORE=-1; bench 1; unset MORE
has "do not see the same number of kernels: 1000, 999"
export DIES=light; bench 1; unset DIES
export NO_GPU=1; bench 77

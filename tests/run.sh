#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs every test that needs no GPU. Last lines: what was skipped and why, and
# "N passed, N failed, N skipped".
#
#   tests/run.sh                  all configurations; bare replaces nocuda, which runs only if bare is skipped
#   tests/run.sh gcc asan ...     only these: gcc release asan tsan nocuda bare lint
set -u
export LC_ALL=C
unset "${!LLMPERF_@}" # what the user has set must not change what is tested
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
builds=$root/build-tests
cd "$root" || exit 1
. tests/packages.sh

clang_links() { # with the runtime of a sanitizer
    echo 'int main(void) { return 0; }' | clang -fsanitize="$1" -x c - -o /dev/null
}
has_jsonschema() { # apt cannot give it to another python3 that comes first in PATH; the test skips itself there
    python3 -c 'import jsonschema' || { command -v python3 && [ "$(command -v python3)" != /usr/bin/python3 ]; }
}

need_to_build
need g++ command -v g++
need binutils command -v readelf
need libcap2-bin test -x /sbin/setcap
need clang command -v clang
need libclang-rt-dev clang_links address
need llvm command -v llvm-symbolizer
need libcmocka-dev pkg-config --exists cmocka
need python3-jsonschema has_jsonschema
need nodejs command -v node
need mypy command -v mypy
need locales test -d /usr/share/i18n/charmaps
need abigail-tools command -v abidiff
need clang-format command -v clang-format
need clang-tidy command -v clang-tidy
need shellcheck command -v shellcheck
install_packages || exit 1

# The kernel's default of 32 random bits in mmap addresses is more than ThreadSanitizer of clang 14 and gcc 12 can map.
fixed_addresses=()
setarch -R true 2>/dev/null && fixed_addresses=(setarch -R)

passed=0
failed=0
skipped=0
reasons=() # for what was skipped

fail() { # what, log
    failed=$((failed + 1))
    echo "FAILED: $1"
    tail -n 60 "$2"
}

# build NAME COMPILER [meson option...]
build() {
    local name=$1 compiler=$2 log=$builds/$1.log
    shift 2
    # A build folder of another configuration, or of a tree elsewhere, is made anew.
    if ! CC=$compiler meson setup "$builds/$name" --reconfigure --werror "$@" >"$log" 2>&1; then
        rm -rf "${builds:?}/$name"
        CC=$compiler meson setup "$builds/$name" --werror "$@" >"$log" 2>&1 || { fail "$name: setup" "$log"; return 1; }
    fi
    ninja -C "$builds/$name" >>"$log" 2>&1 || { fail "$name: build" "$log"; return 1; }
    echo "$name: built in ${SECONDS} s"
}

# run NAME [meson test option...]
run() {
    local name=$1 log=$builds/$1.log counts line
    shift
    rm -f "$builds/$name"/meson-logs/testlog*
    meson test -C "$builds/$name" --no-rebuild --no-suite gpu --print-errorlogs "$@" >"$log" 2>&1 || tail -n 200 "$log"
    if ! counts=$(python3 tests/count_cases.py "$builds/$name"/meson-logs/testlog*.json 2>>"$log"); then
        fail "$name: no test log" "$log"
        return
    fi
    # shellcheck disable=SC2086 # three numbers
    set -- $counts
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
    echo "$name: $1 passed, $2 failed, $3 skipped (${SECONDS} s)"
    while IFS= read -r line; do
        reasons+=("$name: $line")
    done < <(python3 tests/count_cases.py --skipped "$builds/$name"/meson-logs/testlog*.json)
}

# Sanitizers want undefined symbols in a shared library; the program brings the runtime.
sanitize() { # NAME SANITIZERS
    build "$1" clang -Db_sanitize="$2" -Db_lundef=false -Dexamples=disabled -Dbench=disabled
}

# Lints the files that the gcc build compiles, or those of a build that is set up for it.
lint() {
    local log=$builds/lint.log from=$builds/gcc
    if [ ! -e "$from/compile_commands.json" ]; then
        from=$builds/lint
        CC=gcc meson setup "$from" --reconfigure -Dbench=disabled >"$log" 2>&1 || CC=gcc meson setup "$from" -Dbench=disabled >"$log" 2>&1 ||
            { fail "lint: setup" "$log"; return; }
    fi
    bash tests/lint.sh "$from" >"$log" 2>&1
    case $? in
    0) passed=$((passed + 1)) && echo "lint: fine (${SECONDS} s)" ;;
    77) skipped=$((skipped + 1)) && reasons+=("lint: $(tail -n 1 "$log")") ;;
    *) fail lint "$log" ;;
    esac
}

# A Debian with nothing installed, no CUDA headers either. Its tests are added to the counts. If it cannot be made, nocuda runs instead.
bare() {
    local log=$builds/bare.log line status
    timeout 1500 bash tests/bare_debian.sh gcc >"$log" 2>&1 # half of it is plenty
    status=$?
    if [ $status -eq 77 ]; then
        skipped=$((skipped + 1))
        reasons+=("bare: $(tail -n 1 "$log" | sed 's/^skipped: //'); nocuda ran instead")
        configuration nocuda
        return
    fi
    if ! line=$(grep -xE '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' "$log") || [ $status -ne 0 ]; then
        fail "bare (the whole log: $log)" "$log"
        return
    fi
    # shellcheck disable=SC2086 # N passed, N failed, N skipped
    set -- $line
    passed=$((passed + $1)) skipped=$((skipped + $5))
    echo "bare: $line (${SECONDS} s)"
    while IFS= read -r line; do
        reasons+=("bare: ${line#skipped in }")
    done < <(grep '^skipped in ' "$log")
}

configuration() {
    case $1 in
    gcc) build gcc gcc && run gcc ;;
    # As distributions build it; asan and tsan have clang's warnings.
    release)
        build release gcc --buildtype=release -Db_lto=true -Dexamples=disabled -Dbench=disabled &&
            run release --suite unit --suite flow
        ;;
    lint) lint ;;
    nocuda) build nocuda gcc -Dcuda=disabled -Dbench=disabled && run nocuda --suite unit --suite flow ;;
    bare) bare ;;
    asan)
        sanitize asan address,undefined &&
            ASAN_OPTIONS=detect_leaks=1:halt_on_error=1:detect_stack_use_after_return=1 \
                UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 run asan -t 3
        ;;
    tsan)
        sanitize tsan thread &&
            TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 \
                run tsan -t 5 ${fixed_addresses:+--wrapper "${fixed_addresses[*]}"} --suite unit --suite flow
        ;;
    *)
        echo "no configuration '$1'; there are: gcc release asan tsan nocuda bare lint" >&2
        exit 2
        ;;
    esac
}

mkdir -p "$builds"
SECONDS=0
[ $# -gt 0 ] || set -- gcc release asan tsan bare lint
for name; do
    configuration "$name"
done
[ ${#reasons[@]} -eq 0 ] || printf 'skipped in %s\n' "${reasons[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # tests use the variables
# What the command-line tests share. Each test says what it expects in a line; a line that does not hold ends the test.
# They need LLMPERF (the program), LLMPERF_TEST_DATA, and TMPDIR, an empty folder of their own.
set -u
cd "$TMPDIR" || exit 99
recordings=$LLMPERF_TEST_DATA/recordings
unset LLMPERF_OUT LLMPERF_TIER LLMPERF_LOG LLMPERF_OPEN_CHANGED

die() {
    echo "FAILED: $*"
    echo "--- stdout"; head -n 40 out
    echo "--- stderr"; head -n 40 err
    exit 1
}

# expect CODE ARGUMENT...: runs llmperf, output in the files out and err
expect() {
    local code=$1
    shift
    "$LLMPERF" "$@" >out 2>err
    local got=$?
    [ "$got" = "$code" ] || die "llmperf $*: exit code $got, not $code"
}

stdout_has() { grep -qF -- "$1" out || die "standard output lacks: $1"; }
stderr_has() { grep -qF -- "$1" err || die "standard error lacks: $1"; }
stdout_empty() { [ ! -s out ] || die "standard output is not empty"; }
stderr_empty() { [ ! -s err ] || die "standard error is not empty"; }
stderr_is_one_line() { [ "$(wc -l <err)" = 1 ] || die "standard error is not one line"; }

sanitized() { # clang links the runtime into the program
    nm -D "$LLMPERF" 2>/dev/null | grep -qE '__[at]san'
}

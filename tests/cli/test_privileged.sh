#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In a program with rights that its user lacks (setuid, setgid, file capabilities) the environment chooses nothing.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
sanitized && { echo "the runtimes of sanitizers read the environment themselves"; exit 77; }

chmod 755 .
mkdir -m 777 open
mkdir -p tools home data
printf '#!/bin/sh\necho "NVIDIA Nsight Systems version 2025.3.2.474"\n' >tools/nsys
chmod 755 tools/nsys
printf 'run:\n  id: ${oc.env:PLANTED,none}\n' >ask.yaml
cp "$LLMPERF_TEST_PROGRAMS/privileged_program" plain
cp "$LLMPERF_TEST_PROGRAMS/libplanted_library.so" planted.so
chmod 755 plain planted.so; chmod 644 ask.yaml

try() { # PROGRAM: the environment of an attacker
    (cd open && env LLMPERF_OUT="$TMPDIR/open/runs" LLMPERF_CONFIG_DIR="$TMPDIR/data" LLMPERF_CUPTI_PATH="$TMPDIR/planted.so" \
        NVTX_INJECTION64_PATH="$TMPDIR/planted.so" CUDA_HOME="$TMPDIR" HOME="$TMPDIR/home" PATH="$TMPDIR/tools:$PATH" \
        LLMPERF_TIER=nonsense_if_read PLANTED=seen ${ALLOWED:-} "$@" "$TMPDIR/ask.yaml") >out 2>err
}
ignores() { # HOW
    stdout_has "privileged: yes"
    stdout_has "log: the program runs with raised privileges"
    [ "$(grep -c '^log: the program runs' out)" = 1 ] || die "$1: said more than once"
    for line in "run: none" "nsys: none" "variable: none"; do stdout_has "$line"; done
    grep -q "^loaded:" out && die "$1: a library that the environment names was loaded"
    grep -q "^data: $TMPDIR/data" out && die "$1: the data folder is the environment's"
    [ -e open/runs ] && die "$1: a run was written where the environment says"
    tried="${tried:-} $1"
}

# Without such rights each variable has its effect: else this test would prove nothing.
ALLOWED="env LLMPERF_TIER=deep" try "$TMPDIR/plain"
stdout_has "privileged: no"
stdout_has "run: $TMPDIR/open/runs/"
stdout_has "loaded: the planted library"
stdout_has "data: $TMPDIR/data"
stdout_has "nsys: $TMPDIR/tools/nsys"
stdout_has "variable: seen"
grep -q "^log: the program runs with raised" out && die "a plain program is said to be privileged"
rm -rf open/runs
try "$TMPDIR/plain"
stdout_has "LLMPERF_TIER=nonsense_if_read is not one of regions"

# A program that holds the library finds the data beside itself, not where its caller's name for it points.
mkdir -p prefix/bin prefix/share/llmperf bin share/llmperf
cp plain prefix/bin/static_program
(cd bin && unset LLMPERF_CONFIG_DIR && PATH=$TMPDIR/prefix/bin:$PATH static_program) >out 2>err
stdout_has "data: $TMPDIR/prefix/share/llmperf"

# setuid, setgid: to another user if root runs this, to another of one's own groups otherwise.
cp plain set_id
if [ "$(id -u)" = 0 ]; then
    chown 65534 set_id && chmod 4755 set_id && try "$TMPDIR/set_id"
    if grep -q "privileged: yes" out; then ignores setuid; fi
    chown 0:65534 set_id && chmod 2755 set_id && try "$TMPDIR/set_id"
    if grep -q "privileged: yes" out; then ignores setgid; fi
else
    for group in $(id -G); do
        [ "$group" = "$(id -g)" ] || { chgrp "$group" set_id && chmod 2755 set_id && try "$TMPDIR/set_id"; break; }
    done
    if grep -q "privileged: yes" out; then ignores setgid; fi
fi

# A file capability, for a user who is not root.
cp plain capable
if [ "$(id -u)" = 0 ] && PATH=$PATH:/usr/sbin:/sbin setcap cap_sys_nice=ep capable 2>err; then
    try setpriv --reuid 65534 --regid 65534 --clear-groups "$TMPDIR/capable"
    if grep -q "privileged: yes" out; then ignores "file capabilities"; fi
    as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    if "${as_nobody[@]}" test -x "$LLMPERF"; then
        "${as_nobody[@]}" "$LLMPERF" run --out open -- "$TMPDIR/capable" >out 2>err
        stderr_has "has file capabilities"
    fi
fi
[ -n "${tried:-}" ] || { echo "no rights can be given to a program in $TMPDIR (mounted nosuid, or not root)"; exit 77; }
echo "tried:$tried"

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What cannot be read, written or started is named with its path and the system's reason.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
recording=$LLMPERF_TEST_DATA/h200/dummy_resnet.llmrec
export LC_ALL=C
echo text >file
mkdir folder
expect 0 import "$recording" -o good

refused() { # CODE WORDS ARGUMENT...
    local code=$1 words=$2
    shift 2
    expect "$code" "$@"
    stderr_is_one_line
    stderr_has "$words"
}

# A file in the way of a folder, at any depth: it is named, not what was to be in it.
for out in file file/x file/x/y; do
    refused 3 "cannot create folder file: Not a directory" run --out $out run.id=a -- /bin/true
    refused 3 "/file: Not a directory" import "$recording" -o $out
done
# The parent that cannot be created, not the folder in it that then cannot exist.
refused 3 "cannot create folder /proc/nothing: No such file or directory" run --out /proc/nothing/a/b -- /bin/true
if unshare -rm true 2>/dev/null; then
    mkdir mount
    unshare -rm sh -c 'mount -t tmpfs -o size=16k none mount && exec "$@"' sh "$LLMPERF" import "$LLMPERF_TEST_DATA/ncu/kernels.csv" -o mount/a >out 2>err
    [ $? = 3 ] || die "a full file system"
    stderr_is_one_line
    stderr_has "cannot write mount/a/run.llmperf: "
    locked() { # CODE ARGUMENT...: with ./mount as a read-only file system
        local code=$1
        shift
        unshare -rm sh -c 'mount -t tmpfs -o ro none mount && exec "$@"' sh "$LLMPERF" "$@" >out 2>err
        [ $? = "$code" ] || die "$*: exit code is not $code"
        stderr_is_one_line
        stderr_has "Read-only file system"
    }
    locked 3 run --out mount/runs run.id=a -- /bin/true
    stderr_has "cannot create folder mount/runs: "
    locked 3 import "$recording" -o mount/a/b
    stderr_has "/mount/a: "
    locked 3 report good -o mount/report.md
    stderr_has "cannot write mount/report.md: "
    locked 3 export "$recording" --format chrome -o mount/trace.json
    stderr_has "cannot write mount/trace.json: "
    locked 3 export "$recording" --format nsys-sqlite -o mount/trace.sqlite
    stderr_has "cannot write mount/trace.sqlite: "
fi

# A file that cannot be written has the name that was given, not that of a temporary one.
refused 3 "cannot write folder: Is a directory" report good -o folder
refused 3 "cannot write missing/x: No such file or directory" report good -o missing/x
refused 3 "cannot write file/x: Not a directory" compare good good -o file/x
refused 3 "cannot write file/x: Not a directory" export good --format csv -o file/x
refused 3 "cannot write /dev/full: No space left on device" report good -o /dev/full
refused 3 "cannot write /dev/full: No space left on device" export "$recording" --format chrome -o /dev/full

# A folder that is none, and one that does not exist, are not folders without runs.
refused 2 "cannot read folder missing: No such file or directory" list missing
refused 2 "cannot read folder file: Not a directory" list file
refused 2 "cannot read folder missing: No such file or directory" top missing
refused 2 "cannot read folder file: Not a directory" top file
refused 2 "folder contains no run; give a run" top folder

# A program that cannot be started.
refused 2 "cannot run nothing_of_this_name: not found in PATH" run -- nothing_of_this_name
refused 2 "cannot run ./missing: No such file or directory" run -- ./missing
refused 2 "cannot run ./folder: Is a directory" run -- ./folder
refused 2 "cannot run ./file/x: Not a directory" run -- ./file/x
refused 2 "cannot run ./file: Permission denied" run -- ./file
mkdir bin && cp file bin/locked_program
PATH=$PWD/bin:$PATH refused 2 "cannot run locked_program: Permission denied" run -- locked_program

# A tool that is gone when it is to profile.
mkdir tools
printf '#!/bin/sh\necho "NVIDIA Nsight Systems version 2025.3.2.474"\nrm "$0"\n' >tools/nsys
chmod +x tools/nsys
PATH=$PWD/tools:$PATH expect 3 nsys --out runs -- /bin/true
stderr_has "cannot start $PWD/tools/nsys: No such file or directory"
echo fine

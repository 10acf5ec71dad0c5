#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Links that somebody left under the names of files and folders of a run: the commands write through none of them.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
fakes=$LLMPERF_TEST_DATA/fake_tools
export FAKE_TOOLS_LOG=$TMPDIR/calls.log PATH=$fakes:$PATH
printf 'not yours' >victim
mkdir elsewhere
program=$TMPDIR/prog
printf '#!/bin/bash\necho "prog $*"\n' >"$program"
chmod +x "$program"
untouched() {
    [ "$(cat victim)" = "not yours" ] || die "$1: the file that a link led to was written"
    [ -z "$(ls -A elsewhere)" ] || die "$1: a file was written where a link led to: $(ls -A elsewhere)"
}

# The folder of a run.
mkdir runs
ln -s "$TMPDIR/elsewhere" runs/planted
expect 3 run run.id=planted -- "$program"
stderr_has "cannot create folder"
untouched "run"

# Files that the commands themselves write.
mkdir -p runs/files
ln -s "$TMPDIR/victim" runs/files/config.yaml
expect 0 run run.id=files -- "$program"
untouched "config.yaml"
[ -f runs/files/config.yaml ] && [ ! -L runs/files/config.yaml ] || die "config.yaml is no file of its own"
mkdir -p runs/vendor/nsys
ln -s "$TMPDIR/victim" runs/vendor/nsys/cmd.txt
ln -s "$TMPDIR/victim" runs/vendor/nsys/log.txt
expect 0 nsys run.id=vendor -- "$program"
untouched "nsys"
for file in cmd.txt log.txt; do
    [ -s runs/vendor/nsys/$file ] && [ ! -L runs/vendor/nsys/$file ] || die "nsys/$file is no file of its own"
done
mkdir -p runs/tool
ln -s "$TMPDIR/elsewhere" runs/tool/nsys
expect 3 nsys run.id=tool -- "$program"
untouched "nsys as a link"

# Exports: the usual name is ours, another one is the user's, who may mean a link.
expect 0 import -o kept "$(ls "$recordings"/*.llmrec | head -n 1)"
cp "$(ls "$recordings"/*.llmrec | head -n 1)" kept/trace.llmrec
ln -s "$TMPDIR/victim" kept/trace.pftrace
expect 0 export kept --format perfetto
untouched "export"
[ -s kept/trace.pftrace ] && [ ! -L kept/trace.pftrace ] || die "trace.pftrace is no file of its own"
ln -s "$TMPDIR/meant" named
expect 0 export kept --format chrome -o named
[ -L named ] && [ -s meant ] || die "a link that the user named is not written to"
exit 0

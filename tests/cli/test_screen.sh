#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# On a terminal llmperf top fills the screen and leaves it as it was, and long calls show their progress; colours are left out with NO_COLOR and in pipes.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
unset NO_COLOR CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH NSYS_PROFILING_SESSION_ID NV_COMPUTE_PROFILER_PERFWORKS_DIR NV_TPS_LAUNCH_TOKEN
"$LLMPERF" run --out live run.id=job -- "$LLMPERF_TEST_PROGRAMS/scripted_program" stay \
    "$LLMPERF_TEST_DATA/fake/two_stages.txt" "$TMPDIR/stop" >run.out 2>run.err &
for _ in $(seq 300); do
    "$LLMPERF" top live/job --once >out 2>err && grep -q "LLM@decode_step" out && break
    sleep 0.1
done
stdout_has "1 of 1 processes running"

cat >screen.py <<'PYTHON'
import fcntl, os, pty, re, select, signal, struct, sys, termios, time

class Terminal:
    """A program on a terminal of this size."""
    def __init__(self, rows, columns, *words, **environment):
        self.seen, self.code = "", None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update({"TERM": "xterm", "LC_ALL": "C.UTF-8", **environment})
            time.sleep(0.2)  # until the size is set
            os.execv(os.environ["LLMPERF"], ["llmperf", *words])
        self.resize(rows, columns)
        self.modes = termios.tcgetattr(self.fd)[3]

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, *texts):
        """The last complete frame that has all of them."""
        end = time.time() + 60
        while time.time() < end:
            frame = self.seen.rsplit("\033[H\033[J", 1)[-1]
            if all(text in frame for text in texts):
                return re.sub(r"\033\[[?0-9;]*[a-zA-Z]", "", frame).replace("\r", "")
            if not self.read():
                break
        raise AssertionError(f"no {texts} in {self.seen[-3000:]!r}")

    def read(self):
        if select.select([self.fd], [], [], 1)[0]:
            try:
                self.seen += os.read(self.fd, 65536).decode()
            except OSError:  # the program has ended
                return False
        return True

    def end(self):
        while self.read():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

def check_size(frame, rows, columns):
    lines = frame.split("\n")
    assert len(lines) <= rows, (len(lines), frame)
    assert max(map(len, lines)) <= columns, frame

top = Terminal(24, 80, "top", "live/job")
frame = top.read_until("q: quit")
check_size(frame, 24, 80)
for text in ("live/job: ", "tokens/s ", "GPU busy %", "CLOCK", "LLM@decode_step", "KERNEL, since the start", "gemm", "SHARE"):
    assert text in frame, (text, frame)
assert "KERNELS/s" not in frame and "\033[?1049h" in top.seen and "\033[1m" in top.seen
top.resize(12, 120)
check_size(top.read_until("q: quit", "KERNELS/s"), 12, 120)
assert not termios.tcgetattr(top.fd)[3] & termios.ECHO
os.write(top.fd, b"xq")
assert top.end() == 0
assert termios.tcgetattr(top.fd)[3] == top.modes, "the terminal's modes"
after = top.seen.split("\033[?1049l")[1]
assert "LLM@decode_step" in after and "\033[?25h" in top.seen, "the last numbers remain"

top = Terminal(24, 80, "top", "live/job", NO_COLOR="1")
top.read_until("q: quit")
assert not re.search(r"\033\[[0-9;]*m", top.seen), "colours"
os.kill(top.pid, 15)
assert top.end() == -15 and "\033[?1049l" in top.seen, "a signal leaves the screen, too"

plain = Terminal(24, 80, "top", "live/job", "--once", TERM="dumb")
assert plain.end() == 0 and "\033" not in plain.seen
for environment, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)):
    shown = Terminal(24, 80, "list", "runs", **environment)
    assert shown.end() == 0
    assert ("\033[32mcomplete\033[0m" in shown.seen) == coloured, (environment, shown.seen)

# An import that takes longer than two seconds says how far it is: this one is held up.
slow = Terminal(24, 80, "import", "long.csv", "-o", "long")
time.sleep(0.6)
os.kill(slow.pid, signal.SIGSTOP)
time.sleep(2)
os.kill(slow.pid, signal.SIGCONT)
frame = slow.read_until("llmperf: reading a table, ", " %, ")
os.kill(slow.pid, signal.SIGKILL)
slow.end()
PYTHON
expect 0 import "$recordings/two_stages.llmrec" -o runs/one
head -n 2 "$LLMPERF_TEST_DATA/ncu/kernels.csv" >long.csv
sed 1,2d "$LLMPERF_TEST_DATA/ncu/kernels.csv" >rows.csv
for _ in $(seq 13); do cat rows.csv rows.csv >more.csv && mv more.csv rows.csv; done
cat rows.csv >>long.csv
python3 screen.py >out 2>err || die "on a terminal"
touch stop
wait
expect 0 import "$LLMPERF_TEST_DATA/ncu/kernels.csv" -o imported
stderr_empty
for word in "list runs" "top live/job" "doctor" "compare runs/one runs/one"; do
    # shellcheck disable=SC2086 # words
    "$LLMPERF" $word >out 2>err
    grep -q $'\033' out err && die "$word: colours in a pipe"
done
echo fine

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds a bare Debian 12 with debootstrap and tries the README's commands in it: the quickstart, an install by hand, tests/run.sh.
#
#   tests/bare_debian.sh                   all configurations of tests/run.sh
#   tests/bare_debian.sh gcc nocuda ...    only these
#
# Needs root, debootstrap and a Debian mirror; skips itself (exit code 77) with a reason as its last line where one is missing.
# The root is build-tests/bare; it is made anew each time and removed after success.
# shellcheck disable=SC2016 # much of it is for shells that are started here
set -u
export LC_ALL=C
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
root=$source/build-tests/bare
tree=/src/libllmperf # where the clone lies in the root
network='Temporary failure resolving|Could not resolve|Could not connect|Connection (failed|refused|timed out)|Failed to fetch|Unable to connect|Failed getting release file|Couldn.t download|Invalid Release file'

skip() {
    echo "skipped: $*"
    exit 77
}

# The first mirror of this machine's own apt that has Debian 12, and what it must know to reach one.
mirror() {
    apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 2>/dev/null | sed -n 's/ bookworm$//p' | grep . ||
        echo http://deb.debian.org/debian
}

make_root() {
    local log=$source/build-tests/debootstrap.log
    rm -rf --one-file-system "${root:?}"
    mkdir -p "$root"
    if ! debootstrap --variant=minbase bookworm "$root" "$(mirror | head -n 1)" >"$log" 2>&1; then
        grep -qE "$network" "$log" "$root/debootstrap/debootstrap.log" 2>/dev/null && skip "no Debian mirror can be reached"
        tail -n 20 "$log"
        echo "debootstrap failed (log: $log)"
        exit 1
    fi
    cp /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null
    apt-config dump 2>/dev/null | grep -E '^Acquire::(http|https|Retries|Check)' >"$root/etc/apt/apt.conf.d/99host"
}

# As in a fresh clone: what belongs to the repository, no more.
copy_tree() {
    mkdir -p "$root$tree"
    git -C "$source" ls-files -co --exclude-standard -z |
        (cd "$source" && xargs -0 -r sh -c 'for file; do [ ! -e "$file" ] || printf "%s\0" "$file"; done' sh) |
        tar -C "$source" --null -T - -cf - | tar -C "$root$tree" -xf -
}

# inside COMMAND...: in the root, with mounts and processes that end with the command
inside() {
    unshare --mount --pid --fork --kill-child bash -c '
        root=$0
        mount -t proc proc "$root/proc" && mount -t tmpfs tmpfs "$root/dev" || exit 99
        mkdir "$root/dev/shm" "$root/dev/pts"
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts" && ln -s pts/ptmx "$root/dev/ptmx" || exit 99
        for device in null zero full random urandom tty; do
            touch "$root/dev/$device" && mount --bind "/dev/$device" "$root/dev/$device" || exit 99
        done
        for link in fd:fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do ln -s "/proc/self/${link#*:}" "$root/dev/${link%:*}"; done
        exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/ TERM=dumb chroot "$root" "$@"
        ' "$root" "$@"
}

# step TITLE LOG COMMAND...
step() {
    local title=$1 log=$source/build-tests/bare-$2.log before=$SECONDS
    shift 2
    if inside "$@" >"$log" 2>&1; then
        echo "bare: $title ($((SECONDS - before)) s)"
        return
    fi
    grep -q 'apt-get could not install' "$log" && grep -qE "$network" "$log" && skip "no Debian mirror can be reached"
    tail -n 60 "$log"
    echo "FAILED in a bare Debian 12: $title (log: $log)"
    exit 1
}

[ "$(id -u)" -eq 0 ] || skip "a root of Debian can be made by root only"
command -v debootstrap >/dev/null || skip "there is no debootstrap (apt-get install debootstrap)"
command -v git >/dev/null || skip "there is no git to list the files of the repository"
unshare --mount --pid --fork mount -t proc proc /proc 2>/dev/null || skip "this container may not mount (unshare --mount)"

mkdir -p "$source/build-tests"
SECONDS=0
make_root
copy_tree
echo "bare: Debian 12 in $root ($SECONDS s)"
step "examples/quickstart.sh" quickstart "$tree/examples/quickstart.sh"
step "what the quickstart names is there" reports sh -c '
    grep -q "MFU [0-9]" "$1/runs/h200-recording/report.md" && test -s "$1/runs/h200-recording/report.html"' sh "$tree"
step "meson install, ldconfig, import llmperf" install sh -ec '
    cd "$1"
    meson setup build -Dtests=disabled -Dexamples=disabled
    ninja -C build
    meson install -C build
    ldconfig
    cd /
    llmperf --version
    python3 -c "import llmperf"
    llmperf run --out /tmp/runs -- python3 -c "
import llmperf
with llmperf.region(\"LLM@prefill\"):
    pass" | tail -n 1 | xargs -I{} grep -q LLM@prefill {}/report.md' sh "$tree"
step "tests/run.sh $*" tests "$tree/tests/run.sh" "$@"
sed -n '/^skipped in /p; $p' "$source/build-tests/bare-tests.log"
rm -rf --one-file-system "${root:?}"

# SPDX-License-Identifier: Apache-2.0
# Sourced by tests/run.sh and examples/quickstart.sh: installs what is missing on Debian 12 or Ubuntu 24.04, and nothing else.
# shellcheck shell=bash

# need PACKAGE COMMAND...: remember the package if the command fails.
packages=()
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || packages+=("$package")
}

need_to_build() {
    need gcc command -v gcc
    need libc6-dev test -e /usr/include/stdio.h
    need meson command -v meson
    need ninja-build command -v ninja
    need pkg-config command -v pkg-config
    need python3 command -v python3
    need libjansson-dev pkg-config --exists jansson
    need libyaml-dev pkg-config --exists yaml-0.1
    need libsqlite3-dev pkg-config --exists sqlite3
    need zlib1g-dev pkg-config --exists zlib
}

# with_progress LOG COMMAND...: its output goes to the log; how far it is, to standard error: on a terminal the newest line, else one
# every ten seconds. Returns the command's exit status.
with_progress() {
    local log=$1 line before=-10 shown=$SECONDS
    shift
    "$@" 2>&1 </dev/null | while IFS= read -r line; do
        printf '%s\n' "$line"
        if [ -t 2 ]; then
            printf '\r\033[K  %d s  %.90s' $((SECONDS - shown)) "$line" >&2
        elif [ $((SECONDS - before)) -ge 10 ]; then
            before=$SECONDS
            printf '  %d s  %.90s\n' $((SECONDS - shown)) "$line" >&2
        fi
    done >"$log"
    local status=${PIPESTATUS[0]}
    [ ! -t 2 ] || printf '\r\033[K' >&2
    return "$status"
}

apt_install() {
    "${as_root[@]}" apt-get update &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

# Install what need() remembered. With nothing missing apt is not called.
install_packages() {
    local log as_root=()
    [ ${#packages[@]} -gt 0 ] || return 0
    if ! command -v apt-get >/dev/null; then
        echo "missing: ${packages[*]}; there is no apt-get here, install them by hand" >&2
        return 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        if ! sudo -n true 2>/dev/null; then
            echo "missing: ${packages[*]}; run as root: apt-get install ${packages[*]}" >&2
            return 1
        fi
        as_root=(sudo)
    fi
    echo "installing: ${packages[*]}"
    log=$(mktemp)
    if ! with_progress "$log" apt_install "${packages[@]}"; then
        tail -n 20 "$log" >&2
        echo "apt-get could not install: ${packages[*]} (log: $log)" >&2
        return 1
    fi
    rm -f "$log"
    packages=()
}

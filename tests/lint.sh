#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What no compiler looks at: clang-format, shellcheck and clang-tidy (.clang-tidy) over the files that git knows, and the subjects of
# the newest commits.
#
#   tests/lint.sh BUILD    a build folder with compile_commands.json
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
failed=0

if ! git ls-files >/dev/null 2>&1; then
    echo "skipped: no git checkout says which files are ours"
    exit 77
fi

mapfile -t sources < <(git ls-files '*.c' '*.h' '*.cu' '*.hpp')
clang-format --dry-run -Werror "${sources[@]}" || failed=1

mapfile -t scripts < <(git ls-files '*.sh' .ci tools/dev)
shellcheck -x -S warning "${scripts[@]}" || failed=1

git log --no-merges -n 20 --format=%s | while read -r subject; do
    [[ ${#subject} -le 60 && $subject =~ ^[^:]+:\ .*[^.]$ ]] || { echo "commit subject: not \"area: what it does\" of 60 characters at most: $subject"; false; } || exit 1
done || failed=1

# The analyzer gives a function up after so many steps: all of them would take six times as long.
analyzer=()
for word in -analyzer-config max-nodes=40000; do
    analyzer+=(--extra-arg=-Xclang "--extra-arg=$word")
done
# NVIDIA's headers, which the checks of their layouts include, are not for clang.
git ls-files 'lib/*.c' 'tools/*.c' ':!*_check.c' |
    while read -r file; do # those of this build only
        grep -qF "/$file\"" "$1/compile_commands.json" && echo "$file"
    done | xargs -P "$(nproc)" -n 8 clang-tidy -p "$1" --quiet "${analyzer[@]}" 2> >(grep -vE ' warnings? generated' >&2) || failed=1
exit $failed

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Completion of commands, options, values, keys and runs, and suggestions for misspelt words.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
unset LLMPERF_OUT
expect 0 run --out runs --tier regions run.id=first -- /bin/true
expect 0 run --out runs --tier regions run.id=second -- /bin/true
mkdir folder
echo text >file.txt

expect 0 completion bash
cp out script.bash
. ./script.bash || die "the script of bash"
compopt() { options+=" $2"; } # allowed only while bash completes
complete -p llmperf | grep -q -- "-F _llmperf" || die "bash does not know the function"

# completes LINE WORD...: bash offers these, and nothing else. LINE is split at blanks and at "=", as bash does.
completes() {
    local line=$1
    shift
    COMP_WORDS=() COMPREPLY=() options=
    for word in ${line//=/ = }; do COMP_WORDS+=("$word"); done
    [[ $line == *" " ]] && COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    PATH=$(dirname "$LLMPERF"):$PATH _llmperf llmperf llmperf "" || die "$line: exit code"
    [ "$(printf '%s\n' "${COMPREPLY[@]}" | sort)" = "$(printf '%s\n' "$@" | sort)" ] ||
        die "$line gives: ${COMPREPLY[*]}"
}
completes "llmperf rep" report repeats
completes "llmperf help comp" compare completion
completes "llmperf run --ti" --tier
completes "llmperf run --tier " regions light deep counters
completes "llmperf run --tier l" light
completes "llmperf run --tier=l" light
completes "llmperf run --tier=" regions light deep counters
completes "llmperf report runs/first --format md --to" --top
completes "llmperf report runs/first --format s" summary stages
completes "llmperf report runs/fi" runs/first runs/first # as a run and as a path
completes "llmperf compare runs/first runs/s" runs/second runs/second
completes "llmperf report -o f" folder file.txt
completes "llmperf run --out f" folder
completes "llmperf run session.slo_t" session.slo_ttft_ms= session.slo_tpot_ms=
[[ $options == *nospace* ]] || die "a blank follows ${COMPREPLY[0]}"
completes "llmperf run session.tier=d" deep
completes "llmperf run artifacts.keep_trace=" true false
completes "llmperf import fi" file.txt
completes "llmperf run -- runs/first/repo" runs/first/report.md runs/first/report.html
completes "llmperf model resnet_5" resnet_50
completes "llmperf nonsense x"
completes "llmperf completion z" zsh

# Each command's options and choices are offered: those of its help.
for command in $("$LLMPERF" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    "$LLMPERF" "$command" --help | sed -nE 's/^  (-[a-z], )?(--[a-z-]+).*/\2/p' | sort -u >wanted
    "$LLMPERF" completion words -- "$command" -- | cut -f 1 | grep -vx -- --help | sort -u >offered
    diff wanted offered >out || die "options of $command"
done

# The other shells, where they are installed.
expect 0 completion zsh
cp out _llmperf
if command -v zsh >/dev/null; then zsh -n _llmperf || die "the script of zsh"; fi
expect 0 completion fish
cp out script.fish
if command -v fish >/dev/null; then
    offered=$(PATH=$(dirname "$LLMPERF"):$PATH HOME=$TMPDIR fish -N -c 'source script.fish; complete -C "llmperf run --tier d"')
    [ "$offered" = deep ] || die "fish offers $offered"
fi
expect 2 completion tcsh
stderr_has "expected a shell: bash, zsh or fish"

# Misspelt commands and options.
means() { # WORD ARGUMENT...
    local word=$1
    shift
    expect 2 "$@"
    stdout_empty
    stderr_is_one_line
    stderr_has "(did you mean $word?)"
}
means report repotr
means list lst
means model help modle
means --tier run --teir deep -- true
means --tier run --teir=deep -- true
means --format report runs/first --fromat json
means --output compare a b --ouput x
expect 2 nothing_like_it
grep -q "did you mean" err && die "a suggestion that is not similar"
expect 2 run --nothing-like-it -- true
grep -q "did you mean" err && die "a suggestion that is not similar"
echo fine

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The beginning of a run's report.html as a picture, by a Chromium without a window.
#   picture.sh RUN_DIR PICTURE.png [HEIGHT]
# docs/report.png: picture.sh "$(dsocr_profile --recorded=examples/data/dsocr_base_graphs.llmrec | tail -n 1)" docs/report.png
set -eu
if [ $# -lt 2 ] || [ ! -f "$1/report.html" ]; then
    echo "usage: picture.sh RUN_DIR PICTURE.png [HEIGHT], with a report.html in RUN_DIR" >&2
    exit 2
fi
browser=
for name in chromium chromium-browser google-chrome; do
    if [ -z "$browser" ] && command -v "$name" >/dev/null; then
        browser=$name
    fi
done
if [ -z "$browser" ]; then
    echo "picture.sh: no Chromium; apt-get install chromium" >&2
    exit 3
fi
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
if ! timeout 60 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$profile" \
    --window-size=1180,"${3:-1350}" --screenshot="$(realpath -m "$2")" "file://$(realpath "$1")/report.html" >"$profile/log" 2>&1; then
    tail -n 3 "$profile/log" >&2
    exit 3
fi
[ -s "$2" ]

# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows of a profile."""
from __future__ import annotations

from html import escape
from typing import Any, Dict, Iterable, List, Tuple

_ADVICE = 3
_KERNELS = 5
_STAGES = (("Stage", "path"), ("Calls", "calls"), ("ms a call", "time_ms"), ("Tokens/s", "tokens_per_s"),
           ("MFU", "mfu"), ("MBU", "mbu"), ("Bound", "bound"))
_KERNEL = (("Kernel", "short_name"), ("Region", "region"), ("Calls", "calls"),
           ("Total ms", "total_ms"), ("Mean ms", "mean_ms"), ("Share", "share"))


def _cell(key: str, value: Any) -> str:
    if value is None:
        return "<td>–</td>"
    if isinstance(value, str):
        return f"<td><code>{escape(value)}</code></td>"
    if key in ("mfu", "mbu", "share"):
        return f"<td>{100 * value:.1f} %</td>"
    return f"<td>{value:,.0f}</td>" if abs(value) >= 1000 else f"<td>{value:.4g}</td>"


def _table(columns: Iterable[Tuple[str, str]], rows: List[Dict[str, Any]]) -> str:
    head = "".join(f"<th>{title}</th>" for title, _ in columns)
    lines = ("".join(_cell(key, row[key]) for _, key in columns) for row in rows)
    return f"<table><tr>{head}</tr><tr>{'</tr><tr>'.join(lines)}</tr></table>" if rows else ""


def profile_html(profile: Any) -> str:
    """Verdict, stages, the first recommendations and the longest kernels, for Jupyter."""
    title = escape(profile.about["title"] or "")
    advice = "".join(f"<li>{escape(row['text'])}</li>" for row in profile.advice[:_ADVICE])
    return (f"<p><b>{title or 'Profile'}</b>: {escape(profile.verdict)}</p>"
            + _table(_STAGES, profile.stages) + (f"<ol>{advice}</ol>" if advice else "")
            + _table(_KERNEL, profile.kernels()[:_KERNELS]))

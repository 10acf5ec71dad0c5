// SPDX-License-Identifier: Apache-2.0
// The page of a comparison: what changed and why, then all rows.
"use strict";

/** In the chart: most causes, and the least share of the largest one. */
const CAUSES_SHOWN = 14, CAUSE_SHARE = 0.02;
const bySize = (a, b) => Math.abs(b.change_ms) - Math.abs(a.change_ms);

/** From the time of the base to that of the new run, one bar for each cause; what is left over is the last bar but one. */
function changeChart(change) {
    const sorted = [...change.causes].sort(bySize), causes = sorted.filter((cause) => Math.abs(cause.change_ms) >= CAUSE_SHARE * Math.abs(sorted[0].change_ms)).slice(0, CAUSES_SHOWN);
    const named = causes.reduce((sum, cause) => sum + cause.change_ms, 0);
    const steps = [...causes, { text: "everything else", change_ms: change.change_ms - named }];
    let level = change.base_ms;
    const levels = [level, ...steps.map((step) => { level += step.change_ms; return level; })];
    // The axis begins where something changes: differences of a few percent are to be seen.
    const low = Math.min(...levels), high = Math.max(...levels), margin = 0.25 * (high - low) || 0.01 * high, from = Math.max(0, low - margin);
    const x = (ms) => (ms - from) / (high - from), signed = (ms) => `${ms > 0 ? "+" : ms < 0 ? "−" : ""}${duration(Math.abs(ms))}`;
    const bar = (name, start, end, style, text) => ({ name, title: `${name}: ${text}`, segments: [{ from: x(Math.min(start, end)), to: x(Math.max(start, end)), style }], text });
    const rows = steps.map((step, i) => bar(step.text.replace(/ \(.*\)$/, ""), levels[i], levels[i + 1], step.change_ms > 0 ? "slower" : "faster", signed(step.change_ms)));
    return html`${bars(`What changed in ${change.region || "the run"}: each bar between the base and the new run is what one cause adds or removes`,
        [bar("Base", from, change.base_ms, "whole", duration(change.base_ms)), ...rows, bar("New", from, change.new_ms, "whole", duration(change.new_ms))])}${from > 0 ? html`<figcaption>The axis begins at ${duration(from)}.</figcaption>` : ""}`;
}

function changeSection(change, index) {
    const causes = table(`causes-${index}`, [
        words("Cause", (row) => row.text, true), words("Class", (row) => row.kernel_class), words("Significant", (row) => (row.significant ? "yes" : "no")),
        column("Base ms", "base/ms"), column("New ms", "new/ms"), column("Change ms", "change_ms"), column("Base calls", "base/calls"), column("New calls", "new/calls"),
    ], [...change.causes].sort(bySize), { pointer: (row) => `/changes/${index}/causes/${change.causes.indexOf(row)}`, none: "No part of it changed." });
    return html`<section aria-labelledby="change-${index}"><h2 id="change-${index}">${change.first_call ? "Warm-up of " : ""}${last(change.region) || "The run"}</h2>
<p>${change.text}.</p>${change.causes.length && change.base_ms !== null && change.new_ms !== null ? html`<figure class="wide">${changeChart(change)}</figure>` : ""}${causes}</section>`;
}

function renderCompare(compare) {
    const runs = (side) => side.runs.map((run) => html`<code>${run.run_id}</code> (${run.verdict})`);
    const title = { regression: "Regression", ok: "No regression" }[compare.verdict] || compare.verdict.replace(/_/g, " ");
    const judged = compare.rows.filter((row) => ["slower", "faster"].includes(row.verdict));
    const change = (row) => html`<li>${row.verdict}: ${row.quantity.replace(/_/g, " ")} of <code>${row.region || "work outside of regions"}</code>, ${row.change_ms > 0 ? "+" : "−"}${duration(Math.abs(row.change_ms), 3)} a call (${number(row.change_percent, 3)} %)</li>`;
    const columns = [
        words("Region", (row) => row.region || "outside of regions", true), words("Quantity", (row) => row.quantity), words("Verdict", (row) => row.verdict),
        column("Base ms", "base/mean_ms"), column("New ms", "new/mean_ms"), column("Change ms", "change_ms"), column("Change %", "change_percent"), column("Noise ms", "noise_ms"),
        column("Base calls", "base/instances"), column("New calls", "new/instances"),
    ];
    const pointer = (row) => `/rows/${compare.rows.indexOf(row)}`;
    const changes = compare.changes || [];
    return html`<header><h1>${title}: ${compare.slower} slower, ${compare.faster} faster</h1>
<p class="note">Base ${runs(compare.base)}, new ${runs(compare.new)}; differences up to ${number(compare.threshold_percent)} % are ignored.</p>
${compare.reason ? html`<div class="verdict bad"><p>Not comparable: ${compare.reason}</p></div>` : ""}
<div class="headline"><ul>${[...judged].sort(bySize).slice(0, 3).map(change)}</ul><ul>${changes.map((change, i) => html`<li>${change.text}. <a href="#change-${i}">Causes</a></li>`)}</ul></div></header>
<nav aria-label="Sections"><div>${changes.map((change, i) => html`<a href="#change-${i}">${change.first_call ? "Warm-up of " : ""}${last(change.region) || "run"}</a> `)}<a href="#judged">Slower and faster</a> <a href="#rows">All rows</a></div><input type="search" id="search" placeholder="Search names" aria-label="Search names"></nav>
<main>${changes.map(changeSection)}<section aria-labelledby="judged"><h2 id="judged">Slower and faster</h2>${table("judged-rows", columns, judged, { pointer, none: "Nothing is slower or faster by more than the threshold and noise." })}</section>
<section aria-labelledby="rows"><h2 id="rows">All rows</h2>${table("all-rows", columns, compare.rows, { pointer })}</section></main>`.text;
}

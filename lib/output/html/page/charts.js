// SPDX-License-Identifier: Apache-2.0
// Charts: bars (waterfall, classes, changes) as elements, so that their text keeps its size; roofline, histogram and sparklines as SVG.
"use strict";

const CLASSES = ["GEMM", "attention", "MoE", "norm", "elementwise", "copy/cast", "collective", "reduction", "sampling", "memory op", "other"];
const classNumber = (name) => (CLASSES.indexOf(name) < 0 ? CLASSES.length - 1 : CLASSES.indexOf(name));
const WIDTH = 760;

let chartCount = 0;

/** An SVG with a title and a description for those who cannot see it. */
function chart(height, title, description, body) {
    const id = `chart${++chartCount}`;
    return html`<div class="scroll"><svg class="chart" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="${id}-t ${id}-d"><title id="${id}-t">${title}</title><desc id="${id}-d">${description}</desc>${body}</svg></div>`;
}

const legend = (names) => html`<ul class="legend">${names.map((name) => html`<li><i class="k${classNumber(name)}"></i>${name}</li>`)}</ul>`;

/** Rows {name, title, text, segments: [{from, to, style, title}]}; positions are shares of the width. */
function bars(label, rows) {
    const place = (segment) => `left:${(100 * Math.max(0, segment.from)).toFixed(2)}%;width:${(100 * Math.max(0.003, segment.to - segment.from)).toFixed(2)}%`;
    return html`<div class="bars" role="group" aria-label="${label}">${rows.map((row) => html`<div title="${row.title || ""}"><span>${row.name}</span>
<span class="track">${row.segments.map((s) => html`<i class="${s.style}" style="${place(s)}"${s.title ? html` title="${s.title}"` : ""}></i>`)}</span><span>${row.text}</span></div>
`)}</div>`;
}

/** Round steps for an axis from 0 to `most`. */
function ticks(most, count = 6) {
    const raw = most / count, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
    const values = [];
    for (let value = 0; value <= most * 1.0001; value += step) values.push(value);
    return values;
}

/** Headings of the parts of a waterfall, and the share below which parts are one; the page has those of report.md. */
const PART_NAMES = {};
let smallPart = 0;

function partName(part) {
    const region = part.region && part.region.split("@").pop();
    if (part.part === "kernels") return `${part.kernel_class || "kernels"}${region && region !== part.kernel_class ? ` in ${region}` : ""}`;
    if (part.part === "nested") return `${PART_NAMES.nested} ${last(part.region)}`;
    if (part.part === "small") return `Parts below ${100 * smallPart} %`;
    return PART_NAMES[part.part] || part.part;
}

function partDetail(part) {
    if (part.part !== "kernels") return partName(part);
    return `${partName(part)}: ${duration(part.duration_ms)} of ${plural(number(part.kernels), "kernel")}${part.bound_ms ? `, lower bound ${duration(part.bound_ms)}` : ", lower bound unknown"}, longest ${part.longest_kernel}`;
}

const PART_STYLES = { bound: "floor", nested: "nested", small: "nested", profiler: "nested" };
const partStyle = (part) => (part.part === "kernels" ? `k${classNumber(part.kernel_class)}` : PART_STYLES[part.part] || "gap");

/** From the lower bound to the measured time, one bar for each part, each starting where the last one ended. */
function waterfall(fall) {
    const whole = fall.elapsed_ms, isSmall = (part) => Math.abs(part.adds_ms) < smallPart * whole;
    const rest = fall.parts.filter(isSmall).reduce((sum, part) => sum + part.adds_ms, 0);
    const parts = fall.parts.filter((part) => !isSmall(part)).concat(rest > 0 ? { part: "small", adds_ms: rest } : []);
    const limits = (ms, half) => (half ? [ms - half, ms + half] : null);
    let sum = 0;
    const rows = parts.map((part) => {
        const from = sum;
        sum += part.adds_ms;
        return { name: partName(part), title: partDetail(part), segments: [{ from: Math.min(from, sum) / whole, to: Math.max(from, sum) / whole, style: partStyle(part) }],
            text: html`${duration(part.adds_ms, 3, limits(part.adds_ms, part.half_interval_ms))} <small>${percent(part.adds_ms / whole, 2)}</small>` };
    });
    return bars(`Where the time of ${fall.region} goes: each bar starts where the one above it ends, the last one is the measured time of a call`,
        [...rows, { name: "Measured", segments: [{ from: 0, to: 1, style: "whole" }], text: duration(whole, 3, limits(whole, fall.half_interval_ms)) }]);
}

/** Points closer than the size of a dot are one dot, which names all of them. */
function groupPoints(points, near = 17) {
    const groups = [];
    for (const point of points) {
        const group = groups.find((g) => Math.hypot(g[0].px - point.px, g[0].py - point.py) < near);
        if (group) group.push(point); else groups.push([point]);
    }
    return groups;
}

/** Achieved FLOP/s against intensity under the roof of the GPU. Points carry numbers; the list below has the names. */
function roofline(hardware, points) {
    const peak = hardware.peak && hardware.peak[hardware.dtype], band = hardware.bandwidth_gbs;
    const shown = points.filter((p) => p.intensity > 0 && p.achieved_tflops > 0);
    if (!peak || !band || shown.length === 0) return html`<p class="note">No roofline: ${!peak || !band ? "the peaks of this GPU are unknown" : "no FLOPs and bytes are known"}.</p>`;
    const ridge = peak * 1000 / band;
    const xs = [...shown.map((p) => p.intensity), ridge / 30, ridge * 30], ys = [...shown.map((p) => p.achieved_tflops), peak];
    const x0 = Math.floor(Math.log10(Math.min(...xs))), x1 = Math.ceil(Math.log10(Math.max(...xs)));
    const y0 = Math.floor(Math.log10(Math.min(...ys))), y1 = Math.ceil(Math.log10(peak * 1.2));
    const left = 52, right = WIDTH - 20, top = 18, bottom = 310;
    const x = (v) => left + (right - left) * (Math.log10(v) - x0) / (x1 - x0), y = (v) => bottom - (bottom - top) * (Math.log10(v) - y0) / (y1 - y0);
    const powers = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i));
    const grid = html`${powers(x0, x1).map((v) => html`<line class="grid" x1="${x(v)}" x2="${x(v)}" y1="${top}" y2="${bottom}"></line><text class="s" x="${x(v)}" y="${bottom + 16}" text-anchor="middle">${v}</text>`)}
${powers(y0, y1).map((v) => html`<line class="grid" x1="${left}" x2="${right}" y1="${y(v)}" y2="${y(v)}"></line><text class="s" x="${left - 6}" y="${y(v) + 4}" text-anchor="end">${v}</text>`)}`;
    const foot = Math.max(10 ** x0, 10 ** y0 * 1000 / band);
    const roof = html`<polyline class="roof" points="${x(foot)},${y(foot * band / 1000)} ${x(ridge)},${y(peak)} ${right},${y(peak)}"></polyline>`;
    const groups = groupPoints(shown.map((p) => ({ ...p, px: x(p.intensity), py: y(p.achieved_tflops) })));
    const dots = groups.map(([p, ...others], i) => html`<g><title>${[p, ...others].map((o) => `${o.name}: ${number(o.achieved_tflops)} TFLOP/s at ${number(o.intensity)} FLOP/byte`).join("\n")}</title><circle class="${p.style}" cx="${p.px.toFixed(1)}" cy="${p.py.toFixed(1)}" r="8"></circle><text class="dot" x="${p.px.toFixed(1)}" y="${(p.py + 3.5).toFixed(1)}" text-anchor="middle">${i + 1}</text></g>`);
    const label = (group) => html`<li>${group.map((p) => html`<div><code>${p.name}</code>: ${number(p.achieved_tflops, 3)} of ${number(p.attainable_tflops, 3)} TFLOP/s attainable (${percent(p.achieved_tflops / p.attainable_tflops, 3)})</div>`)}</li>`;
    return html`<figure class="roofline">${chart(350, "Roofline", `Achieved TFLOP/s against FLOP per byte. The roof is ${band} GB/s and ${peak} TFLOP/s (${hardware.dtype}).`,
        html`${grid}${roof}${dots}<text class="s" x="${right}" y="${bottom + 34}" text-anchor="end">FLOP per byte</text><text class="s" x="${left}" y="${top - 6}">TFLOP/s</text>`)}
<div><figcaption>The roof is ${number(band)} GB/s and ${number(peak)} TFLOP/s (${hardware.dtype}, dense). <i class="swatch point"></i> stages, <i class="swatch kernel"></i> kernels; points at the same place share a number.</figcaption><ol class="points">${groups.map(label)}</ol></div></figure>`;
}

/** Columns of a histogram: [from ms, to ms, count]. */
function histogram(name, columns) {
    const first = columns[0][0], last = columns[columns.length - 1][1], most = Math.max(...columns.map((c) => c[2]));
    const left = 50, right = WIDTH - 20, x = (v) => left + (right - left) * (last > first ? (v - first) / (last - first) : 0);
    return chart(130, `Durations of ${name}`, `Calls by host time, from ${duration(first)} to ${duration(last)}.`,
        html`${columns.map(([from, to, count]) => html`<g><title>${duration(from)} to ${duration(to)}: ${plural(count, "call")}</title><rect class="busy" x="${x(from).toFixed(1)}" y="${(104 - 90 * count / most).toFixed(1)}" width="${Math.max(1, x(to) - x(from) - 1).toFixed(1)}" height="${(90 * count / most).toFixed(1)}"></rect></g>`)}
<text class="s" x="${left - 6}" y="20" text-anchor="end">${most}</text><text class="s" x="${left}" y="122">${duration(first)}</text><text class="s" x="${right}" y="122" text-anchor="end">${duration(last)}</text>`);
}

/** One bar for each stage, divided by kernel class. */
function classBars(rows) {
    const stages = [...new Set(rows.map((r) => r.stage))];
    return bars("Share of each kernel class in the device time of a stage", stages.map((stage) => {
        const own = rows.filter((r) => r.stage === stage && r.share > 0);
        let sum = 0;
        const segments = own.map((r) => ({ from: sum, to: (sum += r.share), style: `k${classNumber(r.kernel_class)}`, title: `${r.kernel_class}: ${percent(r.share)}, ${duration(r.total_ms)}` }));
        return { name: stage || "outside of stages", segments, text: duration(own.reduce((total, r) => total + r.total_ms, 0), 3) };
    }));
}

const classesOf = ({ kernel_classes: rows }) => (rows.length === 0 ? "" : html`<figure>${classBars(rows)}${legend([...new Set(rows.map((r) => r.kernel_class))])}</figure>`);

/** A few values in order, as a small line. */
function sparkline(values) {
    if (!values || values.length < 3) return html``;
    const most = Math.max(...values), least = Math.min(...values);
    const y = (v) => (most > least ? 15 - 13 * (v - least) / (most - least) : 8);
    const step = 80 / (values.length - 1);
    return html`<svg class="spark" viewBox="0 0 80 16" role="img" aria-label="${values.length} durations, ${duration(least)} to ${duration(most)}"><polyline points="${values.map((v, i) => `${(i * step).toFixed(1)},${y(v).toFixed(1)}`).join(" ")}"></polyline></svg>`;
}

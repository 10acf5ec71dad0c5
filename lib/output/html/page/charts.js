// SPDX-License-Identifier: Apache-2.0
// Charts as SVG: waterfall, roofline, histogram, bars of classes, sparklines.
"use strict";

const CLASSES = ["GEMM", "attention", "MoE", "norm", "elementwise", "copy/cast", "communication", "reduction", "sampling", "convolution", "memory op", "other"];
const classNumber = (name) => (CLASSES.indexOf(name) < 0 ? CLASSES.length - 1 : CLASSES.indexOf(name));
const WIDTH = 960;

let chartCount = 0;

/** An SVG with a title and a description for those who cannot see it. */
function chart(height, title, description, body) {
    const id = `chart${++chartCount}`;
    return html`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="${id}-t ${id}-d"><title id="${id}-t">${title}</title><desc id="${id}-d">${description}</desc>${body}</svg>`;
}

const legend = (names) => html`<ul class="legend">${names.map((name) => html`<li><i class="k${classNumber(name)}"></i>${name}</li>`)}</ul>`;

/** Round steps for an axis from 0 to `most`. */
function ticks(most, count = 6) {
    const raw = most / count, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
    const values = [];
    for (let value = 0; value <= most * 1.0001; value += step) values.push(value);
    return values;
}

/** Headings of the parts of a waterfall; the page has those of report.md. */
const PART_NAMES = {};

function partName(part) {
    if (part.part === "kernels") return `${(part.region || "").split("/").pop().replace(/^LLM@/, "") || "no region"}: ${part.kernel_class}`;
    if (part.part === "nested") return `${PART_NAMES.nested} ${last(part.region)}`;
    return PART_NAMES[part.part] || part.part;
}

/** From the lower bound to the measured time, one bar for each part, each starting where the last one ended. */
function waterfall(fall) {
    const least = 0.005 * fall.elapsed_ms;
    const big = fall.parts.filter((p) => Math.abs(p.adds_ms) >= least);
    const rest = fall.parts.filter((p) => Math.abs(p.adds_ms) < least).reduce((sum, p) => sum + p.adds_ms, 0);
    const parts = rest > 0 ? [...big, { part: "parts below 0.5 %", adds_ms: rest }] : big;
    const left = 250, right = 790, row = 22, height = 30 + row * (parts.length + 1);
    const x = (ms) => left + (right - left) * ms / fall.elapsed_ms;
    let sum = 0;
    const bars = parts.map((part, i) => {
        const from = x(Math.max(0, sum)), y = 6 + row * i;
        sum += part.adds_ms;
        const style = part.part === "bound" ? "floor" : part.part === "kernels" ? `k${classNumber(part.kernel_class)}` : part.part === "nested" ? "nested" : "gap";
        const detail = part.part === "kernels"
            ? `${partName(part)}: ${duration(part.duration_ms)} of ${plural(part.kernels, "kernel")}, lower bound ${duration(part.bound_ms)}, longest ${part.longest_kernel}`
            : partName(part);
        return html`<g><title>${detail}</title><text x="${left - 8}" y="${y + 14}" text-anchor="end">${partName(part).slice(0, 36)}</text>
<rect class="${style}" x="${from.toFixed(1)}" y="${y}" width="${Math.max(0.8, x(sum) - from).toFixed(1)}" height="${row - 5}"></rect>
<text class="s" x="${(Math.max(x(sum), from) + 6).toFixed(1)}" y="${y + 13}">${duration(part.adds_ms)} (${percent(part.adds_ms / fall.elapsed_ms)})</text></g>`;
    });
    const y = 6 + row * parts.length;
    return chart(height, `Where the time of ${fall.region} goes`, "Each bar starts where the one above it ends. The last one is the measured time of a call.",
        html`${bars}<text x="${left - 8}" y="${y + 14}" text-anchor="end">Measured</text><rect class="whole" x="${left}" y="${y}" width="${right - left}" height="${row - 5}"></rect>
<text class="s" x="${right + 6}" y="${y + 13}">${duration(fall.elapsed_ms)}</text>`);
}

/** Achieved FLOP/s against intensity under the roof of the GPU. Points carry numbers; the list beside has the names. */
function roofline(hardware, points) {
    const peak = hardware.peak && hardware.peak[hardware.dtype], band = hardware.bandwidth_gbs;
    const shown = points.filter((p) => p.intensity > 0 && p.achieved_tflops > 0);
    if (!peak || !band || shown.length === 0) return html`<p class="note">No roofline: ${!peak || !band ? "the peaks of this GPU are unknown" : "no FLOPs and bytes are known"}.</p>`;
    const ridge = peak * 1000 / band;
    const xs = [...shown.map((p) => p.intensity), ridge / 30, ridge * 30], ys = [...shown.map((p) => p.achieved_tflops), peak];
    const x0 = Math.floor(Math.log10(Math.min(...xs))), x1 = Math.ceil(Math.log10(Math.max(...xs)));
    const y0 = Math.floor(Math.log10(Math.min(...ys))), y1 = Math.ceil(Math.log10(peak * 1.2));
    const left = 60, right = 940, top = 12, bottom = 330;
    const x = (v) => left + (right - left) * (Math.log10(v) - x0) / (x1 - x0), y = (v) => bottom - (bottom - top) * (Math.log10(v) - y0) / (y1 - y0);
    const powers = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i));
    const grid = html`${powers(x0, x1).map((v) => html`<line class="grid" x1="${x(v)}" x2="${x(v)}" y1="${top}" y2="${bottom}"></line><text class="s" x="${x(v)}" y="${bottom + 16}" text-anchor="middle">${v}</text>`)}
${powers(y0, y1).map((v) => html`<line class="grid" x1="${left}" x2="${right}" y1="${y(v)}" y2="${y(v)}"></line><text class="s" x="${left - 6}" y="${y(v) + 4}" text-anchor="end">${number(v)}</text>`)}`;
    const foot = Math.max(10 ** x0, 10 ** y0 * 1000 / band);
    const roof = html`<polyline class="roof" points="${x(foot)},${y(foot * band / 1000)} ${x(ridge)},${y(peak)} ${right},${y(peak)}"></polyline>`;
    const taken = [];
    const dots = shown.map((p, i) => {
        const px = x(p.intensity), py = y(p.achieved_tflops);
        let ly = py - 9;
        while (taken.some(([tx, ty]) => Math.abs(tx - px) < 16 && Math.abs(ty - ly) < 12)) ly -= 12;
        taken.push([px, ly]);
        return html`<g><title>${p.name}: ${number(p.achieved_tflops)} TFLOP/s at ${number(p.intensity)} FLOP/byte</title>${ly < py - 12 ? html`<line class="axis" x1="${px}" x2="${px}" y1="${py}" y2="${ly}"></line>` : ""}<circle class="${p.style}" cx="${px.toFixed(1)}" cy="${py.toFixed(1)}" r="5"></circle><text class="s" x="${px.toFixed(1)}" y="${ly.toFixed(1)}" text-anchor="middle">${i + 1}</text></g>`;
    });
    return html`<figure>${chart(372, "Roofline", `Achieved TFLOP/s against FLOP per byte. The roof is ${band} GB/s and ${peak} TFLOP/s (${hardware.dtype}).`,
        html`${grid}${roof}${dots}<text class="s" x="${right}" y="${bottom + 32}" text-anchor="end">FLOP per byte</text><text class="s" x="${left}" y="${top - 2}">TFLOP/s</text>`)}
<figcaption>The roof is ${number(band)} GB/s and ${number(peak)} TFLOP/s (${hardware.dtype}, dense).</figcaption><ol class="points">${shown.map((p) => html`<li><code>${p.name}</code>: ${number(p.achieved_tflops)} of ${number(p.attainable_tflops)} TFLOP/s attainable</li>`)}</ol></figure>`;
}

/** Columns of a histogram: [from ms, to ms, count]. */
function histogram(name, columns) {
    const first = columns[0][0], last = columns[columns.length - 1][1], most = Math.max(...columns.map((c) => c[2]));
    const left = 50, right = 940, x = (v) => left + (right - left) * (last > first ? (v - first) / (last - first) : 0);
    return chart(130, `Durations of ${name}`, `Calls by host time, from ${duration(first)} to ${duration(last)}.`,
        html`${columns.map(([from, to, count]) => html`<g><title>${duration(from)} to ${duration(to)}: ${plural(count, "call")}</title><rect class="busy" x="${x(from).toFixed(1)}" y="${(104 - 90 * count / most).toFixed(1)}" width="${Math.max(1, x(to) - x(from) - 1).toFixed(1)}" height="${(90 * count / most).toFixed(1)}"></rect></g>`)}
<text class="s" x="${left - 6}" y="20" text-anchor="end">${most}</text><text class="s" x="${left}" y="122">${duration(first)}</text><text class="s" x="${right}" y="122" text-anchor="end">${duration(last)}</text>`);
}

/** One bar for each stage, divided by kernel class. */
function classBars(rows) {
    const stages = [...new Set(rows.map((r) => r.stage))], row = 26, left = 250, right = 940;
    return chart(row * stages.length + 8, "Kernel classes", "Share of each kernel class in the device time of a stage.",
        html`${stages.map((stage, i) => {
            let sum = 0;
            return html`<text x="${left - 8}" y="${row * i + 18}" text-anchor="end">${(stage || "outside of stages").slice(-36)}</text>${rows.filter((r) => r.stage === stage && r.share > 0).map((r) => {
                const from = left + (right - left) * sum;
                sum += r.share;
                return html`<g><title>${r.kernel_class}: ${percent(r.share)}, ${duration(r.total_ms)}</title><rect class="k${classNumber(r.kernel_class)}" x="${from.toFixed(1)}" y="${row * i + 4}" width="${((right - left) * r.share).toFixed(1)}" height="${row - 6}"></rect></g>`;
            })}`;
        })}`);
}

/** A few values in order, as a small line. */
function sparkline(values) {
    if (!values || values.length < 3) return html``;
    const most = Math.max(...values), least = Math.min(...values);
    const y = (v) => (most > least ? 15 - 13 * (v - least) / (most - least) : 8);
    const step = 80 / (values.length - 1);
    return html`<svg class="spark" viewBox="0 0 80 16" role="img" aria-label="${values.length} durations, ${duration(least)} to ${duration(most)}"><polyline points="${values.map((v, i) => `${(i * step).toFixed(1)},${y(v).toFixed(1)}`).join(" ")}"></polyline></svg>`;
}

// SPDX-License-Identifier: Apache-2.0
// Text of the page: escaped markup, numbers, Markdown of the headline.
"use strict";

/** Markup that needs no escaping. */
class Markup {
    constructor(text) { this.text = text; }
    toString() { return this.text; }
}

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escapeText(value) {
    if (value instanceof Markup) return value.text;
    if (Array.isArray(value)) return value.map(escapeText).join("");
    if (value === null || value === undefined || value === false) return "";
    return String(value).replace(/[&<>"']/g, (letter) => ESCAPES[letter]);
}

/** Tagged template: each value is escaped unless it is markup already. */
function html(parts, ...values) {
    return new Markup(parts.reduce((text, part, i) => text + escapeText(values[i - 1]) + part));
}

/** Four significant digits, at most six decimals; unknown values are a dash. */
function number(value, digits = 4) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (Number.isInteger(value)) return String(value);
    const size = Math.abs(value);
    let decimals = 0;
    while (decimals < 6 && size < 10 ** (digits - 1 - decimals) * (1 - 0.5 * 10 ** -digits)) decimals++;
    return value.toFixed(decimals);
}

const percent = (share, digits = 4) => (share === null || share === undefined ? "–" : `${number(100 * share, digits)} %`);

/** What follows a number of a sampled run: " ± 0.3", or its limits where one is much farther away; "": no interval. */
function interval(value, limits, show = number) {
    if (!limits || limits[0] === null || limits[1] === null || !(limits[1] > limits[0])) return "";
    const below = value - limits[0], above = limits[1] - value, half = Math.max(below, above);
    return half <= 1.25 * Math.min(below, above) ? ` ± ${show(half, 2)}` : ` (${show(limits[0])}–${show(limits[1])})`;
}

function bytes(value) {
    if (value === null || value === undefined) return "–";
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = 0;
    while (value >= 1024 && unit < units.length - 1) { value /= 1024; unit++; }
    return `${number(value)} ${units[unit]}`;
}

/** Duration in the unit that suits it, with its interval if there is one. */
function duration(ms, digits = 4, limits = null) {
    if (ms === null || ms === undefined) return "–";
    const size = Math.abs(ms);
    const [unit, factor] = size >= 1000 ? ["s", 1e-3] : size >= 0.1 || size === 0 ? ["ms", 1] : size >= 1e-3 ? ["µs", 1e3] : ["ns", 1e6];
    return `${number(ms * factor, digits)}${interval(ms * factor, limits && limits.map((limit) => limit * factor))} ${unit}`;
}

/** A line of Markdown with `code`, **bold** and escaped characters. */
const span = (line) => line.split(/(`[^`]*`|\*\*[^*]*\*\*)/).map((part) =>
    part.startsWith("`") ? html`<code>${part.slice(1, -1)}</code>`
        : part.startsWith("**") ? html`<strong>${part.slice(2, -2)}</strong>`
            : html`${part.replace(/\\([\\`*_{}[\]()#+.!|<>~-])/g, "$1")}`);

const LINES = [["items", /^ *- (.*)/], ["rows", /^\|(.*)\|$/], ["title", /^#+ (.*)/]];

/** Blocks of Markdown: {items}, {rows}, {title}, {line}. */
function markdownBlocks(lines) {
    const blocks = [];
    for (const line of lines) {
        const [kind, pattern] = LINES.find((entry) => entry[1].test(line)) || ["line", /(.*)/], text = line.match(pattern)[1];
        const before = blocks[blocks.length - 1];
        if (!line.trim()) blocks.push({});
        else if (before && before[kind] && kind !== "line") before[kind].push(text);
        else blocks.push({ [kind]: [text] });
    }
    return blocks;
}

/** Paragraphs, lists and headings of report.md; its tables are made by `rows`, else left out. */
const markdown = (lines, rows = () => "") => markdownBlocks(lines).map((block, i) =>
    block.items ? html`<ul>${block.items.map((item) => html`<li>${span(item)}</li>`)}</ul>`
        : block.rows ? rows(block.rows, i) : block.title ? html`<h3>${span(block.title[0])}</h3>` : block.line ? html`<p>${span(block.line[0])}</p>` : "");

/** Value at a path such as "wall_ms/mean". */
function at(row, path) {
    let value = row;
    for (const word of path.split("/")) value = value === null || value === undefined ? undefined : value[word];
    return value;
}

/** Lists of rows by key, in the order in which the keys come first. */
function groupBy(rows, key) {
    const groups = new Map();
    for (const row of rows) {
        if (!groups.has(key(row))) groups.set(key(row), []);
        groups.get(key(row)).push(row);
    }
    return groups;
}

const GENERIC = /^(binary|[ab]?unary|gpu|gpu_index)$/i;

/** What a generic kernel computes, from its full name: "Fill" of elementwise kernels of PyTorch, the name of a CUTLASS kernel; "": not known. */
function computes(kernel) {
    if (!/^(void )?(at::native|cutlass)::/.test(kernel || "")) return "";
    const found = [...kernel.matchAll(/\b(cutlass_\w+)|(\w+?)_kernel(?:_cuda|_impl)?[<(](?=at::|float|double|c10)|CUDAFunctor(?:OnSelf|OnOther)?_(\w+)|(\w+?)_?[Ff]unctor\b|(\w+)Ops</g)];
    return found.map((match) => match.slice(1).find(Boolean)).find((word) => !GENERIC.test(word) && !kernel.includes(`::${word}_kernel<`)) || "";
}

/** A name without its numbers: "LLM@layer*". */
const withoutNumbers = (name) => name.replace(/\d+/g, "*");

/** Last label of a path. */
const last = (path) => (path || "").split("/").pop();

/** Last label of a path without its class of stages. */
const shortName = (path) => last(path).replace(/^[^@]*@/, "");

/** "1 call", "2 calls". */
const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

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
function number(value) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (Number.isInteger(value)) return String(value);
    const size = Math.abs(value);
    let decimals = 0;
    while (decimals < 6 && size < 10 ** (3 - decimals) * (1 - 0.5e-4)) decimals++;
    return value.toFixed(decimals);
}

const percent = (share) => (share === null || share === undefined ? "–" : `${number(100 * share)} %`);

function bytes(value) {
    if (value === null || value === undefined) return "–";
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = 0;
    while (value >= 1024 && unit < units.length - 1) { value /= 1024; unit++; }
    return `${number(value)} ${units[unit]}`;
}

/** Duration in the unit that suits it. */
function duration(ms) {
    if (ms === null || ms === undefined) return "–";
    const size = Math.abs(ms);
    if (size >= 1000) return `${number(ms / 1000)} s`;
    if (size >= 0.1 || size === 0) return `${number(ms)} ms`;
    return size >= 1e-3 ? `${number(ms * 1e3)} µs` : `${number(ms * 1e6)} ns`;
}

/** A line of Markdown with `code`, **bold** and escaped characters. */
const span = (line) => line.split(/(`[^`]*`|\*\*[^*]*\*\*)/).map((part) =>
    part.startsWith("`") ? html`<code>${part.slice(1, -1)}</code>`
        : part.startsWith("**") ? html`<strong>${part.slice(2, -2)}</strong>`
            : html`${part.replace(/\\([\\`*_{}[\]()#+.!|<>~-])/g, "$1")}`);

/** Lines of report.md: paragraphs and lists. */
function markdown(lines) {
    const blocks = [];
    for (const line of lines) {
        const item = line.startsWith("- ");
        if (!line.trim()) continue;
        if (item && blocks.length && blocks[blocks.length - 1].items) blocks[blocks.length - 1].items.push(line.slice(2));
        else blocks.push(item ? { items: [line.slice(2)] } : { line });
    }
    return blocks.map((block) => block.items
        ? html`<ul>${block.items.map((item) => html`<li>${span(item)}</li>`)}</ul>`
        : html`<p>${span(block.line)}</p>`);
}

/** Value at a path such as "wall_ms/mean". */
function at(row, path) {
    let value = row;
    for (const word of path.split("/")) value = value === null || value === undefined ? undefined : value[word];
    return value;
}

/** Last label of a path. */
const last = (path) => (path || "").split("/").pop();

/** "1 call", "2 calls". */
const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

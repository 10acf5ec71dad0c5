// SPDX-License-Identifier: Apache-2.0
// Tables: sorted by a click, long ones folded, rows that contain other rows, CSV.
"use strict";

/** Rows of a long table before a click; data.top changes it. */
let rowsShown = 15;
const tables = {};

/** Column of numbers of metrics.json: `metric` is the path within the row. */
const column = (title, metric, show = number) => ({ title, metric, show, value: (row) => at(row, metric) });
/** Column of text. */
const words = (title, value, code = false) => ({ title, value, code, words: true });

/**
 * A table with an id. Rows are objects; `pointer(row)` is where it stands in metrics.json, `children(row)` gives the rows that
 * fold into it, `anchor(row)` an id for links.
 */
function table(id, columns, rows, options = {}) {
    if (rows.length === 0) return html`<p class="note">${options.none || "None."}</p>`;
    tables[id] = { id, columns, rows, options, sort: null, all: false, open: new Set() };
    return html`<div class="tools"><button data-csv="${id}">CSV</button></div>
<div class="scroll"><table id="table-${id}"><caption>${options.caption || ""}</caption>
<thead><tr>${columns.map((c, i) => html`<th class="${c.words ? "t" : "n"}" data-metric="${c.metric || ""}"><button data-sort="${id} ${i}">${c.title}</button></th>`)}</tr></thead>
<tbody>${tableRows(tables[id])}</tbody></table></div>`;
}

function cell(column, row, depth, table) {
    const value = column.value(row);
    if (!column.words)
        return html`<td class="n"><data value="${value === undefined || value === null ? "null" : value}">${column.show(value)}</data></td>`;
    const children = depth === 0 && column === table.columns[0] && table.options.children && table.options.children(row);
    const fold = children && children.length > 0
        ? html`<button class="fold" data-fold="${table.id} ${table.rows.indexOf(row)}" aria-expanded="${table.open.has(row)}">${table.open.has(row) ? "▾" : "▸"}</button> ` : "";
    const text = column.code && !(value instanceof Markup) ? html`<code>${value}</code>` : html`${value === null || value === undefined ? "–" : value}`;
    return html`<td class="t${depth ? " inner" : ""}">${fold}${text}</td>`;
}

function tableRow(table, row, depth) {
    const { pointer, anchor } = table.options;
    const where = pointer ? pointer(row) : null;
    return html`<tr${where ? html` data-row="${where}"` : ""}${anchor && depth === 0 && anchor(row) ? html` id="${anchor(row)}"` : ""}>${table.columns.map((c) => cell(c, row, depth, table))}</tr>
`;
}

function order(a, b) {
    const unknown = (value) => value === null || value === undefined;
    if (unknown(a) || unknown(b)) return unknown(a) - unknown(b);
    return typeof a === "number" ? b - a : String(a).localeCompare(String(b));
}

const rowText = (table, row) => table.columns.filter((c) => c.words).map((c) => String(c.value(row) || "")).join(" ").toLowerCase();

function tableRows(table, search = "") {
    const children = table.options.children || (() => []);
    let rows = table.rows;
    if (search) rows = rows.filter((row) => [row, ...children(row)].some((r) => rowText(table, r).includes(search)));
    if (table.sort) {
        const { index, down } = table.sort;
        const value = table.columns[index].value;
        rows = [...rows].sort((a, b) => (down ? 1 : -1) * order(value(a), value(b)));
    }
    const most = table.options.most || rowsShown;
    const shown = table.all || search ? rows : rows.slice(0, most);
    const lines = shown.map((row) => [tableRow(table, row, 0),
        table.open.has(row) ? children(row).map((child) => tableRow(table, child, 1)) : ""]);
    const rest = rows.length - shown.length;
    if (rest > 0) lines.push(html`<tr class="more"><td colspan="${table.columns.length}"><button data-all="${table.id}">Show all ${rows.length} rows</button></td></tr>`);
    return html`${lines}`;
}

function csv(table) {
    const field = (value) => {
        const text = value === null || value === undefined ? "" : String(value);
        // A spreadsheet would compute a text that looks like a formula.
        const safe = typeof value === "string" && /^[=+\-@]/.test(text) ? `'${text}` : text;
        return /[",\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
    };
    const lines = [table.columns.map((c) => field(c.title)).join(",")];
    for (const row of table.rows) lines.push(table.columns.map((c) => field(c.value(row))).join(","));
    return `${lines.join("\n")}\n`;
}

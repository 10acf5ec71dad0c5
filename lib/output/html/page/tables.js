// SPDX-License-Identifier: Apache-2.0
// Tables: sorted by a click, long ones folded, rows that contain other rows, links to rows, CSV.
"use strict";

/** Rows of a long table before a click; data.top changes it. */
let rowsShown = 15;
const tables = {};

/** Column of numbers of metrics.json: `metric` is the path within the row, which may have its interval. */
const column = (title, metric, show = number) => ({ title, metric, show, value: (row) => at(row, metric), limits: (row) => row.intervals && row.intervals[metric] });
/** Column of numbers that the page computes. */
const computed = (title, value, show = number) => ({ title, value, show });
/** Column of text. */
const words = (title, value, code = false) => ({ title, value, code, words: true });

/**
 * A table with an id. Rows are objects; `pointer(row)` is where it stands in metrics.json, `children(row)` gives the rows that
 * fold into it, `key(row)` a text by which links find it.
 */
function table(id, columns, rows, options = {}) {
    if (rows.length === 0) return html`<p class="note">${options.none || "None."}</p>`;
    tables[id] = { id, columns, rows, options, sort: null, all: false, open: new Set() };
    return html`<div class="tools"><button data-csv="${id}" title="Download as CSV">CSV</button></div>
<div class="scroll"><table id="table-${id}"${columns.some((c) => c.title) ? "" : html` class="pairs"`}><caption>${options.caption || ""}</caption>
${columns.some((c) => c.title) ? html`<thead><tr>${columns.map((c, i) => html`<th class="${c.words ? "t" : "n"}" data-metric="${c.metric || ""}"><button data-sort="${id} ${i}">${c.title}</button></th>`)}</tr></thead>` : ""}
<tbody>${tableRows(tables[id])}</tbody></table></div>`;
}

function cell(column, row, depth, table) {
    const value = column.value(row);
    if (!column.words)
        return column.text ? html`<td class="n">${column.text(row)}</td>` : html`<td class="n"><data value="${value === undefined || value === null ? "null" : value}">${column.show(value)}</data>${column.limits ? interval(value, column.limits(row), column.show) : ""}</td>`;
    const children = depth === 0 && column === table.columns[0] && childrenOf(table, row);
    const fold = children && children.length > 0
        ? html`<button class="fold" data-fold="${table.id} ${table.rows.indexOf(row)}" aria-expanded="${table.open.has(row)}">${table.open.has(row) ? "▾" : "▸"}</button> ` : "";
    const text = column.text ? column.text(row) : column.code && !(value instanceof Markup) ? html`<code>${value}</code>` : html`${value === null || value === undefined ? "–" : value}`;
    return html`<td class="t${column.code ? " c" : typeof value === "string" && value.length > 40 ? " l" : ""}${depth ? " inner" : ""}">${fold}${text}</td>`;
}

const childrenOf = (table, row) => (table.options.children ? table.options.children(row) : []);

function tableRow(table, row, depth) {
    const { pointer, key } = table.options;
    const where = pointer ? pointer(row) : null, name = key ? key(row) : null;
    return html`<tr${where ? html` data-row="${where}"` : ""}${name ? html` data-key="${name}"` : ""}>${table.columns.map((c) => cell(c, row, depth, table))}</tr>
`;
}

function order(a, b) {
    const unknown = (value) => value === null || value === undefined || Number.isNaN(value);
    if (unknown(a) || unknown(b)) return unknown(a) - unknown(b);
    return typeof a === "number" ? b - a : String(a).localeCompare(String(b));
}

const rowText = (table, row) => table.columns.filter((c) => c.words).map((c) => String(c.value(row) || "")).join(" ").toLowerCase();

function tableRows(table, search = "") {
    let rows = table.rows;
    if (search) rows = rows.filter((row) => [row, ...childrenOf(table, row)].some((r) => rowText(table, r).includes(search)));
    if (table.sort) {
        const { index, down } = table.sort;
        const value = table.columns[index].value;
        rows = [...rows].sort((a, b) => (down ? 1 : -1) * order(value(a), value(b)));
    }
    const most = table.options.most || rowsShown;
    const shown = table.all || search ? rows : rows.slice(0, most);
    const lines = shown.map((row) => [tableRow(table, row, 0),
        table.open.has(row) ? childrenOf(table, row).map((child) => tableRow(table, child, 1)) : ""]);
    const rest = rows.length - shown.length;
    if (rest > 0) lines.push(html`<tr class="more"><td colspan="${table.columns.length}"><button data-all="${table.id}">Show all ${rows.length} rows</button></td></tr>`);
    return html`${lines}`;
}

/** Columns that a row has a value in. */
const withValues = (columns, rows) => columns.filter((c) => rows.some((row) => { const value = c.value(row); return value !== null && value !== undefined; }));

/** Make the row with a key one that is shown. Returns false if there is none. */
function unfold(table, key) {
    const has = (row) => table.options.key(row) === key;
    const row = table.rows.find(has) || table.rows.find((r) => childrenOf(table, r).some(has));
    if (!row) return false;
    if (!has(row)) table.open.add(row);
    table.all = table.all || table.rows.indexOf(row) >= (table.options.most || rowsShown) || table.sort !== null;
    return true;
}

/** Link to a row. */
const rowLink = (id, key, text) => html`<a href="#table-${id}" data-go="${key}">${text}</a>`;

/** A table of report.md: numbers are sorted as such. */
function markdownTable(id, [head, rules, ...lines]) {
    const cells = (line) => line.split(/(?<!\\)\|/).map((text) => text.trim());
    const numeric = cells(rules).map((rule) => rule.endsWith(":"));
    const plain = (text) => span(text).join("").replace(/<[^>]*>/g, "");
    return table(id, cells(head).map((title, i) => ({ title: plain(title), words: !numeric[i], text: (row) => html`${span(row[i] || "")}`,
        value: (row) => (numeric[i] && !Number.isNaN(parseFloat(row[i])) ? parseFloat(row[i]) : row[i] || null) })), lines.map(cells), { most: 30, key: (row) => (row[0].match(/`([^`]*)`/) || [null, plain(row[0])])[1] });
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

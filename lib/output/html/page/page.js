// SPDX-License-Identifier: Apache-2.0
// The page: header, sections, and what happens on a click.
"use strict";

const LISTS = ["stages", "regions", "operators", "kernels", "kernel_classes", "kernel_roofline", "kernel_shapes", "ncu_kernels", "waterfall", "iterations", "metrics", "recommendations", "notes"];

const FIRST_SCREEN = ["waterfall", "advice"];

/** Everything inside <body>, from the data of the page. */
function renderReport(data) {
    const { metrics, usual } = data;
    const verdict = html`<div class="verdict${usual ? "" : " bad"}">${markdown(data.verdict)}</div>`;
    const shown = data.sections.map(([id, title, lines]) => ({ id, title, body: sectionBody(data, id, lines) })).filter(({ body }) => body !== null);
    const section = ({ id, title, body }) => html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${body}</section>
`;
    const isFirst = ({ id }) => FIRST_SCREEN.includes(id);
    return html`<header><h1>${data.title}</h1><p class="note">Tier ${metrics.tier}${metrics.created_at ? `, ${metrics.created_at}` : ""}${metrics.run_id ? html`, run <code>${metrics.run_id}</code>` : ""}</p>
${usual ? "" : verdict}<div class="headline">${lead(data.headline)}</div>${tiles(data)}</header>
<nav aria-label="Sections"><div>${shown.map((s) => html`<a href="#${s.id}">${s.title}</a> `)}</div><input type="search" id="search" placeholder="Search names" aria-label="Search names"></nav>
<main><div class="columns">${shown.filter(isFirst).map(section)}</div>${usual ? verdict : ""}${shown.filter((s) => !isFirst(s)).map(section)}</main>`.text;
}

function redraw(id) {
    const found = tables[id], body = document.querySelector(`#table-${CSS.escape(id)} tbody`);
    if (body) body.innerHTML = tableRows(found, document.getElementById("search").value.trim().toLowerCase()).text;
}

function sortTable(id, index, head) {
    const found = tables[id], down = !(found.sort && found.sort.index === index && found.sort.down);
    found.sort = { index, down };
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    redraw(id);
}

/** Show and mark the row that a link is about. */
function goTo(id, key) {
    if (!tables[id] || !unfold(tables[id], key)) return;
    document.getElementById("search").value = "";
    redraw(id);
    const row = document.querySelector(`#table-${CSS.escape(id)} tr[data-key="${CSS.escape(key)}"]`);
    document.querySelectorAll("tr.found").forEach((other) => other.classList.remove("found"));
    row.classList.add("found");
    row.scrollIntoView({ block: "center" });
}

function download(name, text) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
}

function onClick(event, timeline) {
    const link = event.target.closest("a[data-go]");
    if (link) { event.preventDefault(); goTo(link.hash.slice("#table-".length), link.dataset.go); }
    const button = event.target.closest("button");
    if (!button) return;
    const { sort, fold, all, csv: table, jump } = button.dataset;
    if (sort) { const [id, index] = sort.split(" "); sortTable(id, Number(index), button.closest("th")); }
    if (fold) {
        const [id, index] = fold.split(" "), row = tables[id].rows[Number(index)];
        if (!tables[id].open.delete(row)) tables[id].open.add(row);
        redraw(id);
    }
    if (all) { tables[all].all = true; redraw(all); }
    if (table) download(`${table}.csv`, csv(tables[table]));
    if (jump && timeline) timeline.showCall(jump);
}

const render = (data) => (data.compare ? renderCompare(data.compare) : renderReport(data));

/** Does a kept call hold what is read from it? Run files come from anywhere. */
function isCall(call) {
    const lists = [call.streams, call.names, call.regions, call.classes];
    return Number.isFinite(call.begin_ns) && Array.isArray(call.events) && lists.every((list) => Array.isArray(list) && list.every((text) => typeof text === "string")) &&
        call.events.every((event) => Array.isArray(event) && event.length === 6 && event.every(Number.isFinite) && event.slice(2).every((n, i) => n in lists[i]));
}

function readData(text) {
    const data = JSON.parse(text);
    if (data.compare) return data;
    data.kept = data.calls.filter(({ call }) => call && isCall(call)).map(({ stage, rank, call }) => ({ ...call, rank, region: data.metrics.iterations[stage].region }));
    Object.assign(PART_NAMES, data.parts);
    smallPart = data.small_part;
    rowsShown = data.top || rowsShown;
    for (const name of LISTS) data.metrics[name] = data.metrics[name] || []; // null: unknown
    return data;
}

function start(document) {
    const data = readData(document.getElementById("data").textContent);
    document.getElementById("page").innerHTML = render(data);
    const canvas = document.getElementById("timeline");
    const timeline = canvas ? new Timeline(canvas, document.getElementById("timeline-text"), data.metrics, data.kept) : null;
    document.addEventListener("click", (event) => onClick(event, timeline));
    document.getElementById("search").addEventListener("input", () => Object.keys(tables).forEach(redraw));
    window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
}

if (typeof document !== "undefined") start(document);

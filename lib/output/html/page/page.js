// SPDX-License-Identifier: Apache-2.0
// The page: header, sections, and what happens on a click.
"use strict";

const VERDICT_GOOD = ["complete", "sampled"];

const LISTS = ["stages", "regions", "operators", "kernels", "kernel_classes", "kernel_roofline", "kernel_shapes", "ncu_kernels", "waterfall", "iterations", "metrics", "recommendations", "notes"];

/** Sections in the order of report.md, with its titles; what it does not have comes before the sums. */
function inOrder(sections, places) {
    const place = (id) => places.findIndex(([known]) => known === id), rest = place("aggregates-section") - 0.5;
    return sections.map((s) => ({ ...s, place: place(s.id) < 0 ? rest : place(s.id) }))
        .map((s) => (s.place === rest ? s : { ...s, title: places[s.place][1] })).sort((a, b) => a.place - b.place);
}

/** Everything inside <body>, from the data of the page. */
function renderReport(data) {
    const { metrics } = data;
    const sections = inOrder([...SECTIONS, ...otherSections(data)], data.sections).filter((s) => !s.member || (Array.isArray(metrics[s.member]) ? metrics[s.member].length : metrics[s.member]));
    const good = VERDICT_GOOD.includes(metrics.ledger.verdict), verdict = html`<div class="verdict${good ? "" : " bad"}">${markdown(data.verdict)}</div>
`;
    const body = sections.map((section) => html`<section aria-labelledby="${section.id}"><h2 id="${section.id}">${section.title}</h2>
${section.device && data.withheld ? html`<p>Withheld: too much of the work is missing.</p>` : section.show(data)}${good && section.id === "advice" ? verdict : ""}</section>
`);
    return html`<header><h1>${data.title}</h1><p class="note">Tier ${metrics.tier}, ${metrics.created_at}, run <code>${metrics.run_id}</code></p>
${good ? "" : verdict}<div class="headline">${markdown(data.headline)}</div></header>
<nav aria-label="Sections">${sections.map((s) => html`<a href="#${s.id}">${s.title}</a> `)}<input type="search" id="search" placeholder="Search names" aria-label="Search names"></nav>
<main>${body}</main>`.text;
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

function download(name, text) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
}

function onClick(event, timeline) {
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
    data.kept = data.calls.filter(({ call }) => call && isCall(call)).map(({ stage, call }) => ({ ...call, region: data.metrics.iterations[stage].region }));
    Object.assign(PART_NAMES, data.parts);
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

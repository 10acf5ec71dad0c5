// SPDX-License-Identifier: Apache-2.0
// The first screen: outcome, tiles, where the time of the main stage goes, the first advice.
"use strict";

const FIRST_ADVICE = 3;

const tile = (value, name, more) => (value === null || value === undefined ? "" : html`<div class="tile"><strong>${value}</strong><span>${name}</span><small>${more || ""}</small></div>
`);

const VERDICTS = { complete: "Complete", sampled: "Sampled", incomplete: "Incomplete", dead: "No records", no_device: "No device" };

function verdictTile({ metrics, main, withheld }) {
    const { ledger, profiler_cost: cost } = metrics, own = main && cost && cost.stages.find((row) => row.region === main.path);
    const seen = { complete: `record of ${number(ledger.kernels_seen)} kernels`, sampled: `record of ${percent(ledger.sampled_fraction, 3)} of the work` };
    if (withheld && metrics.ncu_kernels.length > 0) return tile("Partial", "record", "what ncu was asked to measure");
    return tile(VERDICTS[ledger.verdict] || ledger.verdict, seen[ledger.verdict] || "record", own && own.share >= 0.001 ? `profiling cost ${percent(own.share, 2)} of a call` : "");
}

/** MBU, or MFU where that limits. */
function useTile(stage, limit) {
    const mbu = stage.mbu_elapsed === null ? stage.mbu : stage.mbu_elapsed, mfu = stage.mfu_elapsed === null ? stage.mfu : stage.mfu_elapsed;
    if (mbu === null && mfu === null) return "";
    const compute = mbu === null || (limit === "compute" && mfu !== null);
    return compute ? tile(percent(mfu, 3), "of peak FLOP/s (MFU)", mbu === null ? "" : `${percent(mbu, 3)} of bandwidth (MBU)`)
        : tile(percent(mbu, 3), "of memory bandwidth (MBU)", mfu === null ? "" : `${percent(mfu, 3)} of peak FLOP/s (MFU)`);
}

function ncuTiles({ metrics }) {
    const [first] = metrics.ncu_kernels;
    if (!first) return "";
    const limits = first.sm_percent === null ? "" : `SM ${number(first.sm_percent, 3)} % of its peak${first.memory_percent === null ? "" : `, memory ${number(first.memory_percent, 3)} %`}`;
    return html`${tile(duration(first.duration_ms, 3), `a call of ${first.short_name || last(first.region)}`, first.share === null ? "" : `${percent(first.share, 3)} of the time that ncu measured`)}
${tile(first.bound, "limits it", limits)}${first.occupancy_percent === null ? "" : tile(`${number(first.occupancy_percent, 3)} %`, "occupancy", `${number(first.occupancy_limit_percent, 3)} % possible`)}`;
}

/** What adds most to the lower bound of the main stage, and what limits it as a whole. */
function lossTile({ metrics, main }) {
    const fall = metrics.waterfall.find((row) => row.region === main.path), parts = fall ? fall.parts.filter((part) => !["bound", "profiler"].includes(part.part)) : [];
    const limit = main.limit ? `; limited by ${main.limit}` : "";
    if (parts.length === 0) return main.limit ? tile(main.limit, "limits it") : "";
    const most = parts.reduce((a, b) => (b.adds_ms > a.adds_ms ? b : a)), profiler = fall.parts.find((part) => part.part === "profiler");
    if (profiler && profiler.adds_ms > most.adds_ms)
        return tile(percent(profiler.adds_ms / fall.elapsed_ms, 3), partName(profiler), `more than any part of the program; ${partName(most)} ${percent(most.adds_ms / fall.elapsed_ms, 3)}`);
    return tile(percent(most.adds_ms / fall.elapsed_ms, 3), partName(most), fall.parts.some((part) => part.part === "bound") ? `largest loss${limit}` : `largest part${limit}`);
}

/** Tokens/s of the main stage, else of decoding, else of another one. */
function rateTile({ metrics, main }) {
    const rates = metrics.stages.filter((row) => row.tokens_per_s > 0), first = (is) => rates.find(is);
    const stage = first((row) => row.path === main.path) || first((row) => /@decode_step$|^found@decode$/.test(row.label)) || rates[0];
    return stage ? tile(`${number(stage.tokens_per_s, 3)}${interval(stage.tokens_per_s, stage.intervals && stage.intervals.tokens_per_s)}`, "tokens/s", shortName(stage.path)) : "";
}

const IDLE = { idle_launch_ms: "waiting for launches", idle_wait_ms: "in gaps between kernels", idle_host_ms: "while the host did not launch" };

/** Without a stage: the GPU that is busiest. */
function deviceTiles({ metrics, withheld }) {
    const devices = (metrics.devices || []).filter((row) => row.span_ms > 0 && row.busy_ms !== null);
    if (withheld || devices.length === 0) return "";
    const most = devices.reduce((a, b) => (b.busy_ms > a.busy_ms ? b : a)), idle = Object.keys(IDLE).reduce((a, b) => (most[b] > most[a] ? b : a));
    return html`${tile(percent(most.busy_ms / most.span_ms, 3), `GPU ${most.device} busy`, `${duration(most.busy_ms, 3)} of ${duration(most.span_ms, 3)} from the first to the last work`)}
${most[idle] > 0 ? tile(percent(most[idle] / most.span_ms, 3), IDLE[idle], `${duration(most[idle], 3)}`) : ""}`;
}

/** The numbers of the main stage. */
function tiles(data) {
    const { metrics, main } = data, rows = main ? metrics.stages.filter((row) => row.path === main.path) : [];
    const stage = rows.find((row) => row.process_id === main.process_id && row.device === main.device), name = main && shortName(main.path);
    if (!stage) return html`<div class="tiles">${ncuTiles(data)}${deviceTiles(data)}${verdictTile(data)}</div>`;
    const where = rows.length > 1 ? `GPU ${stage.device}, one of ${rows.length}` : "";
    const bound = main.bound_ms > 0 ? `${number(stage.wall_ratio === null ? stage.time_ms / main.bound_ms : stage.wall_ratio, 3)}x its lower bound of ${duration(main.bound_ms, 3)}` : "lower bound unknown";
    return html`<div class="tiles">${rateTile(data)}
${tile(duration(stage.time_ms, 3, stage.intervals && stage.intervals.time_ms), `a call of ${name}`, bound)}
${main.busy_share === null || main.busy_share > 1.005 ? "" : tile(percent(Math.min(1, main.busy_share), 3), "GPU busy", where || `idle ${percent(1 - Math.min(1, main.busy_share), 3)} of the time`)}
${useTile(stage, main.limit)}${lossTile(data)}${verdictTile(data)}</div>`;
}

/** Where the time of what ncu measured goes. */
function ncuBars(rows) {
    const sums = rows.filter((row) => row.duration_ms > 0).map((row) => ({ ...row, total_ms: row.duration_ms * row.results })).sort((a, b) => b.total_ms - a.total_ms).slice(0, 12);
    if (sums.length === 0) return "";
    return html`<figure>${bars("Time of what ncu measured", sums.map((row) => ({ name: row.short_name || `range ${last(row.region)}`, title: `${row.region || "outside of regions"}${row.bound ? `, limited by ${row.bound}` : ""}`,
        segments: [{ from: 0, to: row.total_ms / sums[0].total_ms, style: "busy" }], text: html`${duration(row.total_ms, 3)} <small>${row.bound || ""}</small>` })))}</figure>`;
}

function waterfallSection({ metrics, main, withheld, sections }) {
    if (metrics.ncu_kernels.length > 0 && (withheld || metrics.waterfall.length === 0)) return ncuBars(metrics.ncu_kernels);
    if (withheld) return html`<p>Withheld: too much of the work is missing.</p>`;
    const isMain = (fall) => main && fall.region === main.path;
    const time = (fall) => fall.elapsed_ms * (metrics.iterations.find((row) => row.region === fall.region) || { count: 1 }).count;
    const falls = [...metrics.waterfall].sort((a, b) => isMain(b) - isMain(a) || time(b) - time(a));
    if (falls.length === 0) return html`${classesOf(metrics)}${markdown(sections.find(([id]) => id === "waterfall")[2])}`;
    const isLarge = (fall, i) => i === 0 || (i === 1 && time(fall) > 0.4 * time(falls[0]));
    return html`${falls.map((fall, i) => html`<details${isLarge(fall, i) ? new Markup(" open") : ""}><summary><code>${fall.region}</code>: ${duration(fall.elapsed_ms, 3)} of elapsed time a call</summary><figure>${waterfall(fall)}</figure></details>`)}`;
}

/** What following an advice would give. */
function gain(advice, metrics) {
    const stages = metrics.stages.filter((row) => row.path === advice.region), stage = stages.length === 1 ? stages[0] : null;
    if (!(advice.saving_ms > 0)) return "";
    const rate = advice.mended_tokens_per_s > 0 ? `${stage && stage.tokens_per_s ? `${number(stage.tokens_per_s, 3)} → ` : ""}${number(advice.mended_tokens_per_s, 3)} tokens/s` : "";
    if (!(advice.saving_call_ms > 0)) return html`<strong class="saving">saves up to ${duration(advice.saving_ms, 3)}${advice.once ? " once per process start" : ""}${rate ? `: ${rate}` : ""}</strong>`;
    const of = stage && stage.time_ms ? ` of ${duration(stage.time_ms, 3)}` : "";
    return html`<strong class="saving">saves up to ${duration(advice.saving_call_ms, 3)}${of} a call${rate ? `: ${rate}` : ""}</strong> <small>(${duration(advice.saving_ms, 3)} in this run)</small>`;
}

/** Rows that an advice is about: [table, key, text]. */
function rowsOf({ region, evidence }, { metrics, sections, times }) {
    const links = [], under = `${region}/`, name = last(region);
    const add = (rows, is, table, key, text) => { if ((rows || []).some(is)) links.push([table, key, text]); };
    const stage = metrics.iterations.findIndex((row) => row.region === region), operator = metrics.regions.find((row) => row.label === evidence.operator && row.path.startsWith(under));
    add(metrics.stages, (row) => row.path === region, "stages", region, `stage ${name}`);
    add(metrics.regions, (row) => row.path === region && row.kind !== "stage", "operators", region, `region ${name}`);
    const folded = operator && withoutNumbers(operator.path), alone = metrics.regions.filter((row) => row.kind !== "stage" && withoutNumbers(row.path) === folded).length === 1;
    if (operator) links.push(["operators", alone ? operator.path : folded, `operator ${evidence.operator}`]);
    for (const kernel of [evidence.kernel, evidence.copy].filter(Boolean)) add(metrics.kernels, (row) => row.short_name === kernel, "kernels", kernel, `kernel ${kernel}`);
    if (evidence.top_class) add(metrics.kernel_classes, (row) => row.kernel_class === evidence.top_class && row.stage === name, "classes", `${name} ${evidence.top_class}`, `class ${evidence.top_class}`);
    const measured = evidence.kernel_ms && metrics.ncu_kernels.find((row) => row.duration_ms === evidence.kernel_ms);
    if (measured) links.push(["ncu-kernels", measured.short_name || measured.region, "what ncu measured"]);
    for (const part of ["idle_launch", "idle_wait", "idle_host"])
        if (evidence[`${part}_share`] && stage >= 0 && metrics.iterations[stage].count > 1) links.push([`iterations-${stage}`, part, times[`${part}_ms`]]);
    for (const call of [evidence.host_call, evidence.memory_call].filter(Boolean)) add(metrics.host_calls, (row) => row.call === call, "host_calls", call, `host call ${call}`);
    if (evidence.waiting_share) add(metrics.ranks, (row) => row.region === region, "ranks", region, "GPUs that work together");
    if (evidence.collective_share) add(metrics.collectives, (row) => row.region.startsWith(region), "collectives", region, "Collectives");
    return links.filter(([table]) => !["host_calls", "ranks", "collectives"].includes(table) || sections.some(([id, , lines]) => id === `${table}-section` && lines.length > 1));
}

function adviceItem(advice, data) {
    const links = rowsOf(advice, data).map(([table, key, text]) => rowLink(table, key, text));
    const tail = gain(advice, data.metrics);
    return html`<li><span class="severity ${advice.severity}">${advice.severity}</span>${tail ? html` ${tail}` : ""}<br>${span(advice.text)}${links.length ? html`<br><small>Rows: ${links.map((link, i) => [i ? ", " : "", link])}</small>` : ""}</li>
`;
}

function adviceSection(data) {
    const rows = data.metrics.recommendations, rest = rows.slice(FIRST_ADVICE);
    if (rows.length === 0) return html`<p>Nothing to recommend from the numbers of this run.</p>`;
    return html`<ol class="advice">${rows.slice(0, FIRST_ADVICE).map((row) => adviceItem(row, data))}</ol>${rest.length ? html`<details><summary>${rest.length} more</summary><ol class="advice" start="${FIRST_ADVICE + 1}">${rest.map((row) => adviceItem(row, data))}</ol></details>` : ""}`;
}

/** The sentences about the main stage; the others are in the section of stages. */
function lead(lines) {
    const end = lines.findIndex((line) => line.startsWith("- "));
    return markdown(end < 0 ? lines : lines.slice(0, end));
}

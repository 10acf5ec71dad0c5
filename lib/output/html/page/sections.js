// SPDX-License-Identifier: Apache-2.0
// Sections of the report, from the members of metrics.json.
"use strict";

/** Said of a list that the page does not hold in full. */
const cutNote = (data, list) => (data.cut[list] ? ` The page has the ${data.metrics[list].length} longest of ${data.cut[list]}; metrics.json has all.` : "");
const regionWords = (title = "Region", key = "path") => words(title, (row) => row[key] || "outside of regions", true);
const STAGE_COLUMNS = [
    regionWords("Stage"), column("GPU", "device"), column("Calls", "instances"), column("Collected", "collected_instances"),
    words("Clock", (row) => (row.clock === "gpu" ? "GPU time" : "host time")), column("Time ms", "time_ms"),
    column("Host ms", "wall_ms/mean"), column("host p50", "wall_ms/p50"), column("host p95", "wall_ms/p95"), column("host p99", "wall_ms/p99"),
    column("Tokens", "tokens"), column("Tokens/s", "tokens_per_s"), column("GPU busy ms", "gpu_busy_ms"), column("Kernels", "kernel_count"), column("Idle ms", "idle_ms"),
];
const USE_COLUMNS = [
    regionWords(), column("Lower bound ms", "time_floor_ms"), words("Bound", (row) => row.bound), column("Busy / bound", "floor_ratio"),
    column("Time / bound", "wall_ratio"), column("MBU", "mbu_elapsed", percent), column("while busy", "mbu", percent), column("MFU", "mfu_elapsed", percent),
    column("while busy", "mfu", percent), column("TFLOP/s", "achieved_tflops"), column("GB/s", "achieved_gbs"),
];
/** What a sampled run says of all calls. */
const estimated = (rows, metric = "estimate/total") => (rows.some((row) => typeof at(row, metric) === "number")
    ? [{ ...column("All calls ms", metric), limits: (row) => row.estimate && [row.estimate.low, row.estimate.high] }] : []);
/** Estimates of several rows together: half widths add up, as those of the parts of a waterfall. */
function sumEstimates(rows) {
    const known = rows.every((row) => row.estimate && row.estimate.total !== null), sum = (key) => rows.reduce((total, row) => total + row.estimate[key], 0);
    return known ? { total: sum("total"), low: sum("low"), high: sum("high") } : undefined;
}
const indexed = (name, metrics) => (row) => `/${name}/${metrics[name].indexOf(row)}`;

function stagesSection({ metrics, headline }) {
    return html`${markdown(headline.filter((line) => line.startsWith("- ")))}${table("stages", [...STAGE_COLUMNS, ...estimated(metrics.stages).map((c) => ({ ...c, title: "busy in all calls ms" }))], metrics.stages, { pointer: indexed("stages", metrics), key: (row) => row.path, most: 30,
        caption: "Host time is that of a call, from begin to end of its region. Times of the GPU belong to the collected calls.", none: "No region of a stage was opened." })}`;
}

/** Text of a section of report.md without its tables. */
const prose = (sections, id) => html`<div class="note">${markdown(sections.find(([known]) => known === id)[2].filter((line) => !/^#|more rows in metrics.json/.test(line)))}</div>`;

/** Stages; the operators of each fold into it. */
function useSection({ metrics, sections }) {
    const known = metrics.regions.filter((row) => row.time_floor_ms !== null || row.mbu !== null || row.mfu !== null);
    const stages = known.filter((row) => row.kind === "stage"), isAlone = (row) => !stages.some((stage) => row.path.startsWith(`${stage.path}/`));
    const inner = (stage) => known.filter((row) => row.kind !== "stage" && row.stage === stage.label && row.path.startsWith(`${stage.path}/`) && row.device === stage.device && row.process_id === stage.process_id);
    const points = stages.map((row) => ({ ...row, name: `${row.path}${metrics.devices && metrics.devices.length > 1 ? ` on GPU ${row.device}` : ""}`, style: "point" }))
        .concat(metrics.kernel_roofline.map((row) => ({ ...row, name: row.short_name, style: "kernel" })));
    return html`${roofline(metrics.hardware, points)}${table("utilisation", USE_COLUMNS, stages.concat(known.filter((row) => row.kind !== "stage" && isAlone(row))),
        { pointer: indexed("regions", metrics), key: (row) => row.path, children: (row) => (row.kind === "stage" ? inner(row) : []), most: 30, none: "Unknown: FLOPs and bytes, or the peaks of the GPU, are not known." })}${prose(sections, "roofline")}`;
}

/** Regions with a number in their name, such as layers, folded into one row with its spread. */
function foldNumbers(rows, key, time) {
    return [...groupBy(rows, (row) => withoutNumbers(key(row)))].map(([name, members]) => {
        const times = members.map(time).filter((t) => t !== null && t !== undefined);
        return { name: members.length > 1 ? name : key(members[0]), members, least: times.length ? Math.min(...times) : null, most: times.length ? Math.max(...times) : null,
            total: times.length ? times.reduce((a, b) => a + b, 0) : null };
    }).sort((a, b) => b.total - a.total);
}

function operatorsSection(data) {
    const { metrics } = data;
    const rows = metrics.regions.filter((row) => row.kind !== "stage");
    const groups = foldNumbers(rows, (row) => row.path, (row) => row.gpu_busy_ms);
    return table("operators", [
        words("Operator", (row) => row.name || row.path || "outside of regions", true), computed("Regions", (row) => (row.members ? row.members.length : 1)),
        computed("Calls", (row) => (row.members ? row.members.reduce((n, r) => n + r.instances, 0) : row.instances)),
        computed("GPU busy ms", (row) => (row.members ? row.total : row.gpu_busy_ms)), computed("Least", (row) => (row.members ? row.least : null)), computed("Most", (row) => (row.members ? row.most : null)),
        computed("Kernels", (row) => (row.members ? row.members.reduce((n, r) => n + r.kernel_count, 0) : row.kernel_count)),
    ], groups, { children: (group) => (group.members && group.members.length > 1 ? group.members : []), key: (row) => row.path || row.name, caption: `Regions that differ in a number, such as layers, are one row; open it to see each.${cutNote(data, "regions")}`, none: "No operator regions were opened." });
}

/** A kernel with what it computes, or a region that launched it; the full names on hover. */
function kernelCell(row) {
    const members = row.members || [row], kinds = [...groupBy(members, (m) => computes(m.kernel_name))].filter(([kind]) => kind)
        .map(([kind, rows]) => [kind, rows.reduce((n, m) => n + m.total_ms, 0)]).sort((a, b) => b[1] - a[1]);
    const total = members.reduce((n, m) => n + m.total_ms, 0), some = kinds.slice(0, 3).map(([kind, ms]) => (kinds.length > 1 ? `${kind} ${percent(ms / total, 2)}` : kind));
    const names = [...new Set(members.map((m) => m.kernel_name))];
    return html`<code title="${names.slice(0, 8).join("\n")}${names.length > 8 ? `\nand ${names.length - 8} more` : ""}">${row.name || `${row.region || "outside of regions"}${row.captured_in ? ` captured in ${row.captured_in}` : ""}`}</code>${some.length ? html` <small>${some.join(", ")}${kinds.length > 3 ? ", …" : ""}</small>` : ""}`;
}

function kernelsSection(data) {
    const { metrics, kept } = data;
    const sum = (rows, key) => rows.reduce((n, row) => n + (row[key] || 0), 0);
    const rows = [...groupBy(metrics.kernels, (row) => row.short_name)].map(([name, members]) => ({ name, members, total_ms: sum(members, "total_ms"), calls: sum(members, "calls"), share: sum(members, "share"),
        min_ms: Math.min(...members.map((m) => m.min_ms)), max_ms: Math.max(...members.map((m) => m.max_ms)), estimate: sumEstimates(members), kernel_class: members[0].kernel_class }))
        .sort((a, b) => b.total_ms - a.total_ms);
    const series = keptDurations(kept);
    return table("kernels", [
        { ...words("Kernel", (row) => row.name || row.region, true), text: kernelCell },
        words("Class", (row) => row.kernel_class), column("Calls", "calls"), column("Total ms", "total_ms"), column("Share", "share", percent), ...estimated(metrics.kernels),
        computed("Mean ms", (row) => row.total_ms / row.calls), column("Min ms", "min_ms"), column("Max ms", "max_ms"), column("p50", "p50_ms"), column("p99", "p99_ms"),
        words("In one call", (row) => (row.name ? sparkline(series.get(row.name)) : "")),
    ], rows, { children: (row) => row.members || [], key: (row) => row.name, caption: `By name, with one row inside for each region that launched it.${cutNote(data, "kernels")}` });
}

function keptDurations(kept) {
    const series = new Map();
    for (const call of kept)
        for (const [, length, , name] of call.events) {
            const values = series.get(call.names[name]) || [];
            if (values.length < 120) values.push(length / 1e6);
            series.set(call.names[name], values);
        }
    return series;
}

/** The three numbers of grid and block as one text. */
const size = (row, name) => (row[`${name}_x`] === null ? null : ["x", "y", "z"].map((axis) => row[`${name}_${axis}`]).join(" × "));

/** The product or attention that a kernel computes, from the model. */
function productOf(row) {
    const letters = ["m", "n", "k", "batch", "heads", "length"].filter((letter) => row[letter] > 0);
    return row.model_operator ? `${row.model_operator}${letters.length ? `: ${letters.map((letter) => `${letter} ${row[letter]}`).join(", ")}` : ""}` : null;
}

function shapesSection({ metrics }) {
    return table("kernel-shapes", withValues([
        words("Kernel", (row) => row.short_name || row.kernel_name, true), regionWords("Region", "region"), words("Grid", (row) => size(row, "grid")), words("Block", (row) => size(row, "block")),
        column("Registers", "registers"), column("Calls", "calls"), column("Total ms", "total_ms"), column("Mean ms", "mean_ms"), words("Computes", productOf), column("TFLOP/s", "tflops"), column("GB/s", "gbs"), column("Achievable ms", "achievable_ms"),
    ], metrics.kernel_shapes), metrics.kernel_shapes, { pointer: indexed("kernel_shapes", metrics) });
}

function iterationsSection({ metrics, times }) {
    return html`${metrics.iterations.filter((stage) => stage.count > 1).map((stage) => {
        const index = metrics.iterations.indexOf(stage), rows = Object.keys(times).filter((name) => stage[name]).map((name) => ({ name, ...stage[name] }));
        return html`<h3><code>${stage.region}</code>, ${plural(stage.count, "call")}</h3>${stage.wall_histogram.length > 1 ? html`<figure>${histogram(stage.region, stage.wall_histogram)}</figure>` : ""}${table(`iterations-${index}`, [
            words("Time of a call", (row) => times[row.name]), column("Calls", "count"), column("Mean ms", "mean"), ...estimated(rows, "estimate/mean"), column("Std ms", "std"), column("Min", "min"), column("p50", "p50"), column("p95", "p95"), column("p99", "p99"), column("Max", "max"),
        ], rows, { pointer: (row) => `/iterations/${index}/${row.name}`, key: (row) => row.name.replace(/_ms$/, "") })}`;
    })}`;
}

function classesSection({ metrics }) {
    if (metrics.kernel_classes.length === 0) return html`<p class="note">Unknown: no device work was recorded.</p>`;
    return html`${classesOf(metrics)}
${table("classes", [words("Stage", (row) => row.stage, true), words("Class", (row) => row.kernel_class), column("Calls", "calls"), column("Total ms", "total_ms"), column("Share", "share", percent)], metrics.kernel_classes, { pointer: indexed("kernel_classes", metrics), key: (row) => `${row.stage} ${row.kernel_class}` })}`;
}

/** What ncu measured of each kernel, and of each range that it measured as a whole. */
function ncuSection({ metrics }) {
    const limit = (title, key) => column(title, `${key}_percent`);
    return table("ncu-kernels", withValues([
        words("Kernel", (row) => row.short_name || "whole range", true), regionWords("Region", "region"), column("Calls", "results"),
        computed("Mean us", (row) => (row.duration_ms === null ? null : row.duration_ms * 1e3)), column("Share", "share", percent), words("Bound", (row) => row.bound),
        limit("SM %", "sm"), limit("Memory %", "memory"), column("DRAM GB/s", "dram_gbs"), limit("L1 hit %", "l1_hit"), limit("L2 hit %", "l2_hit"), limit("Occupancy %", "occupancy"),
        limit("Theoretical %", "occupancy_limit"), column("Registers", "registers"), column("Waves", "waves"), words("Warps wait for", (row) => row.stalls),
    ], metrics.ncu_kernels), metrics.ncu_kernels, { pointer: indexed("ncu_kernels", metrics), key: (row) => row.short_name || row.region, most: 25,
        caption: "Means over the measured calls. Share: of the time of all kernels that ncu measured. Bound: by the thresholds of ncu's Speed of Light rule." });
}

const STALL_COLUMNS = [
    words("Kernel", (row) => row.short_name, true), regionWords("Region", "region"), words("Reason", (row) => row.reason), words("The warp waits for", (row) => row.meaning),
    column("Samples", "samples"), column("Share of the kernel", "share", percent),
];

/** Why warps of kernels wait, and where. */
function stallsSection({ metrics }) {
    const place = words("Instruction", (row) => row.source || `offset 0x${row.offset.toString(16)}`, true);
    return html`${table("stalls", STALL_COLUMNS, metrics.stalls, { pointer: indexed("stalls", metrics), most: 25, caption: "Samples of some calls of each region, nested regions included; regions do not add up." })}<h3>Hot instructions</h3>
${table("hot-instructions", [STALL_COLUMNS[0], STALL_COLUMNS[1], place, ...STALL_COLUMNS.slice(2)], metrics.hot_instructions, { pointer: indexed("hot_instructions", metrics), most: 25 })}`;
}

/** Values of hardware counters: one row for each kernel or region and metric. */
function countersSection({ metrics }) {
    return table("counters", [
        words("Kernel or region", (row) => row.kernel || row.region, true), words("Metric", (row) => row.name, true), words("Group", (row) => row.group),
        column("Mean", "mean"), words("Unit", (row) => row.unit || row.text), column("Count", "count"),
    ], metrics.metrics.filter((row) => !/^(device__attribute_|launch__|c2clink__|pcie__|nvlrx__|nvltx__|numa__)/.test(row.name)), { pointer: indexed("metrics", metrics), most: 25 });
}

/** Sections that the page shows in its own way; the others are those of report.md, which has the order and titles of all. */
const SECTIONS = {
    advice: { show: adviceSection },
    waterfall: { show: waterfallSection },
    "further-advice": null, // in the two before
    "further-waterfalls": null,
    "ncu-section": { show: ncuSection, member: "ncu_kernels" },
    "timeline-section": { show: ({ metrics, kept }) => timelineMarkup(metrics, kept), device: true },
    "stages-section": { show: stagesSection },
    roofline: { show: useSection, device: true },
    iterations: { show: iterationsSection, member: "iterations" },
    "classes-section": { show: classesSection },
    "operators-section": { show: operatorsSection },
    "kernels-section": { show: kernelsSection, member: "kernels" },
    shapes: { show: shapesSection, member: "kernel_shapes" },
    "stalls-section": { show: stallsSection, member: "stalls" },
    "counters-section": { show: countersSection, member: "metrics" },
};

/** A section of report.md: its text and its tables. */
function plainSection(id, lines) {
    let count = 0;
    const name = id.replace(/-section$/, "");
    return markdown(lines, (rows) => markdownTable(count++ ? `${name}-${count}` : name, rows));
}

/** What a section shows; null: it has nothing. */
function sectionBody(data, id, lines) {
    const own = SECTIONS[id], member = own && own.member ? data.metrics[own.member] : true;
    if (own === null || !member || member.length === 0) return null;
    if (!own) return lines.some((line) => line.trim()) ? plainSection(id, lines) : null;
    return own.device && data.withheld ? html`<p>Withheld: too much of the work is missing.</p>` : own.show(data);
}

// SPDX-License-Identifier: Apache-2.0
// Sections of the report, from the members of metrics.json.
"use strict";

/** Said of a list that the page does not hold in full. */
const cutNote = (data, list) => (data.cut[list] ? ` The page has the ${data.metrics[list].length} longest of ${data.cut[list]}; metrics.json has all.` : "");
const regionId = (path) => `region-${encodeURIComponent(path || "")}`;
const regionWords = (title = "Region", key = "path") => words(title, (row) => row[key] || "outside of regions", true);
const severityOrder = ["high", "medium", "low"];

function adviceItem(advice) {
    const gain = advice.mended_tokens_per_s ? `: ${number(advice.mended_tokens_per_s)} tokens/s` : "";
    const saving = advice.saving_ms === null || advice.saving_ms === undefined ? ""
        : html` <strong class="saving">saves up to ${duration(advice.saving_ms)}${gain}</strong>`;
    const link = advice.region ? html` <a href="#${regionId(advice.region)}">${last(advice.region)}</a>` : "";
    return html`<li><span class="severity ${advice.severity}">${advice.severity}</span>${saving}. ${span(advice.text)}${link}</li>`;
}

function adviceSection({ metrics }) {
    const rows = metrics.recommendations;
    if (rows.length === 0) return html`<p>Nothing to recommend from the numbers of this run.</p>`;
    const rest = rows.slice(3);
    return html`<ol class="advice">${rows.slice(0, 3).map(adviceItem)}</ol>${rest.length ? html`<details><summary>${rest.length} more</summary><ol class="advice" start="4">${rest.map(adviceItem)}</ol></details>` : ""}`;
}

function waterfallSection({ metrics }) {
    const falls = [...metrics.waterfall].sort((a, b) => stageTime(metrics, b) - stageTime(metrics, a));
    if (falls.length === 0) return html`<p class="note">Unknown: no call of a stage has device times.</p>`;
    return html`${falls.map((fall, i) => html`<details${i === 0 ? new Markup(" open") : ""}><summary><code>${fall.region}</code>: ${duration(fall.elapsed_ms)} of elapsed time a call</summary><figure>${waterfall(fall)}</figure></details>`)}`;
}

function stageTime(metrics, fall) {
    const stage = metrics.iterations.find((row) => row.region === fall.region);
    return fall.elapsed_ms * (stage ? stage.count : 1);
}

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
const indexed = (name, metrics) => (row) => `/${name}/${metrics[name].indexOf(row)}`;

function stagesSection({ metrics }) {
    return table("stages", STAGE_COLUMNS, metrics.stages, { pointer: indexed("stages", metrics), anchor: (row) => (metrics.stages.find((r) => r.path === row.path) === row ? regionId(row.path) : null), most: 30,
        caption: "Host time is that of a call, from begin to end of its region. Times of the GPU belong to the collected calls.", none: "No region of a stage was opened." });
}

function useSection({ metrics }) {
    const rows = metrics.regions.filter((row) => row.time_floor_ms !== null || row.mbu !== null || row.mfu !== null);
    const points = metrics.regions.filter((row) => row.kind === "stage").map((row) => ({ ...row, name: row.path, style: "point" }))
        .concat(metrics.kernel_roofline.map((row) => ({ ...row, name: row.short_name, style: "kernel" })));
    return html`${roofline(metrics.hardware, points)}${table("utilisation", USE_COLUMNS, rows, { pointer: indexed("regions", metrics), none: "Unknown: FLOPs and bytes, or the peaks of the GPU, are not known." })}`;
}

/** Regions with a number in their name, such as layers, folded into one row with its spread. */
function foldNumbers(rows, key, time) {
    const groups = new Map();
    for (const row of rows) {
        const name = key(row).replace(/\d+/g, "*");
        if (!groups.has(name)) groups.set(name, []);
        groups.get(name).push(row);
    }
    return [...groups].map(([name, members]) => {
        const times = members.map(time).filter((t) => t !== null && t !== undefined);
        return { name: members.length > 1 ? name : key(members[0]), members, least: times.length ? Math.min(...times) : null, most: times.length ? Math.max(...times) : null,
            total: times.length ? times.reduce((a, b) => a + b, 0) : null };
    }).sort((a, b) => b.total - a.total);
}

function operatorsSection(data) {
    const { metrics } = data;
    const rows = metrics.regions.filter((row) => row.kind !== "stage");
    const groups = foldNumbers(rows, (row) => row.path, (row) => row.gpu_busy_ms);
    const inner = (name, value) => ({ title: name, show: number, value });
    return table("operators", [
        words("Operator", (row) => row.name || row.path || "outside of regions", true), inner("Regions", (row) => (row.members ? row.members.length : 1)),
        inner("Calls", (row) => (row.members ? row.members.reduce((n, r) => n + r.instances, 0) : row.instances)),
        inner("GPU busy ms", (row) => (row.members ? row.total : row.gpu_busy_ms)), inner("Least", (row) => (row.members ? row.least : null)), inner("Most", (row) => (row.members ? row.most : null)),
        inner("Kernels", (row) => (row.members ? row.members.reduce((n, r) => n + r.kernel_count, 0) : row.kernel_count)),
    ], groups, { children: (group) => (group.members && group.members.length > 1 ? group.members : []), caption: `Regions that differ in a number, such as layers, are one row; open it to see each.${cutNote(data, "regions")}`, none: "No operator regions were opened." });
}

function kernelsSection(data) {
    const { metrics, kept } = data;
    const groups = new Map();
    for (const row of metrics.kernels) {
        if (!groups.has(row.short_name)) groups.set(row.short_name, []);
        groups.get(row.short_name).push(row);
    }
    const sum = (rows, key) => rows.reduce((n, row) => n + (row[key] || 0), 0);
    const rows = [...groups].map(([name, members]) => ({ name, members, total_ms: sum(members, "total_ms"), calls: sum(members, "calls"), share: sum(members, "share"),
        min_ms: Math.min(...members.map((m) => m.min_ms)), max_ms: Math.max(...members.map((m) => m.max_ms)), kernel_class: members[0].kernel_class }))
        .sort((a, b) => b.total_ms - a.total_ms);
    const series = keptDurations(kept);
    return table("kernels", [
        words("Kernel", (row) => row.name || html`<span title="${row.kernel_name}">${row.region || "outside of regions"}${row.captured_in ? ` captured in ${row.captured_in}` : ""}</span>`, true),
        words("Class", (row) => row.kernel_class), column("Calls", "calls"), column("Total ms", "total_ms"), column("Share", "share", percent),
        { title: "Mean ms", show: number, value: (row) => row.total_ms / row.calls }, column("Min ms", "min_ms"), column("Max ms", "max_ms"), column("p50", "p50_ms"), column("p99", "p99_ms"),
        words("In one call", (row) => (row.name ? sparkline(series.get(row.name)) : "")),
    ], rows, { children: (row) => row.members || [], caption: `By name, with one row inside for each region that launched it.${cutNote(data, "kernels")}` });
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

const SIZES = { grid: ["grid_x", "grid_y", "grid_z"], block: ["block_x", "block_y", "block_z"] };

/** Shapes of kernels; the three numbers of grid and block are one column each. */
function shapesSection({ metrics }) {
    const rows = metrics.kernel_shapes.map((row) => {
        const shown = { kernel: row.short_name || row.kernel_name || row.kernel_name_raw, region: row.region };
        for (const [name, keys] of Object.entries(SIZES)) shown[name] = row[keys[0]] === null ? null : keys.map((key) => row[key]).join(" × ");
        const taken = new Set([...Object.values(SIZES).flat(), "kernel_name_raw", "kernel_name", "short_name", "device", "others"]);
        for (const [key, value] of Object.entries(row)) if (!taken.has(key)) shown[key] = value;
        return shown;
    });
    return autoTable("kernel-shapes", rows, null);
}

const ITERATION_TIMES = ["elapsed_ms", "wall_ms", "busy_ms", "before_ms", "idle_launch_ms", "idle_host_ms", "idle_wait_ms", "after_ms"];

function iterationsSection({ metrics }) {
    return html`${metrics.iterations.filter((stage) => stage.count > 1).map((stage) => {
        const index = metrics.iterations.indexOf(stage), rows = ITERATION_TIMES.filter((name) => stage[name]).map((name) => ({ name, ...stage[name] }));
        return html`<h3><code>${stage.region}</code>, ${plural(stage.count, "call")}</h3>${stage.wall_histogram.length > 1 ? html`<figure>${histogram(stage.region, stage.wall_histogram)}</figure>` : ""}${table(`iterations-${index}`, [
            words("Time of a call", (row) => row.name.replace(/_ms$/, "").replace(/_/g, " ")), column("Calls", "count"), column("Mean ms", "mean"), column("Std ms", "std"), column("Min", "min"), column("p50", "p50"), column("p95", "p95"), column("p99", "p99"), column("Max", "max"),
        ], rows, { pointer: (row) => `/iterations/${index}/${row.name}` })}`;
    })}`;
}

function classesSection({ metrics }) {
    if (metrics.kernel_classes.length === 0) return html`<p class="note">Unknown: no device work was recorded.</p>`;
    return html`<figure>${classBars(metrics.kernel_classes)}${legend([...new Set(metrics.kernel_classes.map((r) => r.kernel_class))])}</figure>
${table("classes", [words("Stage", (row) => row.stage, true), words("Class", (row) => row.kernel_class), column("Calls", "calls"), column("Total ms", "total_ms"), column("Share", "share", percent)], metrics.kernel_classes, { pointer: indexed("kernel_classes", metrics) })}`;
}

/** What ncu measured of each kernel, and of each range that it measured as a whole. */
function ncuSection({ metrics }) {
    const limit = (title, key) => column(title, `${key}_percent`);
    return table("ncu-kernels", [
        words("Kernel", (row) => row.short_name || "whole range", true), regionWords("Region", "region"), column("Calls", "results"),
        { title: "Mean us", show: number, value: (row) => (row.duration_ms === null ? null : row.duration_ms * 1e3) }, column("Share", "share", percent), words("Bound", (row) => row.bound),
        limit("SM %", "sm"), limit("Memory %", "memory"), column("DRAM GB/s", "dram_gbs"), limit("L1 hit %", "l1_hit"), limit("L2 hit %", "l2_hit"), limit("Occupancy %", "occupancy"),
        limit("Theoretical %", "occupancy_limit"), column("Registers", "registers"), column("Waves", "waves"), words("Warps wait for", (row) => row.stalls),
    ], metrics.ncu_kernels, { pointer: indexed("ncu_kernels", metrics), most: 25,
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
        { title: "Mean", show: number, value: (row) => row.mean }, words("Unit", (row) => row.unit || row.text), column("Count", "count"),
    ], metrics.metrics.filter((row) => !/^(device__attribute_|launch__|c2clink__|pcie__|nvlrx__|nvltx__|numa__)/.test(row.name)), { pointer: indexed("metrics", metrics), most: 25 });
}

/** Any rows, one column for each member that is a number or a text. */
function autoTable(id, rows, pointer) {
    if (!Array.isArray(rows) || rows.length === 0) return html`<p class="note">None.</p>`;
    const keys = Object.keys(rows[0]).filter((key) => rows.some((row) => row[key] !== null && typeof row[key] !== "object"));
    const isText = (key) => rows.some((row) => typeof row[key] === "string");
    const title = (key) => key.replace(/_/g, " ").replace(/^./, (letter) => letter.toUpperCase());
    return table(id, keys.map((key) => (isText(key) ? words(title(key), (row) => row[key], /name|region|path|kernel/.test(key))
        : column(title(key), key, /_share$|^share$/.test(key) ? percent : number))), rows, { pointer: pointer ? (row) => `${pointer}/${rows.indexOf(row)}` : null });
}

/** Members of an object as a table of two columns. */
function facts(id, object, pointer) {
    const rows = [];
    const walk = (value, path) => {
        if (value !== null && typeof value === "object" && !Array.isArray(value)) Object.entries(value).forEach(([key, inner]) => walk(inner, [...path, key]));
        else if (value !== null && !Array.isArray(value)) rows.push({ path: path.join("/"), value });
    };
    walk(object, []);
    return table(id, [words("What", (row) => row.path.replace(/_/g, " ").replace(/\//g, ", ")), { title: "Value", words: true, value: (row) => (typeof row.value === "number" ? html`<data value="${row.value}">${number(row.value)}</data>` : row.value) }],
        rows, { most: 60, pointer: null });
}

function requestsSection({ metrics }) {
    const requests = metrics.requests;
    const spreads = Object.entries(requests).filter(([, value]) => value && typeof value === "object" && !Array.isArray(value) && "p50" in value).map(([name, value]) => ({ name, ...value }));
    const single = Object.fromEntries(Object.entries(requests).filter(([name]) => !spreads.some((row) => row.name === name)));
    return html`${spreads.length ? table("request-times", [words("Time", (row) => row.name.replace(/_/g, " ")), ...Object.keys(spreads[0]).filter((key) => typeof spreads[0][key] !== "object" && key !== "name").map((key) => column(key, key))], spreads, { pointer: (row) => `/requests/${row.name}` }) : ""}
${facts("requests", single)}${Object.entries(requests).filter(([, value]) => Array.isArray(value) && value.length).map(([name, value]) => html`<h3>${name.replace(/_/g, " ")}</h3>${autoTable(`requests-${name}`, value, `/requests/${name}`)}`)}`;
}

const ledgerSection = ({ metrics }) => facts("ledger", metrics.ledger, "/ledger");
const environmentSection = ({ environment }) => facts("environment", environment);
const notesSection = ({ metrics }) => html`<ul>${metrics.notes.map((note) => html`<li>${note}</li>`)}<li>A dash marks an unknown value; metrics.json has the reason. Percentiles are within 2 %.</li></ul>`;

/** Their order and titles are those of report.md. */
const SECTIONS = [
    { id: "advice", show: adviceSection },
    { id: "waterfall", show: waterfallSection, device: true },
    { id: "ncu-section", show: ncuSection, member: "ncu_kernels" },
    { id: "timeline-section", show: ({ metrics, kept }) => timelineMarkup(metrics, kept), device: true },
    { id: "stages-section", show: stagesSection },
    { id: "requests-section", show: requestsSection, member: "requests" },
    { id: "roofline", show: useSection, device: true },
    { id: "iterations", show: iterationsSection, member: "iterations" },
    { id: "classes-section", show: classesSection },
    { id: "operators-section", show: operatorsSection },
    { id: "kernels-section", show: kernelsSection, member: "kernels" },
    { id: "shapes", show: shapesSection, member: "kernel_shapes" },
    { id: "stalls-section", show: stallsSection, member: "stalls" },
    { id: "counters-section", show: countersSection, member: "metrics" },
    { id: "ledger-section", show: ledgerSection },
    { id: "environment-section", show: environmentSection },
    { id: "notes", show: notesSection },
];
/** Members that have a section of their own or need none. */
const KNOWN = new Set(["recommendations", "regions", "stages", "operators", "kernels", "kernel_roofline", "kernel_classes", "kernel_shapes", "waterfall", "iterations", "requests", "stalls", "hot_instructions",
    "ncu_kernels", "metrics", "ledger", "notes", "hardware", "software", "model", "windows", "captures"]);

/** Tables of everything else in metrics.json. */
function otherSections({ metrics }) {
    const filled = (value) => value !== null && typeof value === "object" && (Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0);
    return Object.entries(metrics).filter(([name, value]) => !KNOWN.has(name) && filled(value)).map(([name, value]) => ({
        id: `${name}-section`, title: name.replace(/_/g, " ").replace(/^./, (letter) => letter.toUpperCase()),
        show: () => (Array.isArray(value) ? autoTable(name, value, `/${name}`) : html`${facts(name, value)}${Object.entries(value).filter(([, inner]) => Array.isArray(inner) && inner.length && typeof inner[0] === "object")
            .map(([key, inner]) => html`<h3>${key.replace(/_/g, " ")}</h3>${autoTable(`${name}-${key}`, inner, `/${name}/${key}`)}`)}`),
    }));
}

// SPDX-License-Identifier: Apache-2.0
// Timeline on a canvas: calls of stages over the run, and the kernels of the calls whose events were kept. One axis for all:
// zooming into such a call shows its kernels. Wheel or + and - zoom, dragging or the arrow keys pan, 0 shows everything.
"use strict";

const LANE_HEIGHT = 22, LANE_GAP = 6, LABEL_MOST = 190, AXIS_HEIGHT = 22;
const laneTop = (index) => AXIS_HEIGHT + index * (LANE_HEIGHT + LANE_GAP);

/** Lanes of items {start, length (ns), text, style}, from calls of stages and from kept events. */
function timelineLanes(metrics, kept) {
    const lanes = [];
    for (const stage of metrics.iterations) {
        const items = stage.recent.map((call) => ({
            start: call.begin_ns, length: 1e6 * (call.wall_ms || 0), busy: call.busy_ms === null ? null : call.busy_ms / call.wall_ms,
            text: `${stage.region}, call ${call.sequence}: host time ${duration(call.wall_ms)}, elapsed ${duration(call.elapsed_ms)}, GPU busy ${duration(call.busy_ms)}${call.tokens ? `, ${call.tokens} tokens` : ""}`,
            style: "stage",
        })).filter((item) => item.length > 0).sort((a, b) => a.start - b.start);
        const earlier = stage.count - items.length;
        if (items.length) lanes.push({ name: last(stage.region), title: stage.region, items, collected: earlier > 0 ? [[items[0].start, Infinity]] : null,
            note: `${stage.region}: the page has the last ${plural(items.length, "call")} of ${stage.count}` });
    }
    for (const [key, { items, collected }] of keptLanes(kept, metrics)) lanes.push({ name: key, title: key, items, collected, note: `${key}: kernels of this time were not kept` });
    return withHatching(lanes);
}

/** Where the calls or kernels of a lane were not kept it is hatched: white means that there was nothing. */
function withHatching(lanes) {
    const all = lanes.flatMap((lane) => lane.items), first = all.reduce((least, item) => Math.min(least, item.start), Infinity);
    const end = all.reduce((most, item) => Math.max(most, item.start + item.length), 0);
    for (const lane of lanes.filter((one) => one.collected)) {
        let at = first;
        for (const [from, to] of [...lane.collected, [end, end]].sort((a, b) => a[0] - b[0])) {
            if (from > at) lane.items.push({ start: at, length: from - at, text: lane.note, style: "missing" });
            at = Math.max(at, to);
        }
        lane.items.sort((a, b) => a.start - b.start);
    }
    return lanes;
}

/** Begin and end of the part of a call whose kernels are in the page. */
function collectedPart(call, metrics) {
    const kernelsEnd = call.events.reduce((most, event) => Math.max(most, event[0] + event[1]), 0);
    if (call.events_total > call.events.length) return [call.begin_ns, call.begin_ns + kernelsEnd];
    const stage = metrics.iterations.find((row) => row.region === call.region), same = stage && stage.recent.find((row) => row.sequence === call.sequence);
    return [call.begin_ns, call.begin_ns + Math.max(kernelsEnd, 1e6 * ((same && same.elapsed_ms) || 0))];
}

const isCollective = (call, event) => call.classes[event[5]] === "collective";

/** Name of the process of a call where there are several; "": there is one. */
function processName(call, kept) {
    if (kept.every((other) => other.process_id === call.process_id)) return "";
    return call.rank === null || call.rank === undefined ? `process ${call.process_id}` : `rank ${call.rank}`;
}

/** Who takes part in a collective: "rank 1 GPU 1". */
const memberOf = (call, event, kept) => `${processName(call, kept)} ${call.streams[event[2]].split(",")[0]}`.trim();

/** Processes of several hosts have different clocks: what to add to the times of each, so that the same calls begin together. */
function clockShifts(kept) {
    const shifts = new Map([[kept.length ? kept[0].clock : undefined, 0]]);
    for (const call of kept) {
        const same = kept.find((other) => shifts.has(other.clock) && other.region === call.region && other.sequence === call.sequence);
        if (!shifts.has(call.clock) && same) shifts.set(call.clock, same.begin_ns + shifts.get(same.clock) - call.begin_ns);
    }
    return shifts;
}

/**
 * By event: its collective {members: [{name, start, event}], last}, from the calls of several GPUs that have the same number: the n-th collective of
 * each is the same one.
 */
function findCollectives(kept) {
    const all = kept.flatMap((call) => {
        const counts = new Map();
        return call.events.filter((event) => isCollective(call, event)).map((event) => {
            const name = memberOf(call, event, kept), n = counts.get(name) || 0;
            counts.set(name, n + 1);
            return { name, start: call.begin_ns + event[0], event, key: `${call.region} ${call.sequence} ${n}` };
        });
    });
    const found = new Map();
    for (const members of groupBy(all, (member) => member.key).values()) {
        if (new Set(members.map((m) => m.name)).size < 2) continue;
        const last = members.reduce((a, b) => (b.start > a.start ? b : a));
        for (const member of members) found.set(member.event, { members, last });
    }
    return found;
}

/** What a collective waits for: the part of an item before the last GPU arrives. */
function waitingOf(collective, absolute, length) {
    if (!collective) return {};
    const waiting = Math.min(length, collective.last.start - absolute);
    return { waiting, arrival: waiting > 0 ? null : collective, note: waiting > 0 ? `, of it ${duration(waiting / 1e6, 3)} waiting for ${collective.last.name}` : ", arrives last" };
}

/** Kernels by GPU and stream, and above them the operators: runs of kernels of one region; by process where there are several. */
function keptLanes(calls, metrics) {
    const shifts = clockShifts(calls), kept = calls.map((call) => ({ ...call, begin_ns: call.begin_ns + (shifts.get(call.clock) || 0) }));
    const lanes = new Map(), collectives = findCollectives(kept);
    const seen = new Set(); // kernels of a call inside another one that was kept
    const parts = groupBy(kept, (call) => processName(call, kept));
    const add = (key, item, process) => {
        if (!lanes.has(key)) lanes.set(key, { items: [], collected: parts.get(process).map((call) => collectedPart(call, metrics)) });
        lanes.get(key).items.push(item);
    };
    for (const call of kept) {
        const process = processName(call, kept), name = (lane) => `${process} ${lane}`.trim();
        let band = null;
        for (const event of call.events) {
            const [start, length, stream, kernelName, region, className] = event;
            const kernel = call.names[kernelName], path = call.regions[region], absolute = call.begin_ns + start, lane = name(call.streams[stream]);
            const { waiting, arrival, note } = waitingOf(collectives.get(event), absolute, length), key = `${absolute} ${lane}`;
            if (seen.has(key)) continue;
            seen.add(key);
            if (band && band.path === path) band.item.length = absolute + length - band.item.start;
            else {
                band = { path, item: { start: absolute, length, label: shortName(path), text: path, style: "band" } };
                add(name("operators"), band.item, process);
            }
            add(lane, { start: absolute, length, label: kernel, style: `k${classNumber(call.classes[className])}`, waiting, arrival,
                text: `${process ? `${process}: ` : ""}${kernel}: ${duration(length / 1e6)}${note || ""}, ${call.classes[className]}, in ${path}` }, process);
        }
    }
    for (const { items } of lanes.values()) items.sort((a, b) => a.start - b.start);
    const place = (name) => name.replace(/\d+/g, (digits) => digits.padStart(8, "0")).replace("operators", "");
    return [...lanes].sort(([a], [b]) => place(a).localeCompare(place(b)));
}

function timelineMarkup(metrics, kept) {
    const lanes = timelineLanes(metrics, kept);
    if (lanes.length === 0) return html`<p class="note">No timeline: no call of a stage was kept.</p>`;
    const first = kept.filter((call, i) => kept.findIndex((other) => other.region === call.region) === i);
    const jumps = first.map((call) => html`<button data-jump="${kept.indexOf(call)}">A call of ${last(call.region)}</button> `);
    const together = findCollectives(kept).size > 0 ? " Striped kernels: a collective waits for the GPU that arrives last; the line shows when that is." : "";
    const clocks = new Set(kept.map((call) => call.clock)).size > 1 ? " Hosts have different clocks: the same call is drawn to begin at the same time on each." : "";
    return html`<p class="tools"><button data-jump="all">Whole run</button> ${jumps}</p>
<canvas id="timeline" tabindex="0" role="img" aria-label="Timeline of ${lanes.length} lanes; the tables below have its numbers" height="${AXIS_HEIGHT + lanes.length * (LANE_HEIGHT + LANE_GAP)}"></canvas>
<p class="note" id="timeline-text">Wheel or + and − zoom, dragging or the arrow keys pan, 0 shows everything. ${lanes.some((lane) => lane.items.some((item) => item.style === "missing")) ? "Hatched: calls or kernels are not in this page; the GPU may be busy there. " : ""}${kept.some((c) => c.events_total > c.events.length) ? "Of long calls, the first kernels are kept." : ""}${together}${clocks}</p>`;
}

class Timeline {
    constructor(canvas, text, metrics, kept) {
        this.canvas = canvas;
        this.text = text;
        this.kept = kept;
        this.lanes = timelineLanes(metrics, kept);
        const items = this.lanes.flatMap((lane) => [lane.items[0], lane.items[lane.items.length - 1]]);
        this.first = Math.min(...items.map((i) => i.start));
        this.last = Math.max(...this.lanes.map((lane) => lane.items.reduce((most, i) => Math.max(most, i.start + i.length), 0)));
        this.show(this.first, this.last);
        this.listen();
    }

    show(from, to) {
        const least = 1000, middle = (from + to) / 2, span = Math.min(Math.max(to - from, least), 1.1 * (this.last - this.first) + least);
        this.from = Math.max(this.first - 0.05 * span, Math.min(middle - span / 2, this.last + 0.05 * span - span));
        this.span = span;
        this.draw();
    }

    showCall(index) {
        if (index === "all") { this.show(this.first, this.last); return; }
        const call = this.kept[index], end = Math.max(...call.events.map((e) => e[0] + e[1]));
        this.show(call.begin_ns, call.begin_ns + end * 1.02);
    }

    x(time) { return this.labels + (this.width - this.labels) * (time - this.from) / this.span; }

    time(x) { return this.from + this.span * (x - this.labels) / (this.width - this.labels); }

    draw() {
        const canvas = this.canvas, scale = window.devicePixelRatio || 1;
        this.width = canvas.clientWidth;
        this.labels = Math.min(LABEL_MOST, 0.3 * this.width);
        this.height = AXIS_HEIGHT + this.lanes.length * (LANE_HEIGHT + LANE_GAP);
        canvas.width = this.width * scale;
        canvas.height = this.height * scale;
        canvas.style.height = `${this.height}px`;
        const context = canvas.getContext("2d"), style = getComputedStyle(canvas);
        this.colour = (name) => style.getPropertyValue(name).trim();
        context.scale(scale, scale);
        context.font = "12px system-ui, sans-serif";
        this.drawAxis(context);
        this.lanes.forEach((lane, i) => this.drawLane(context, lane, laneTop(i)));
        this.lanes.forEach((lane, i) => this.drawArrivals(context, lane, i));
    }

    /** From the GPU that arrives last in a collective to those that wait for it. */
    drawArrivals(context, lane, index) {
        context.strokeStyle = this.colour("--fg");
        for (const item of this.visible(lane)) {
            if (!item.arrival || this.x(item.start + item.length) - this.x(item.start) < 3 || this.x(item.start) < this.labels) continue;
            const others = this.lanes.map((other, i) => i).filter((i) => i !== index && this.visible(this.lanes[i]).some((o) => o.waiting > 0 && Math.abs(o.start + o.waiting - item.start) < 1));
            for (const other of others) {
                context.beginPath();
                context.moveTo(this.x(item.start), laneTop(Math.min(index, other)));
                context.lineTo(this.x(item.start), laneTop(Math.max(index, other)) + LANE_HEIGHT);
                context.stroke();
            }
        }
    }

    drawAxis(context) {
        context.fillStyle = this.colour("--soft");
        context.strokeStyle = this.colour("--line");
        const base = this.from - this.first, step = ticks(this.span, Math.max(2, Math.floor((this.width - this.labels) / 110)))[1];
        for (let time = Math.ceil(base / step) * step; time < base + this.span; time += step) {
            const x = this.x(this.first + time);
            context.beginPath();
            context.moveTo(x, AXIS_HEIGHT - 4);
            context.lineTo(x, this.height);
            context.stroke();
            const label = duration(time / 1e6);
            if (x >= this.labels && x + 3 + context.measureText(label).width < this.width) context.fillText(label, x + 3, 12);
        }
    }

    drawLane(context, lane, y) {
        context.fillStyle = this.colour("--fg");
        context.save();
        context.beginPath();
        context.rect(0, y, this.labels - 4, LANE_HEIGHT);
        context.clip();
        context.fillText(lane.name, 2, y + 15);
        context.restore();
        context.save();
        context.beginPath();
        context.rect(this.labels, 0, this.width, this.height);
        context.clip();
        let covered = -1;
        for (const item of this.visible(lane)) {
            const x0 = this.x(item.start), x1 = this.x(item.start + item.length);
            if (x1 < covered + 0.5) continue; // narrower than a pixel, next to one that is drawn
            const width = Math.max(0.7, x1 - x0 - (x1 - x0 > 3 ? 0.6 : 0));
            this.drawItem(context, item, x0, y, width);
            covered = x0 + width;
        }
        context.restore();
    }

    drawItem(context, item, x, y, width) {
        if (item.style === "missing") { this.hatch(context, x, y, width, "--soft", 0.5); return; }
        const colours = { stage: "--bar", band: "--panel2" };
        context.fillStyle = this.colour(colours[item.style] || `--c${item.style.slice(1)}`);
        context.fillRect(x, y, width, LANE_HEIGHT);
        if (item.busy > 0) {
            const height = LANE_HEIGHT * Math.min(1, item.busy);
            context.fillStyle = this.colour("--c0");
            context.fillRect(x, y + LANE_HEIGHT - height, width, height);
        }
        if (item.waiting > 0) this.hatch(context, x, y, Math.min(width, this.x(item.start + item.waiting) - x), "--bg", 2);
        if (item.label && width > 40) {
            context.fillStyle = this.colour(item.style === "band" ? "--fg" : "--on");
            context.save();
            context.beginPath();
            context.rect(x, y, width - 2, LANE_HEIGHT);
            context.clip();
            context.fillText(item.label, Math.max(x, this.labels) + 3, y + 15);
            context.restore();
        }
    }

    hatch(context, x, y, width, colour, thickness) {
        context.save();
        context.beginPath();
        context.rect(x, y, width, LANE_HEIGHT);
        context.clip();
        context.strokeStyle = this.colour(colour);
        context.lineWidth = thickness;
        for (let at = Math.max(x, this.labels) - LANE_HEIGHT; at < Math.min(x + width, this.width); at += 6) {
            context.beginPath();
            context.moveTo(at, y + LANE_HEIGHT);
            context.lineTo(at + LANE_HEIGHT, y);
            context.stroke();
        }
        context.restore();
    }

    /** Items of a lane on the screen; lanes are sorted by start and items of a lane seldom overlap. */
    visible(lane) {
        let low = 0, high = lane.items.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (lane.items[middle].start + lane.items[middle].length < this.from) low = middle + 1; else high = middle;
        }
        const end = this.from + this.span, found = [];
        for (let i = Math.max(0, low - 1); i < lane.items.length && lane.items[i].start <= end; i++) found.push(lane.items[i]);
        return found;
    }

    itemAt(x, y) {
        const index = Math.floor((y - AXIS_HEIGHT) / (LANE_HEIGHT + LANE_GAP)), lane = this.lanes[index];
        if (!lane || x < this.labels) return null;
        const time = this.time(x), slack = 2 * this.span / this.width;
        return this.visible(lane).find((item) => time >= item.start - slack && time <= item.start + item.length + slack);
    }

    zoom(factor, x = (this.width + this.labels) / 2) {
        const time = this.time(x), share = (time - this.from) / this.span, span = this.span * factor;
        this.show(time - share * span, time + (1 - share) * span);
    }

    pan(share) { this.show(this.from + share * this.span, this.from + (1 + share) * this.span); }

    listen() {
        const canvas = this.canvas, keys = { "+": () => this.zoom(0.6), "=": () => this.zoom(0.6), "-": () => this.zoom(1.6), 0: () => this.showCall("all"),
            ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2), ArrowUp: () => this.zoom(0.6), ArrowDown: () => this.zoom(1.6) };
        let drag = null;
        canvas.addEventListener("wheel", (event) => { event.preventDefault(); this.zoom(event.deltaY < 0 ? 0.75 : 1.33, event.offsetX); }, { passive: false });
        canvas.addEventListener("pointerdown", (event) => { drag = event.offsetX; canvas.setPointerCapture(event.pointerId); });
        canvas.addEventListener("pointerup", () => { drag = null; });
        canvas.addEventListener("pointermove", (event) => {
            if (drag !== null) { this.pan((drag - event.offsetX) / (this.width - this.labels)); drag = event.offsetX; return; }
            const item = this.itemAt(event.offsetX, event.offsetY);
            if (item) this.text.textContent = item.text;
        });
        canvas.addEventListener("keydown", (event) => { if (keys[event.key]) { event.preventDefault(); keys[event.key](); } });
        window.addEventListener("resize", () => this.draw());
    }
}

// SPDX-License-Identifier: Apache-2.0
// render_page.js REPORT.html: the markup that the script of the page makes, and after a line "--more--" as JSON: the CSV of each table; of each
// link to a row, whether its table shows that row after a click; the lanes of the timeline.
"use strict";
const fs = require("fs"), vm = require("vm");
const page = fs.readFileSync(process.argv[2], "utf8");
const scripts = [...page.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)];
const data = scripts.find(([, attributes]) => attributes.includes('id="data"'))[2];
const context = vm.createContext({ data });
const code = `${scripts[scripts.length - 1][2]}
const read = readData(data), markup = render(read);
const links = [...markup.matchAll(/<a href="#table-([^"]*)" data-go="([^"]*)"/g)].map(([, id, key]) => {
    const plain = key.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&#39;/g, "'").replace(/&quot;/g, '"').replace(/&amp;/g, "&");
    return [id, plain, id in tables && unfold(tables[id], plain) && tableRows(tables[id]).text.includes('data-key="' + key + '"')];
});
[markup, { csv: Object.fromEntries(Object.values(tables).map((table) => [table.id, csv(table)])), links, lanes: read.compare ? [] : timelineLanes(read.metrics, read.kept) }];`;
const [markup, more] = vm.runInContext(code, context);
process.stdout.write(`${markup}\n--more--\n${JSON.stringify(more)}\n`);

// SPDX-License-Identifier: Apache-2.0
// render_page.js REPORT.html: the markup that the script of the page makes, and the CSV of each table as JSON after a line "--csv--".
"use strict";
const fs = require("fs"), vm = require("vm");
const page = fs.readFileSync(process.argv[2], "utf8");
const scripts = [...page.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)];
const data = scripts.find(([, attributes]) => attributes.includes('id="data"'))[2];
const context = vm.createContext({ data });
const code = scripts[scripts.length - 1][2] + "\n;[render(readData(data)), Object.fromEntries(Object.values(tables).map((table) => [table.id, csv(table)]))];";
const [markup, texts] = vm.runInContext(code, context);
process.stdout.write(`${markup}\n--csv--\n${JSON.stringify(texts)}\n`);

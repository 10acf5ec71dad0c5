/* SPDX-License-Identifier: Apache-2.0 */
/* Style of report.html. The colours of classes can be distinguished with most kinds of colour
 * blindness, on light and dark pages. Nothing is shown by colour alone. */
#include "lib/output/format/html.h"

/* clang-format off */
const char lp_html_style[] =
    ":root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#57606a;--line:#d0d7de;--panel:#f6f8fa;"
    "--accent:#0b5cad;--good:#1a7f37;--bad:#b3261e;--bar:#b6d4f2;"
    "--c0:#0072b2;--c1:#e69f00;--c2:#009e73;--c3:#cc79a7;--c4:#56b4e9;--c5:#d55e00;--c6:#8a7f00;--c7:#6a51a3;"
    "--c8:#7f7f7f;--c9:#a6761d;--c10:#1b9e9e;--c11:#b0b0b0}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--soft:#9aa4af;--line:#30363d;"
    "--panel:#161b22;--accent:#6cb6ff;--good:#57ab5a;--bad:#ff8b82;--bar:#1f4e79;"
    "--c0:#4aa3df;--c1:#f0b43c;--c2:#2fc39a;--c3:#e39cc4;--c4:#8ccff5;--c5:#f58549;--c6:#c9bd3a;--c7:#a78bda;"
    "--c8:#a0a0a0;--c9:#c99a4b;--c10:#4cc7c7;--c11:#6e7681}}\n"
    "*{box-sizing:border-box}body{margin:0 auto;padding:1rem 1.25rem 3rem;max-width:76rem;background:var(--bg);"
    "color:var(--fg);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}\n"
    "h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.2rem;margin:2.2rem 0 .6rem;border-bottom:1px solid var(--line);"
    "padding-bottom:.25rem}h3{font-size:1rem;margin:1.4rem 0 .4rem}\n"
    "a{color:var(--accent)}code{font:.86em ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;"
    "overflow-wrap:anywhere}nav{font-size:.9rem}nav a{margin-right:.9rem}p.note{color:var(--soft);font-size:.88rem;margin:.4rem 0}\n"
    ".verdict{padding:.6rem .9rem;border:1px solid var(--line);border-left:.35rem solid var(--good);border-radius:.3rem;"
    "background:var(--panel)}.verdict.bad{border-left-color:var(--bad)}.verdict ul{margin:.3rem 0 0}\n"
    "ol.advice li{margin:.35rem 0}.severity{font-weight:600;text-transform:capitalize}\n"
    ".scroll{overflow-x:auto;margin:.6rem 0}table{border-collapse:collapse;font-size:.86rem;width:100%}"
    "caption{text-align:left;color:var(--soft);padding:.2rem 0}th,td{padding:.28rem .42rem;border-bottom:1px solid var(--line);"
    "text-align:left;vertical-align:top}th{background:var(--panel);vertical-align:bottom}td.n,th.n,tr[data-row] td{text-align:right;"
    "font-variant-numeric:tabular-nums;white-space:nowrap}tr[data-row] td.t{text-align:left;white-space:normal}td code{min-width:11rem;display:inline-block}\n"
    "th button{all:unset;cursor:pointer;font-weight:600}th button:focus-visible{outline:2px solid var(--accent)}"
    "th[aria-sort=ascending] button::after{content:' \\25B2'}th[aria-sort=descending] button::after{content:' \\25BC'}\n"
    "figure{margin:.8rem 0}figcaption{color:var(--soft);font-size:.88rem}svg{display:block;width:100%;height:auto;"
    "max-width:60rem}svg text{fill:var(--fg);font:12px system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif}"
    "svg text.s{fill:var(--soft);font-size:11px}svg .grid{stroke:var(--line);stroke-width:1}svg .axis{stroke:var(--soft);"
    "stroke-width:1}svg .roof{stroke:var(--fg);stroke-width:2;fill:none}svg .mark{stroke:var(--bad);stroke-width:1.5;"
    "stroke-dasharray:4 3}svg .wall{fill:var(--bar)}svg .wall.unknown{fill:none;stroke:var(--bar)}svg .busy{fill:var(--c0)}svg .point{fill:var(--accent);stroke:var(--bg);"
    "stroke-width:1.5}svg .kernel{fill:var(--c1);stroke:var(--fg);stroke-width:1}\n"
    ".k0{fill:var(--c0);background:var(--c0)}.k1{fill:var(--c1);background:var(--c1)}.k2{fill:var(--c2);background:var(--c2)}"
    ".k3{fill:var(--c3);background:var(--c3)}.k4{fill:var(--c4);background:var(--c4)}.k5{fill:var(--c5);background:var(--c5)}"
    ".k6{fill:var(--c6);background:var(--c6)}.k7{fill:var(--c7);background:var(--c7)}.k8{fill:var(--c8);background:var(--c8)}"
    ".k9{fill:var(--c9);background:var(--c9)}.k10{fill:var(--c10);background:var(--c10)}.k11{fill:var(--c11);background:var(--c11)}\n"
    "ul.legend{list-style:none;margin:.3rem 0;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;font-size:.86rem}"
    "ul.legend i{display:inline-block;width:.8em;height:.8em;margin-right:.4em;border-radius:.15em;"
    "-webkit-print-color-adjust:exact;print-color-adjust:exact}ol.points{font-size:.86rem;margin:.3rem 0}ol.points.kernels{list-style-type:upper-alpha}\n";

const char lp_html_print_style[] =
    "@media print{:root{--bg:#fff;--fg:#000;--soft:#444;--line:#bbb;--panel:#f3f3f3;--accent:#0b5cad;--good:#1a7f37;"
    "--bad:#b3261e;--bar:#b6d4f2;--c0:#0072b2;--c1:#e69f00;--c2:#009e73;--c3:#cc79a7;--c4:#56b4e9;--c5:#d55e00;--c6:#8a7f00;"
    "--c7:#6a51a3;--c8:#7f7f7f;--c9:#a6761d;--c10:#1b9e9e;--c11:#b0b0b0}html{font-size:10.5px}body{max-width:none;font-size:1rem;padding:0}nav{display:none}"
    "figure,tr,.verdict{break-inside:avoid}h2,h3{break-after:avoid}.scroll{overflow:visible}table{font-size:.78rem}thead{display:table-row-group}thead tr{break-after:avoid}"
    "th,td{padding:.15rem .25rem}th{white-space:normal}td code{min-width:0}svg{print-color-adjust:exact}}\n";

const char lp_html_script[] =
    "document.querySelectorAll('table.sortable').forEach(function(table){"
    "table.querySelectorAll('th').forEach(function(head,column){"
    "head.querySelector('button').addEventListener('click',function(){"
    "var down=head.getAttribute('aria-sort')!=='descending',body=table.tBodies[0];"
    "table.querySelectorAll('th').forEach(function(other){other.removeAttribute('aria-sort');});"
    "head.setAttribute('aria-sort',down?'descending':'ascending');"
    "function key(row){var cell=row.cells[column],data=cell.querySelector('data');"
    "if(!data&&!head.classList.contains('n'))return cell.textContent;"
    "var number=parseFloat(data?data.value:cell.textContent);return isNaN(number)?-Infinity:number;}"
    "Array.from(body.rows).sort(function(a,b){var x=key(a),y=key(b);"
    "var order=typeof x==='number'&&typeof y==='number'?x-y:String(x).localeCompare(String(y));"
    "return down?-order:order;}).forEach(function(row){body.appendChild(row);});"
    "});});});\n";
/* clang-format on */

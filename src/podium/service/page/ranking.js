// The ranking of a query by one model or two.
import { count, el, empty, hidden, known, percent, scroll, short, shown, table } from "./dom.js";
import { documentCell, nameOf } from "./documents.js";
import { measure } from "./gather.js";
import { keys, othersText } from "./grades.js";
import { showHelp } from "./help.js";
import { gradeCell, how, judgeActions, judgeHead, judgeTable, progress } from "./judging.js";
import { features, why } from "./panels.js";

const FEW = 25;

export function rankingView(app) {
  const { state, found } = app;
  if (!found.total) return el("section", {}, empty(`Nothing was found for “${found.query}”.`, found.unknown?.length ? ` No document has ${found.unknown.join(", ")}.` : ""));
  const judging = state.view === "judge";
  const most = state.all ? Infinity : FEW;
  const lists = judging ? [judgeTable(app, found.lists[0], most)] : found.lists.map((list, k) => rankTable(app, list, k, most));
  const host = el("div", { class: lists.length > 1 ? "lists two" : "lists" }, lists);
  if (app.may("judge")) host.addEventListener("keydown", (event) => keys(event, host, found.grades, how(app)));
  const more = found.total > FEW ? el("button", { type: "button", onclick: () => app.go({ all: state.all ? "" : "1" }) }, state.all ? `Show the first ${FEW}` : `Show all ${found.total} documents`) : null;
  const side = judging ? features(app) : why(app) || features(app);
  return el("div", { class: side ? "cols open" : "cols" },
    el("section", { "aria-labelledby": "h-query", class: judging ? "judging" : null },
      el("div", { class: "headline" }, heading(found), judging ? progress(app) : ndcg(found)),
      judging ? judgeHead(app) : intro(app), host, el("div", { class: "actions" }, more, judging ? judgeActions(app) : judgeLink(app))),
    side ? el("section", { class: "side", "aria-labelledby": "h-side" }, side) : null);
}

const heading = ({ text, query, searched }) => el("h2", { id: "h-query" }, text ? `“${text}”` : `Query ${query}`, text && !searched ? el("small", { class: "id" }, ` ${query}`) : null);
const judgeLink = (app) => (app.may("judge") ? el("a", { class: "button", href: app.href({ view: "judge", pair: [], doc: "" }) }, "Judge these documents") : null);

function intro(app) {
  const { found } = app;
  const [first] = found.lists;
  const words = [`${found.searched ? `The best ${found.total}` : count(found.total, "document")}, ranked by ${found.lists.map((list) => list.model).join(" and ")}.`,
    found.names.length ? "Tick two to see why one is above the other; choose one for its features." : null,
    first.odds ? `Odds: ${first.odds}; intervals hold 90 %.` : null, ...oddless(app)];
  const twin = found.twin ? el("p", { class: "note" }, "This is also a query of the data, with labels: ", el("a", { href: app.href({ q: found.twin.id, a: "", b: "", pair: [], doc: "" }) }, `query ${found.twin.id}`), ".") : null;
  const help = first.odds ? [" ", el("button", { type: "button", class: "plain", onclick: showHelp }, "What does that mean?")] : null;
  return el("div", {}, el("p", { class: "note", id: "intro" }, words.filter(Boolean).join(" "), help), twin);
}

// A quiet word about models without probabilities.
const oddless = (app) => (app.found.searched ? [] : app.found.lists.filter((list) => !list.odds).map((list) => `${list.model} has no probabilities: it saw no validation data when it was trained.`));

function ndcg(found) {
  if (!found.measured) return null;
  const by = found.measured.grades === "data" ? "by the grades of the data" : `by ${count(found.measured.graded, "judged document")}`;
  const one = [...found.measured.values].map(([name, value]) => `${found.measured.values.size > 1 ? `${name} ` : ""}${shown(value, 3)}`).join(", ");
  return el("p", { class: "note", id: "ndcg" }, el("strong", {}, `NDCG@10 ${one}`), ` ${by}${found.measured.own.length ? `; ${found.measured.own.join(" and ")} was trained on this query` : ""}`);
}

// After a grade: what depends on it is drawn again, and the focus stays.
export async function refreshGrades(app) {
  const { found } = app;
  const turn = app.turn;
  const measured = await measure(app, found);
  if (turn !== app.turn) return;
  found.measured = measured;
  const there = document.getElementById("ndcg");
  const fresh = ndcg(found);
  if (there && fresh) there.replaceWith(fresh);
  else if (fresh && app.state.view === "rank") document.querySelector(".headline").append(fresh);
  document.getElementById("progress")?.replaceWith(progress(app));
  const field = document.getElementById("who");
  if (field && field.value !== found.grades.me && found.grades.me !== "anyone") field.value = found.grades.me;
  document.querySelectorAll("[data-others]").forEach((host) => host.replaceChildren(...[othersText(found.grades, host.dataset.others, { always: app.state.view !== "judge" })].filter(Boolean)));
}

const gauge = (text, ...marks) => el("span", { class: "gauge" }, el("span", {}, text), el("span", { class: "track", "aria-hidden": "true" }, marks));
const odds = (p) => (known(p) ? gauge(percent(p), el("span", { style: { left: 0, width: `${100 * p}%` } })) : "–");
function interval(row, n) {
  if (!row.rank_interval) return "–";
  const [low, high] = row.rank_interval;
  return gauge(low === high ? String(low) : `${low}–${high}`, el("span", { class: "soft", style: { left: `${(100 * (low - 1)) / n}%`, width: `${(100 * (high - low + 1)) / n}%` } }),
    el("span", { class: "tick", style: { left: `${(100 * (row.rank - 0.5)) / n}%` } }));
}

function move(from, to) {
  if (!known(from)) return "new";
  if (from === to) return el("span", { class: "move" }, "=", hidden(" same place"));
  const up = from > to;
  return el("span", { class: `move ${up ? "up" : "down"}` }, `${up ? "▲" : "▼"} ${Math.abs(from - to)}`, hidden(up ? " places up" : " places down"));
}

function tick(app, row) {
  const { pair } = app.state;
  const on = pair.includes(row.id);
  return el("td", {}, el("input", { type: "checkbox", "aria-label": `Compare ${nameOf(app, row.id)}`, "data-tick": row.id, checked: on,
    onchange: () => app.go({ pair: on ? pair.filter((id) => id !== row.id) : [...pair, row.id].slice(-2), doc: "" }) }));
}

function rankTable(app, list, k, most) {
  const { found } = app;
  const two = found.lists.length > 1;
  const n = found.total;
  const before = k ? new Map(found.lists[0].rows.map((row) => [row.id, row.rank])) : null;
  const rows = list.rows.slice(0, most);
  const number = (text) => (row) => el("td", { class: "number" }, text(row));
  const columns = [
    !k && n > 1 && found.names.length > 0 && { text: "Compare", hidden: true, cell: (row) => tick(app, row) },
    { text: "Rank", number: true, cell: number((row) => String(row.rank)) },
    k && { text: "Moved", cell: (row) => el("td", {}, move(before.get(row.id), row.rank)) },
    { text: "Document", cell: (row) => documentCell(app, row, { opens: !k, details: !two }) },
    { text: "Score", number: true, cell: number((row) => shown(row.score, 3)) },
    rows.some((row) => known(row.p_first)) && { text: "P(first)", cell: (row) => el("td", {}, odds(row.p_first)) },
    !two && rows.some((row) => row.rank_interval) && { text: "Rank interval", cell: (row) => el("td", {}, interval(row, n)) },
    found.labels && (!two || found.searched) && { text: "Label", number: true, cell: number((row) => short(found.labels.get(row.id))) },
    !k && app.may("judge") && !(two && found.searched) && { text: "Your grade", cell: (row) => gradeCell(app, row) },
  ].filter(Boolean);
  const cell = (column, row) => { const made = column.cell(row); made.dataset.label = column.text; return made; };
  const body = rows.map((row) => el("tr", { "data-id": row.id, class: !k && (app.state.pair.includes(row.id) || app.state.doc === row.id) ? "chosen" : null }, columns.map((column) => cell(column, row))));
  return scroll(`Ranking by ${list.model}`, table({ caption: `${k ? "Moves to" : "Ranking by"} ${list.model}`, heads: columns, rows: body, id: `ranking-${k}`, class: "stacks ranked" }));
}

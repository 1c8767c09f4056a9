// The ranking of a query by one model or two, and what is asked of the service for it.
import * as api from "./api.js";
import { count, el, empty, hidden, known, percent, scroll, short, shown, table } from "./dom.js";
import { gradeButtons, gradesOf, judgeName, keys, othersText, setJudgeName, undo } from "./grades.js";
import { features, why } from "./panels.js";

const FEW = 25;
const FOUND = 20; // documents of a search

// Everything that a query's view shows: {query, text, lists, names, values, labels, grades, measured}.
export async function gather(app) {
  const { state } = app;
  const models = [app.model(), state.view === "judge" ? "" : state.b].filter((name, k) => k === 0 || name);
  const found = app.searching ? await searched(state.q, models) : await ranked(app, state.q, models);
  found.grades = gradesOf(found.query, app.may("judge") ? (await api.judgments(found.query)).judgments : [], app.me());
  found.measured = await measure(app, found);
  return found;
}

async function ranked(app, query, models) {
  const given = await api.documents(query);
  const named = given.features.some((name, l) => name !== String(l + 1)); // data without names goes by place
  const request = (model) => ({ model, query, documents: given.documents, ...(named && app.modelAbout(model).feature_names ? { features: given.features } : {}) });
  const { answers } = await api.rank(models.map(request));
  const values = new Map(given.documents.map((one) => [one.id, one.features]));
  const labels = given.grades && new Map(given.documents.map((one, k) => [one.id, given.grades[k]]));
  const pair = (documents) => api.explain({ ...request(answers[0].model), pair: documents });
  return { query, lists: answers.map((one) => ({ ...one, rows: one.results })), names: given.features, values, labels, pair, total: given.documents.length };
}

async function searched(text, models) {
  const answers = await Promise.all(models.map((model) => api.search({ query: text, k: FOUND, ...(model ? { model, explain: true } : {}) })));
  const [first] = answers;
  const names = first.results[0]?.features ? Object.keys(first.results[0].features) : [];
  const values = new Map(first.results.map((one) => [one.id, names.map((name) => one.features[name])]));
  const pair = async (documents) => fromShares(first, documents);
  return { query: text, text, lists: answers.map((one) => ({ ...one, model: one.model || "first stage (BM25)", rows: one.results })), names, values, labels: null, pair, unknown: first.unknown, total: first.results.length };
}

// Why one found document is above another: the shares that the search gave, one less the other.
function fromShares(answer, documents) {
  const [up, low] = documents.map((id) => answer.results.find((one) => one.id === id)).sort((x, y) => x.rank - y.rank);
  if (!up.shares) return null;
  const names = [...new Set([...Object.keys(up.shares), ...Object.keys(low.shares)])];
  const all = names.map((name) => ({ feature: name, share: (up.shares[name] || 0) - (low.shares[name] || 0), values: [up.features?.[name] ?? null, low.features?.[name] ?? null] }));
  const told = all.filter((one) => one.share !== 0).sort((x, y) => Math.abs(y.share) - Math.abs(x.share));
  const difference = up.score - low.score;
  return { documents: [up, low].map((one) => ({ document: one.id, score: one.score, rank: one.rank, grade: null })), difference, how: answer.shares, features: told, others: 0, rest: difference - told.reduce((sum, one) => sum + one.share, 0) };
}

// NDCG@10 of this query now, by the judges' grades if there are some, else by those of the data.
async function measure(app, found) {
  if (app.state.view === "judge") return null; // it would lead
  const judged = found.grades.mine.size + found.grades.others.size > 0;
  const grades = judged ? "judges" : found.labels ? "data" : null;
  const models = found.lists.map((list) => list.model).filter((name) => name.includes("@"));
  if (!grades || !app.may("judge") || !models.length) return null;
  const answer = await api.measures({ models, grades, query: found.query, metrics: ["ndcg@10"] });
  return answer.queries.length ? { grades, graded: answer.queries[0].graded, values: new Map(answer.models.map((name, k) => [name, answer.queries[0].values[0][k]])) } : null;
}

export function rankingView(app) {
  const { state, found } = app;
  if (!found.total) return empty(`Nothing was found for “${found.query}”.`, found.unknown?.length ? ` No document has ${found.unknown.join(", ")}.` : "");
  const judging = state.view === "judge";
  const most = state.all ? Infinity : FEW;
  const lists = judging ? [judgeTable(app, found.lists[0], most)] : found.lists.map((list, k) => rankTable(app, list, k, most));
  const host = el("div", { class: lists.length > 1 ? "lists two" : "lists" }, lists);
  if (app.may("judge")) host.addEventListener("keydown", (event) => keys(event, host, found.grades, how(app)));
  const more = found.total > FEW ? el("button", { type: "button", onclick: () => app.go({ all: state.all ? "" : "1" }) }, state.all ? `Show the first ${FEW}` : `Show all ${found.total} documents`) : null;
  const side = judging ? features(app) : why(app) || features(app);
  const name = found.text ? `“${found.query}”` : `Query ${found.query}`;
  return el("div", { class: side ? "cols open" : "cols" },
    el("section", { "aria-labelledby": "h-query" },
      el("div", { class: "headline" }, el("h2", { id: "h-query" }, name), judging ? progress(app) : ndcg(found)),
      judging ? judgeHead(app) : el("p", { class: "note" }, intro(app)), host, el("div", { class: "actions" }, more, judging ? judgeActions(app) : null)),
    side ? el("section", { class: "side", "aria-labelledby": "h-side" }, side) : null);
}

function intro(app) {
  const { found } = app;
  const odds = found.lists[0].odds;
  return `${found.text ? `The best ${found.total}` : count(found.total, "document")}.${found.names.length ? " Tick two to see why one is above the other; choose one for its features." : ""}${odds ? ` Odds: ${odds}; intervals hold 90 %.` : ""}`;
}

function ndcg(found) {
  if (!found.measured) return null;
  const by = found.measured.grades === "data" ? "by the grades of the data" : `by ${count(found.measured.graded, "judged document")}`;
  const one = [...found.measured.values].map(([name, value]) => `${found.measured.values.size > 1 ? `${name} ` : ""}${shown(value, 3)}`).join(", ");
  return el("p", { class: "note", id: "ndcg" }, el("strong", {}, `NDCG@10 ${one}`), ` ${by}`);
}

const how = (app) => ({ say: app.say, changed: () => app.graded() });

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

// The document: its name opens its features; of a search, its text with the words that were asked for.
function documentCell(app, row) {
  const chosen = app.state.doc === row.id;
  const title = row.document?.title;
  const text = app.found.lists.length === 1 || app.state.view === "judge"; // beside another list there is no room
  const name = app.found.values.get(row.id)?.length
    ? el("button", { type: "button", class: "plain", "data-doc": row.id, "aria-pressed": String(chosen), onclick: () => app.go({ doc: chosen ? "" : row.id, pair: [] }) }, title || row.id, hidden(": features"))
    : el("span", {}, title || row.id);
  return el("th", { scope: "row", class: "document" }, name, text && title && title !== row.id ? el("small", {}, row.id) : null, text && row.snippet ? el("small", { class: "snippet" }, marked(row.snippet, row.marks)) : null);
}

function marked(text, marks) {
  const parts = [];
  let from = 0;
  const letters = [...text]; // places count characters, not UTF-16 units
  for (const [a, b] of marks) {
    parts.push(letters.slice(from, a).join(""), el("mark", {}, letters.slice(a, b).join("")));
    from = b;
  }
  return [...parts, letters.slice(from).join("")];
}

function tick(app, row) {
  const { pair } = app.state;
  const on = pair.includes(row.id);
  return el("td", {}, el("input", { type: "checkbox", "aria-label": `Compare ${row.id}`, "data-tick": row.id, checked: on,
    onchange: () => app.go({ pair: on ? pair.filter((id) => id !== row.id) : [...pair, row.id].slice(-2), doc: "" }) }));
}

function gradeCell(app, row) {
  const { grades } = app.found;
  const always = app.state.view !== "judge";
  return el("td", {}, gradeButtons(grades, row.id, how(app)), el("span", { "data-others": row.id }, othersText(grades, row.id, { always })));
}

function rankTable(app, list, k, most) {
  const { found } = app;
  const two = found.lists.length > 1;
  const n = found.total;
  const before = k ? new Map(found.lists[0].rows.map((row) => [row.id, row.rank])) : null;
  const rows = list.rows.slice(0, most);
  const columns = [
    !k && n > 1 && found.names.length > 0 && { text: "Compare", hidden: true, cell: (row) => tick(app, row) },
    { text: "Rank", number: true, cell: (row) => el("td", { class: "number" }, String(row.rank)) },
    k && { text: "Moved", cell: (row) => el("td", {}, move(before.get(row.id), row.rank)) },
    { text: "Document", cell: (row) => (k ? el("th", { scope: "row", class: "document" }, row.document?.title || row.id) : documentCell(app, row)) },
    { text: "Score", number: true, cell: (row) => el("td", { class: "number" }, shown(row.score, 3)) },
    rows.some((row) => known(row.p_first)) && { text: "P(first)", cell: (row) => el("td", {}, odds(row.p_first)) },
    !two && rows.some((row) => row.rank_interval) && { text: "Rank interval", cell: (row) => el("td", {}, interval(row, n)) },
    !two && found.labels && { text: "Label", number: true, cell: (row) => el("td", { class: "number" }, short(found.labels.get(row.id))) },
    !k && app.may("judge") && { text: "Your grade", cell: (row) => gradeCell(app, row) },
  ].filter(Boolean);
  const body = rows.map((row) => el("tr", { "data-id": row.id, class: !k && (app.state.pair.includes(row.id) || app.state.doc === row.id) ? "chosen" : null }, columns.map((column) => column.cell(row))));
    return scroll(`Ranking by ${list.model}`, table({ caption: `${k ? "Moves to" : "Ranking by"} ${list.model}`, heads: columns, rows: body, id: `ranking-${k}` }));
}

function judgeTable(app, list, most) {
  const rows = list.rows.slice(0, most).map((row) => el("tr", { "data-id": row.id, class: app.state.doc === row.id ? "chosen" : null }, documentCell(app, row), gradeCell(app, row)));
  return scroll("Documents to judge", table({ caption: `In the order of ${list.model}; scores are not shown, so that they do not lead.`, heads: [{ text: "Document" }, { text: "Your grade" }], rows, id: "ranking-0" }));
}

function judgeHead(app) {
  const field = app.open() ? el("label", {}, "Your name ", el("input", { id: "who", autocomplete: "off", value: judgeName(), placeholder: "anyone", onchange: (event) => { setJudgeName(event.target.value); app.load(); } })) : null;
  return el("div", {}, field ? el("div", { class: "controls" }, field) : null,
    el("p", { class: "note" }, "Keys, while a row has the focus: ", el("kbd", {}, "j"), " ", el("kbd", {}, "k"), " next and previous row, ", el("kbd", {}, "0"), "–", el("kbd", {}, "4"), " grade, ", el("kbd", {}, "u"), " undo. 0 is not relevant, 4 is perfect."));
}

const progress = (app) => {
  const { grades, lists } = app.found;
  const done = lists[0].rows.filter((row) => grades.mine.has(row.id)).length;
  return el("p", { class: "note", id: "progress" }, `${done} of ${lists[0].rows.length} judged by you${judgeName() ? `, ${judgeName()}` : ""}`);
};

function judgeActions(app) {
  const names = app.suggested || [];
  const next = names[names.indexOf(app.state.q) + 1];
  return [el("button", { type: "button", onclick: () => undo(app.found.grades, how(app)) }, "Undo"),
    names.includes(app.state.q) && next ? el("button", { type: "button", onclick: () => app.go({ q: next, doc: "", all: "" }) }, `Next query: ${next}`) : null];
}

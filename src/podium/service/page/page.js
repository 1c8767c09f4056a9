// The web interface: its state is in the URL, and every view is drawn from it.
import * as api from "./api.js";
import { at, count, el, empty, put } from "./dom.js";
import { judgeName, toRow } from "./grades.js";
import { gatherMeasures, measuresView } from "./measures.js";
import { gather, rankingView, refreshGrades } from "./ranking.js";

const ROLES = ["rank", "feedback", "judge", "admin"];
const app = { turn: 0, state: read(), about: null, models: null, suggested: [] };

// The state: view, q (a query of the data, else a search), models a and b, pair, doc, all, grades.
function read() {
  const given = new URLSearchParams(location.search);
  const one = (name) => given.get(name) || "";
  return { view: ["rank", "judge", "measures"].includes(one("view")) ? one("view") : "rank", q: one("q"), a: one("a"), b: one("b"), pair: given.getAll("pair").slice(0, 2), doc: one("doc"), all: one("all"), grades: one("grades") };
}
app.href = (changes) => {
  const next = { ...app.state, ...changes };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(next)) {
    if (Array.isArray(value)) value.forEach((part) => query.append(name, part));
    else if (value) query.set(name, value);
  }
  return `?${query}`;
};
// Go to another state; what is shown changes with it.
app.go = (changes) => {
  const before = app.state;
  history.pushState(null, "", app.href(changes));
  app.state = read();
  const again = ["view", "q", "a", "b", "grades"].some((name) => before[name] !== app.state[name]);
  return again ? app.load() : draw();
};

app.role = (role) => ROLES.indexOf(app.about.caller.role) >= ROLES.indexOf(role);
app.may = (role) => app.role(role) && (role !== "judge" || app.about.store);
app.open = () => app.about.caller.name === "anyone"; // no keys: judges say who they are
app.me = () => (app.open() && judgeName()) || app.about.caller.name;
app.modelAbout = (name) => app.models.models.find((one) => one.model === (app.models.aliases[name] || name)) || {};
// The chosen model; a search is by its first stage unless a model was chosen.
app.model = () => app.state.a || (app.searching || !app.models.aliases.default ? "" : "default");
app.say = (text, bad) => { at("status").textContent = bad ? "" : text; if (bad) app.trouble(new Error(text)); else put(at("trouble")); };
app.graded = () => refreshGrades(app).catch(app.trouble);

app.trouble = (problem) => {
  if (problem.status === 401) return login(problem);
  const retry = problem.status === 0 ? el("button", { type: "button", onclick: start }, "Try again") : null;
  put(at("trouble"), problem.message, retry);
  if (problem.status === 0) at("service").textContent = "offline";
};

function login(problem) {
  at("ask").hidden = true;
  const field = el("input", { id: "key", type: "password", autocomplete: "off", required: true, "aria-describedby": "key-note" });
  put(at("main"), el("form", { class: "login", onsubmit: (event) => { event.preventDefault(); api.setKey(field.value.trim()); start(); } },
    el("h2", {}, "Your key"), el("p", { class: "note", id: "key-note" }, api.key() ? problem.message : "This service needs a key. It is kept in this tab only, until it is closed."),
    el("div", { class: "controls" }, el("label", {}, "Key ", field), el("button", { type: "submit" }, "Continue"))));
  api.setKey("");
  field.focus();
}

// Ask for what the state needs, then draw. A later state wins.
app.load = async () => {
  const turn = ++app.turn;
  at("main").setAttribute("aria-busy", "true");
  const { view, q } = app.state;
  try {
    app.searching = view !== "measures" && await isSearch(q);
    if (turn !== app.turn) return;
    controls();
    if (view === "measures") app.measures = await gatherMeasures(app);
    else app.found = q ? await gather(app) : null;
    if (turn !== app.turn) return;
    put(at("trouble"));
    at("service").textContent = `podium ${app.about.podium}`;
    await draw();
    if (app.found && view === "rank") at("status").textContent = `${count(app.found.total, "document")} ranked by ${app.found.lists.map((list) => list.model).join(" and ")}.`;
  } catch (problem) {
    if (turn !== app.turn) return;
    put(at("main"), empty("Nothing to show."));
    app.trouble(problem);
    if (!(problem instanceof api.Problem)) throw problem;
  } finally {
    if (turn === app.turn) at("main").removeAttribute("aria-busy");
  }
};

async function draw() {
  const { view, pair } = app.state;
  const turn = app.turn;
  const focus = focused();
  if (app.found && view === "rank") {
    app.found.explained = pair.length === 2 && pair.every((id) => app.found.lists[0].rows.some((row) => row.id === id)) ? await app.found.pair(pair).catch((problem) => problem) : null;
    if (turn !== app.turn) return;
  }
  put(at("main"), view === "measures" ? measuresView(app) : app.found ? rankingView(app) : welcome());
  document.title = { rank: app.found ? `${app.found.query} – podium` : "podium", judge: "Judge – podium", measures: "Metrics – podium" }[view];
  if (focus) [...document.querySelectorAll(focus[0])].find((node) => node.dataset[focus[1]] === focus[2])?.focus({ preventScroll: true });
  else if (view === "judge" && app.found && document.activeElement === document.body) { const row = document.querySelector("tr[data-id]"); if (row) toRow(row); }
}

// Where the focus is, to find it again after a drawing.
function focused() {
  const node = document.activeElement;
  for (const name of ["tick", "doc"]) if (node?.dataset?.[name]) return [`[data-${name}]`, name, node.dataset[name]];
  return null;
}

function welcome() {
  const { about } = app;
  if (about.queries === null && about.documents === null) return el("section", {}, el("h2", {}, "No queries"), empty("The service was started without data and without an index. Start it with queries to look at: podium serve MODEL --data DATA, or podium serve INDEX."));
  if (!app.suggested.length) return el("section", {}, empty(`Search the ${count(about.documents, "document")} of the index.`));
  return el("section", { "aria-labelledby": "h-pick" }, el("h2", { id: "h-pick" }, "Pick a query"), about.documents !== null ? el("p", { class: "note" }, `Or search the ${count(about.documents, "document")} of the index.`) : null,
    el("ul", { class: "picks" }, app.suggested.slice(0, 60).map((q) => el("li", {}, el("a", { href: app.href({ q }) }, q)))), about.queries > 60 ? el("p", { class: "note" }, `${about.queries} queries in all; type a part of an id above.`) : null);
}

// The form shows the state.
function controls() {
  const { state, about, models } = app;
  at("ask").hidden = false;
  document.querySelectorAll("nav [data-view]").forEach((link) => {
    link.href = app.href({ view: link.dataset.view, pair: [], doc: "" });
    if (link.dataset.view === state.view) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  });
  at("query").value = state.q;
  at("query").closest("label").hidden = at("ask").querySelector("button").hidden = state.view === "measures";
  at("ask-label").textContent = about.documents === null ? "Query" : about.queries === null ? "Search" : "Query id, or search";
  const names = [...Object.keys(models.aliases).map((alias) => [alias, `${alias} (${models.aliases[alias]})`]), ...models.models.map((one) => [one.model, one.model])];
  const first = app.searching ? [["", "first stage (BM25)"]] : [];
  for (const [id, more, value] of [["a", first, app.model()], ["b", [["", "no other"]], state.b]]) {
    put(at(id), [...more, ...names].map(([name, text]) => el("option", { value: name }, text)));
    at(id).value = value;
  }
  at("a").closest("label").hidden = !first.length && !names.length;
  at("b").closest("label").hidden = state.view === "judge" || names.length < 2;
}

// Whether a text is searched for: there is an index, and it is no query of the data.
const isSearch = async (q) => q !== "" && app.about.documents !== null && !app.suggested.includes(q) && !(await suggest(q)).includes(q);

async function suggest(text) {
  if (app.about.queries === null) return [];
  const found = (await api.queries(text)).queries;
  put(at("suggestions"), found.map((name) => el("option", { value: name })));
  return found;
}

let waiting;
at("query").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => suggest(at("query").value.trim()).catch(app.trouble), 150); });
at("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  app.go({ q: at("query").value.trim(), pair: [], doc: "", all: "" });
});
for (const id of ["a", "b"]) at(id).addEventListener("change", () => app.go({ [id]: at(id).value, pair: [] }));
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='?']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const before = app.state;
  history.pushState(null, "", link.getAttribute("href"));
  app.state = read();
  if (app.about) app.load();
  if (before.view !== app.state.view || before.q !== app.state.q) window.scrollTo(0, 0);
});
window.addEventListener("popstate", () => { app.state = read(); if (app.about) app.load(); });

async function start() {
  try {
    [app.about, app.models] = await Promise.all([api.about(), api.models()]);
    app.suggested = await suggest("");
  } catch (problem) {
    put(at("main"));
    app.trouble(problem);
    return;
  }
  await app.load();
}
start();

// The web interface: its state is in the URL, and every view is drawn from it.
import * as api from "./api.js";
import { Catalogue } from "./catalogue.js";
import { at, count, el, empty, put } from "./dom.js";
import { experimentsView, gatherExperiments } from "./experiments.js";
import { gather } from "./gather.js";
import { judgeName } from "./grades.js";
import { showHelp } from "./help.js";
import { gatherList, listView, startView } from "./home.js";
import { toFirst } from "./judging.js";
import { gatherMeasures, measuresView } from "./measures.js";
import { rankingView, refreshGrades } from "./ranking.js";

const ROLES = ["rank", "feedback", "judge", "admin"];
const VIEWS = ["start", "rank", "judge", "measures", "experiments"];
const TITLES = { start: "podium", rank: "Rankings – podium", judge: "Judge – podium", measures: "Metrics – podium", experiments: "Experiments – podium" };
const app = { turn: 0, state: read(), about: null, models: null, BM25: "~bm25" }; // no model can have this name
app.catalogue = new Catalogue(app);

// The state: view, q (a query of the data, else a search), models a and b, pair, doc, all, grades.
function read() {
  const given = new URLSearchParams(location.search);
  const one = (name) => given.get(name) || "";
  const view = VIEWS.includes(one("view")) ? one("view") : one("q") ? "rank" : "start";
  return { view, q: one("q"), a: one("a"), b: one("b"), pair: given.getAll("pair").slice(0, 2), doc: one("doc"), all: one("all"), grades: one("grades") };
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
app.modelName = (name) => (name === app.BM25 ? "BM25" : app.models.aliases[name] ? `${app.models.aliases[name]} (${name})` : name);
const searches = (name) => name === app.BM25 || app.modelAbout(name).searches;
// The model that searches unless another is chosen: the default one if it can; null if BM25 must.
app.searchModel = () => (app.models.aliases.default && searches("default") ? "default" : null);
// The model that ranks data unless another is chosen.
app.dataModel = () => (app.state.a && app.state.a !== app.BM25 ? app.state.a : app.models.aliases.default ? "default" : "");
app.model = () => (app.searching ? (app.state.a && searches(app.state.a) ? app.state.a : app.searchModel() || app.BM25) : app.dataModel());
app.other = () => (app.state.b && (app.searching ? searches(app.state.b) : app.state.b !== app.BM25) ? app.state.b : "");
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
  const ranks = (view === "rank" || (view === "judge" && app.may("judge"))) && q !== "";
  try {
    app.searching = ranks && await isSearch(q);
    if (turn !== app.turn) return;
    controls(ranks);
    app.found = ranks ? await gather(app) : null;
    if (view === "measures") app.measures = await gatherMeasures(app);
    else if (view === "experiments") app.experiments = await gatherExperiments(app);
    else if (!ranks) await gatherList(app);
    if (turn !== app.turn) return;
    put(at("trouble"));
    at("service").textContent = `podium ${app.about.podium}`;
    await draw();
    at("status").textContent = app.found && view === "rank" ? `${count(app.found.total, "document")} ranked by ${app.found.lists.map((list) => list.model).join(" and ")}.` : "";
  } catch (problem) {
    if (turn !== app.turn) return;
    put(at("main"), el("section", {}, empty("Nothing to show.")));
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
  const drawn = { start: startView, measures: measuresView, experiments: experimentsView }[view] || (app.found ? rankingView : listView);
  put(at("main"), drawn(app));
  document.title = app.found && view === "rank" ? `${app.found.text || app.found.query} – podium` : TITLES[view];
  if (focus) [...document.querySelectorAll(focus[0])].find((node) => node.dataset[focus[1]] === focus[2])?.focus({ preventScroll: true });
  else if (document.activeElement === document.body && view === "judge" && app.found) toFirst(app);
  else if (document.activeElement === document.body && view === "start" && matchMedia("(min-width: 40rem)").matches) at("query").focus({ preventScroll: true });
}

// Where the focus is, to find it again after a drawing.
function focused() {
  const node = document.activeElement;
  for (const name of ["tick", "doc"]) if (node?.dataset?.[name]) return [`[data-${name}]`, name, node.dataset[name]];
  return null;
}

// The form shows the state.
function controls(ranks) {
  const { state, about, models } = app;
  const asks = state.view !== "measures" && state.view !== "experiments" && (about.documents !== null || about.queries !== null);
  at("ask").hidden = !asks && state.view !== "measures";
  document.querySelectorAll("nav [data-view]").forEach((link) => {
    link.href = app.href({ view: link.dataset.view, q: link.dataset.view === "rank" || link.dataset.view === "judge" ? state.q : "", pair: [], doc: "" });
    if (link.dataset.view === state.view) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  });
  at("query").value = state.q;
  at("query").closest("label").hidden = at("ask").querySelector("button").hidden = !asks;
  at("ask-label").textContent = about.documents === null ? "Query, by its words or id" : about.queries === null ? "Search" : "Search, or the id of a query";
  const able = (name) => !app.searching || searches(name);
  const names = [...Object.keys(models.aliases).map((alias) => [alias, `${alias} (${models.aliases[alias]})`]), ...models.models.map((one) => [one.model, one.model])].filter(([name]) => able(name));
  const first = app.searching ? [[app.BM25, "BM25"]] : [];
  for (const [id, more, value] of [["a", [], app.model()], ["b", [["", "no other"]], app.other()]]) {
    put(at(id), [...more, ...first, ...names].map(([name, text]) => el("option", { value: name }, text)));
    at(id).value = value;
  }
  at("a").closest("label").hidden = !(ranks || state.view === "measures") || !names.length;
  at("b").closest("label").hidden = !(ranks || state.view === "measures") || state.view === "judge" || names.length + first.length < 2;
}

// Whether a text is searched for: there is an index, and it is no query of the data.
const isSearch = async (q) => app.about.documents !== null && (app.about.queries === null || !(app.catalogue.find(q) || (!app.catalogue.whole && (await app.catalogue.search(q)).some((one) => one.id === q))));

async function suggest(text) {
  if (app.about.queries === null) return;
  const queries = (await app.catalogue.search(text)).slice(0, 50);
  put(at("suggestions"), queries.map((one) => el("option", { value: app.about.documents !== null && one.text ? one.text : one.id, label: one.text ? `${one.text} (${one.id})` : one.id })));
}

// What was typed: a search, or the id or the words of a query of the data; else the list shows what has these words.
async function submit() {
  const text = at("query").value.trim();
  const next = { pair: [], doc: "", all: "", view: app.state.view === "judge" ? "judge" : "rank" };
  if (!text || app.about.documents !== null) return app.go({ ...next, q: text });
  const queries = await app.catalogue.search(text);
  const exact = queries.find((one) => one.id === text) || queries.find((one) => one.text?.toLowerCase() === text.toLowerCase()) || (queries.length === 1 ? queries[0] : null);
  if (exact) return app.go({ ...next, q: exact.id });
  app.catalogue.filter = text;
  return app.go({ ...next, q: "" });
}

let waiting;
at("query").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => suggest(at("query").value.trim()).catch(app.trouble), 150); });
at("ask").addEventListener("submit", (event) => { event.preventDefault(); submit().catch(app.trouble); });
for (const id of ["a", "b"]) at(id).addEventListener("change", () => app.go({ [id]: at(id).value, pair: [] }));
at("help-button").addEventListener("click", showHelp);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox";
  if (event.key === "Escape" && app.about && (app.state.doc || app.state.pair.length)) app.go({ pair: [], doc: "" });
  else if (typing) return;
  else if (event.key === "?") { event.preventDefault(); showHelp(); }
  else if (event.key === "/" && !at("ask").hidden && !at("query").closest("label").hidden) { event.preventDefault(); at("query").focus(); at("query").select(); }
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='?']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const before = app.state;
  history.pushState(null, "", link.getAttribute("href") === "?" ? location.pathname : link.getAttribute("href"));
  app.state = read();
  if (app.about) app.load();
  if (before.view !== app.state.view || before.q !== app.state.q) { document.activeElement?.blur(); window.scrollTo(0, 0); }
});
window.addEventListener("popstate", () => { app.state = read(); if (app.about) app.load(); });

async function start() {
  try {
    [app.about, app.models] = await Promise.all([api.about(), api.models()]);
    await app.catalogue.load();
    await suggest("");
  } catch (problem) {
    put(at("main"));
    app.trouble(problem);
    return;
  }
  await app.load();
}
start();

// Metrics of models on the judged queries, judgments, and facts about the service.
import * as api from "./api.js";
import { count, download, el, empty, known, scroll, short, shown, signed, table } from "./dom.js";

const MANY = 200; // queries that are listed

// What the view needs of the service; a part that fails is an error in its place.
export async function gatherMeasures(app) {
  const models = [app.model(), app.other()].filter(Boolean);
  const grades = app.state.grades || (app.about.graded ? "data" : "judges");
  const part = (promise) => promise.catch((problem) => { if (problem.status === 0 || problem.status === 401) throw problem; return problem; });
  const can = app.role("judge");
  const [measured, judged, health] = await Promise.all([
    can && models.length && (grades === "data" ? app.about.graded : app.about.store) ? part(api.measures({ models, grades })) : null,
    app.may("judge") ? part(api.judgments("")) : null,
    part(api.ask("/health/ready")),
  ]);
  return { grades, measured, judged, health };
}

export function measuresView(app) {
  const { grades, measured, judged, health } = app.measures;
  return el("div", { class: "lists" },
    el("section", { "aria-labelledby": "h-measures" }, el("div", { class: "headline" }, el("h2", { id: "h-measures" }, "Metrics"), choice(app, grades)), body(app, measured, grades)),
    el("section", { "aria-labelledby": "h-judges" }, el("h2", { id: "h-judges" }, "Judgments"), judges(app, judged)),
    el("section", { "aria-labelledby": "h-service" }, el("h2", { id: "h-service" }, "Service"), service(app, health)));
}

function choice(app, grades) {
  if (!app.about.graded || !app.about.store) return null;
  const option = (value, text) => el("option", { value, selected: value === grades }, text);
  return el("div", { class: "controls" }, el("label", {}, "Grades ", el("select", { id: "grades", onchange: (event) => app.go({ grades: event.target.value }) }, option("data", "of the data"), option("judges", "of the judges"))));
}

function body(app, found, grades) {
  if (!app.role("judge")) return empty(`Metrics need a key of role judge; ${app.about.caller.name} has ${app.about.caller.role}.`);
  if (!found) return empty(app.models.models.length ? "No grades yet: the service was started without graded data and stores no judgments (--store)." : "No model is loaded.");
  if (found instanceof Error) return empty(found.message);
  if (!found.queries.length) return empty(found.left_out ? `${count(found.left_out, "query was", "queries were")} judged, but the documents to rank are not known, or not with the features of this model.` : "No judgments yet. Judge some documents first.");
  const two = found.models.length > 1;
  const heads = [{ text: "Metric" }, { text: "Model" }, { text: "Mean", number: true }, { text: "95 % interval", number: true }, { text: two ? "Intervals on one scale" : "From 0 to 1" }, { text: "Queries", number: true }];
  return [el("p", { class: "note" }, `By the grades of the ${grades === "data" ? "data" : "judges; documents without a grade count as 0"}.${found.left_out ? ` ${count(found.left_out, "query is", "queries are")} left out: their documents or features are not known.` : ""}`),
    ownData(found),
    scroll("Means", table({ caption: " Means with confidence intervals", heads, rows: found.metrics.flatMap(means), id: "means" })),
    two ? el("ul", { id: "differences" }, found.metrics.map((metric) => el("li", {}, verdict(metric, found)))) : null,
    el("h3", {}, "Query by query"), perQuery(app, found)];
}

const wider = (low, high) => [low - (high - low) / 20, high + (high - low) / 20];

// A row for each model; two intervals are drawn on one scale, from the lowest end to the highest.
function means(metric) {
  const ends = metric.models.flatMap((one) => [one.mean, ...(one.interval || [])]).filter(known);
  const zoomed = metric.models.length > 1 && ends.length > 1 && Math.max(...ends) > Math.min(...ends);
  const [low, high] = zoomed ? wider(Math.min(...ends), Math.max(...ends)) : [Math.min(0, ...ends), Math.max(1, ...ends)];
  const scale = (value) => (100 * (value - low)) / (high - low || 1);
  const bar = (one) => el("span", { class: "track", "aria-hidden": "true" }, one.interval ? el("span", { class: "soft", style: { left: `${scale(one.interval[0])}%`, width: `${scale(one.interval[1]) - scale(one.interval[0])}%` } }) : null, known(one.mean) ? el("span", { class: "tick", style: { left: `${scale(one.mean)}%` } }) : null);
  const ruler = zoomed ? el("span", { class: "ruler", "aria-hidden": "true" }, el("span", {}, shown(low, 3)), el("span", {}, shown(high, 3))) : null;
  return metric.models.map((one, k) => [metric.metric, el("strong", {}, one.model), shown(one.mean), one.interval ? `${shown(one.interval[0])} to ${shown(one.interval[1])}` : "–",
    el("td", { class: "wide" }, bar(one), k === metric.models.length - 1 ? ruler : null), String(one.queries)]);
}

// Models that learned from these very queries: their means say how well they remember, not how well they rank.
const own = (found) => found.on_training_data || [];
const ownData = (found) => (own(found).length ? el("p", { class: "warning", id: "own-data" }, `${found.notes.join(" ")} Its metrics here are too good, and differences are no verdict.`) : null);

function verdict({ metric, difference: d }, found) {
  if (!d) return `${metric}: too few queries to compare.`;
  if (own(found).length) return `${metric}: ${d.better} is ${shown(d.difference)} above ${d.worse} on data that ${own(found).join(" and ")} learned from; this says nothing about other queries.`;
  const sure = d.significant ? "significant" : "not significant";
  return `${metric}: ${d.better} is ${shown(d.difference)} above ${d.worse} (${shown(d.interval[0])} to ${shown(d.interval[1])}); ${count(d.wins, "query", "queries")} won, ${d.ties} tied, ${d.losses} lost; p ${d.p < 0.001 ? "< 0.001" : `= ${d.p.toFixed(3)}`}, ${sure} at 0.05.`;
}

function perQuery(app, found) {
  const two = found.models.length > 1;
  const first = (one) => one.values[0];
  const order = found.queries.slice().sort((x, y) => (two ? Math.abs((first(y)[0] ?? 0) - (first(y)[1] ?? 0)) - Math.abs((first(x)[0] ?? 0) - (first(x)[1] ?? 0)) : (first(x)[0] ?? 2) - (first(y)[0] ?? 2)));
  const metric = found.metrics[0].metric;
  const heads = [{ text: "Query" }, { text: "Grades", number: true }, ...found.models.map((name) => ({ text: two ? `${metric} ${name}` : metric, number: true })), ...(two ? [{ text: "Difference", number: true }] : [])];
  const rows = order.slice(0, MANY).map((one) => [link(app, one.query), String(one.graded), ...first(one).map((value) => shown(value)), ...(two ? [known(first(one)[0]) && known(first(one)[1]) ? signed(first(one)[0] - first(one)[1]) : "–"] : [])]);
  const how = two ? "the largest differences first" : "the worst first";
  return scroll("Values of each query", table({ caption: `${order.length > MANY ? `${MANY} of ` : ""}${count(order.length, "query", "queries")}, ${how}`, heads, rows, id: "queries" }), { tall: true });
}

const link = (app, query, view = "rank") => {
  const { text } = app.catalogue.find(query) || {};
  return [el("a", { href: app.href({ view, q: query, pair: [], doc: "", all: "" }) }, text || query), text ? el("small", { class: "id" }, ` ${query}`) : null];
};

function judges(app, found) {
  if (!app.about.store) return empty("The service stores no judgments. Start it with --store feedback.db");
  if (!found) return empty("Judgments need a key of role judge.");
  if (found instanceof Error) return empty(found.message);
  if (!found.total) return empty("No judgments yet.");
  const { agreement } = found;
  const files = [["qrels", "/v1/judgments.qrels"], ["letor", "/v1/judgments.letor"]].map(([kind, path]) => download(kind === "qrels" ? "Qrels (TREC)" : "Training data (LETOR)", `judgments.${kind}`,
    () => api.ask(path, { text: true }).catch((problem) => { app.trouble(problem); throw problem; })));
  return [el("p", {}, `${count(found.total, "judgment")} by ${count(Object.keys(found.judges).length, "judge")}.`, agreement ? ` ${agreement.name}: ${shown(agreement.value, 2)} (${shown(agreement.interval[0], 2)} to ${shown(agreement.interval[1], 2)}) on ${count(agreement.documents, "document")} with two grades or more; 1 is full agreement, 0 is chance.` : " No document has two grades yet."),
    scroll("Judges", table({ caption: "Judgments by judge", heads: [{ text: "Judge" }, { text: "Judgments", number: true }], rows: Object.entries(found.judges).map(([who, n]) => [who, String(n)]) })),
    found.disagreements.length ? [el("h3", {}, "Disagreements of judges"), scroll("Disagreements", table({ caption: "Largest difference first", heads: [{ text: "Query" }, { text: "Document" }, { text: "Grades" }],
      rows: found.disagreements.map((one) => [link(app, one.query, "judge"), one.id, Object.entries(one.grades).map(([who, grade]) => `${who} ${short(grade)}`).join(", ")]), id: "disagreements" }), { tall: true })] : null,
    el("div", { class: "actions" }, files)];
}

function service(app, health) {
  const { about, models } = app;
  const facts = [`podium ${about.podium}`, health instanceof Error ? `not ready: ${health.message}` : "ready", known(about.queries) ? count(about.queries, "query", "queries") + " of data" : "no data", known(about.documents) ? `an index of ${count(about.documents, "document")}` : "no index", about.store ? "stores feedback" : "stores no feedback"];
  return [el("p", {}, `${facts.join(", ")}. You are ${about.caller.name} (${about.caller.role}).`),
    models.models.length ? scroll("Models", table({ caption: "Models of the model store", heads: [{ text: "Model" }, { text: "Aliases" }, { text: "Features", number: true }, { text: "Odds" }, { text: "Searches" }, { text: "Learner", class: "wrap" }], rows: models.models.map((one) => [one.model, one.aliases.join(", "), String(one.n_features), one.odds ? "yes" : "no", one.searches ? "yes" : "no", one.learner]) })) : empty("No model is loaded."),
    api.key() ? el("div", { class: "actions" }, el("button", { type: "button", onclick: () => { api.setKey(""); location.reload(); } }, "Forget my key")) : null];
}

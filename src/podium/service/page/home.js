// The start page: what one can do here, in a sentence each, and the queries of the data.
import * as api from "./api.js";
import { count, el, empty } from "./dom.js";

// The list of queries alone, of the views Rankings and Judge.
export async function gatherList(app) {
  const judging = app.state.view === "judge" && app.may("judge");
  const answer = judging ? await api.orNull(api.judgments("")) : null;
  app.judged = answer && answer.judgments.filter((one) => one.who === app.me()).reduce((sum, one) => sum.set(one.query, (sum.get(one.query) || 0) + 1), new Map());
}

export function listView(app) {
  const { about, state } = app;
  if (state.view === "judge" && !about.store) return el("section", {}, el("h2", {}, "Judge"), empty("The service stores no judgments. Start it with --store feedback.db"));
  if (state.view === "judge" && !app.may("judge")) return el("section", {}, el("h2", {}, "Judge"), empty(`Grading needs a key of role judge; ${about.caller.name} has ${about.caller.role}.`));
  if (about.queries === null) return el("section", {}, el("h2", {}, about.documents === null ? "No queries" : "Search first"), empty(about.documents === null ? NOTHING : "There are no queries of data here: type a query above to see how its documents are ranked."));
  return app.catalogue.section(state.view === "judge" ? "judge" : "rank", app.judged);
}

const NOTHING = "The service was started without data and without an index. Start it with queries to look at: podium serve MODEL --data DATA, or podium serve INDEX.";

export function startView(app) {
  const { about } = app;
  const cards = [about.documents !== null && searchCard(app), about.queries !== null && rankCard(app), app.may("judge") && judgeCard(app), app.may("judge") && experimentCard(app)].filter(Boolean);
  return el("div", {}, cards.length ? el("ul", { class: "cards" }, cards) : null,
    about.queries !== null ? app.catalogue.section("rank") : null,
    about.queries === null && about.documents === null ? el("section", {}, el("h2", {}, "No queries"), empty(NOTHING)) : null);
}

const card = (title, href, text, ...more) => el("li", {}, el("h2", {}, el("a", { href }, title)), el("p", {}, text), ...more);

function searchCard(app) {
  const model = app.searchModel();
  const able = app.models.models.find((one) => one.searches);
  const text = model ? `Search ${count(app.about.documents, "document")}. BM25 finds them, and ${app.modelName(model)} puts them in order; see both side by side.`
    : `Search ${count(app.about.documents, "document")} by BM25. ${able ? `${able.model} can put them in order, if you choose it.` : "No model here was trained on features of this index."}`;
  const examples = app.catalogue.items.filter((one) => one.text).slice(0, 3);
  return el("li", {}, el("h2", {}, el("button", { type: "button", class: "plain", onclick: () => document.getElementById("query").focus() }, "Search")), el("p", {}, text),
    examples.length ? el("p", { class: "note" }, "Try ", examples.map((one, k) => [k ? ", " : "", el("a", { href: app.href({ view: "rank", q: one.text, a: "", b: model ? app.BM25 : "" }) }, one.text)]), ".") : null);
}
const rankCard = (app) => card("Look at rankings", app.href({ view: "rank", q: "" }), `${count(app.about.queries, "query", "queries")} with their documents: scores, odds, and why one document is above another.`);
const judgeCard = (app) => card("Judge", app.href({ view: "judge", q: "" }), `Grade documents from 0 to ${app.about.scale} by keyboard. Grades become metrics, test data and training data.`);
const experimentCard = (app) => card("Experiments", app.href({ view: "experiments", q: "" }), app.models.models.length > 1 ? "Let a new model answer real users, by interleaving or an A/B test, and read the verdict at any time." : "Compare a new model with the one in use, on real users. It needs a second model.");

// Experiments: start one, watch it, end it.
import * as api from "./api.js";
import { clock, count, el, empty, known, scroll, shown, table } from "./dom.js";

const EVERY = 10000; // milliseconds between two looks
const KINDS = [["interleave", "Interleaving: both share each page"], ["split", "A/B test: half of the users each"], ["shadow", "Shadow: the candidate ranks, nobody sees it"]];
const METHODS = ["team-draft", "probabilistic"];

export async function gatherExperiments(app) {
  if (!app.may("judge")) return null;
  return api.experiments();
}

export function experimentsView(app) {
  const host = el("div", { id: "experiment-list" }, list(app, app.experiments));
  watch(app, host);
  return el("div", { class: "lists" },
    el("section", { "aria-labelledby": "h-experiments" }, el("h2", { id: "h-experiments" }, "Experiments"),
      el("p", { class: "note" }, "Verdicts are sequentially valid: look as often as you like, and end an experiment at any look. If users prefer neither model, a winner is called in at most 5 % of experiments (at confidence 0.95). An experiment ends by itself once the candidate is better after enough pages, or as soon as it is worse. No model is swapped."), host),
    el("section", { "aria-labelledby": "h-new" }, el("h2", { id: "h-new" }, "Start an experiment"), form(app)));
}

// Look again from time to time, as long as the view is open and its window is seen.
function watch(app, host) {
  const timer = setInterval(async () => {
    if (!host.isConnected) return clearInterval(timer);
    if (document.hidden || host.contains(document.activeElement)) return;
    try { app.experiments = await gatherExperiments(app); } catch { return; } // the next look may succeed
    if (host.isConnected) host.replaceChildren(...[list(app, app.experiments)].flat());
  }, EVERY);
}

function list(app, answer) {
  if (!app.about.store) return empty("Experiments need a store of clicks. Start the service with --store feedback.db");
  if (!answer) return empty("Experiments need a key of role judge.");
  if (!answer.experiments.length) return empty("No experiments yet.");
  return answer.experiments.map((one) => experiment(app, one));
}

function experiment(app, one) {
  const day = (time) => `${new Date(time).toLocaleDateString()} ${clock(time)}`;
  const state = one.ended ? `ended ${day(one.ended)} (${{ asked: "on request", decided: "the candidate is better", harm: "the candidate is worse" }[one.why]})` : `running since ${day(one.started)}`;
  return el("article", { class: "card", "data-experiment": one.name }, el("div", { class: "headline" }, el("h3", {}, one.name), el("p", { class: "note" }, `${one.kind}${one.method ? ` (${one.method})` : ""}, ${state}`)),
    el("p", {}, el("strong", {}, `${one.candidate} against ${one.control}: ${one.verdict}.`)), numbers(one), one.ended || !app.role("admin") ? null : el("div", { class: "actions" }, ender(app, one)));
}

function numbers(one) {
  if (one.shadow) {
    const s = one.shadow;
    return scroll(`Numbers of ${one.name}`, table({ caption: " Agreement of the two rankings", heads: [{ text: "Requests", number: true }, { text: "Kendall's τ", number: true }, { text: "Top-10 overlap", number: true }, { text: "Score difference", number: true }, { text: "ms", number: true }], rows: [[String(s.requests), shown(s.kendall, 3), shown(s.top10_overlap, 3), shown(s.difference, 3), shown(s.ms, 2)].map((text) => el("td", { class: "number" }, text))] }));
  }
  const p = one.preference;
  const pages = one.kind === "split" ? "Users" : "Pages";
  const heads = [pages, "Wins", "Losses", "Ties"].map((text) => ({ text, number: true })).concat({ text: "Credit", number: true }, { text: `${Math.round(100 * one.confidence)} % interval, valid at any look`, number: true }, { text: "Interval from −1 to 1", hidden: true });
  const at = (value) => `${50 * (value + 1)}%`;
  const bar = el("span", { class: "track", "aria-hidden": "true" }, p.interval ? el("span", { class: "soft", style: { left: at(p.interval[0]), width: `${50 * (p.interval[1] - p.interval[0])}%` } }) : null, el("span", { class: "dot", style: { left: at(p.credit) } }), el("span", { class: "tick", style: { left: "50%" } }));
  const cells = [p.pages, p.wins, p.losses, p.ties].map(String).concat(shown(p.credit, 3), p.interval ? `${shown(p.interval[0], 3)} to ${shown(p.interval[1], 3)}` : "–");
  return [scroll(`Numbers of ${one.name}`, table({ caption: " Wins of the candidate and its credit", heads, rows: [[...cells.map((text) => el("td", { class: "number" }, text)), el("td", {}, bar)]], id: `experiment-${one.name}` })),
    one.arms ? el("p", { class: "note" }, Object.entries(one.arms).map(([arm, { users, clicked }]) => `${arm}: ${clicked} of ${count(users, "user")} clicked`).join("; ") + ".") : null];
}

// Ending asks once more, in place.
function ender(app, one) {
  const button = el("button", { type: "button", onclick: async () => {
    if (!button.dataset.sure) { button.dataset.sure = "1"; button.textContent = `End ${one.name} now? Press again`; return; }
    try { await api.endExperiment(one.name); } catch (problem) { return app.trouble(problem); }
    await app.load();
    app.say(`${one.name} was ended. Its results stay, and late clicks still count.`);
  } }, "End the experiment");
  return button;
}

const choice = (label, id, options, value) => el("label", {}, `${label} `, el("select", { id }, options.map(([one, text]) => el("option", { value: one, selected: one === value }, text || one))));

function form(app) {
  const names = app.models.models.map((one) => [one.model, one.model]);
  if (known(app.about.documents)) names.push(["bm25", "BM25, the first stage of searches"]);
  if (!app.may("judge") || !app.role("admin")) return empty("Starting an experiment needs a store (--store) and the role admin.");
  if (names.length < 2) return empty("Two models, or a model and an index, are needed: the one in use, and a candidate. Give both to podium serve, or put one with PUT /v1/models/NAME.");
  const control = app.models.aliases.default || names[0][0];
  const method = choice("Method of interleaving", "x-method", METHODS.map((one) => [one]), METHODS[0]);
  const kind = choice("Kind", "x-kind", KINDS, "interleave");
  kind.querySelector("select").addEventListener("change", (event) => { method.hidden = event.target.value !== "interleave"; });
  const start = async (event) => {
    event.preventDefault();
    const value = (id) => document.getElementById(id).value.trim();
    const body = { name: value("x-name"), kind: value("x-kind"), control: value("x-control"), candidate: value("x-candidate"), method: value("x-method"), min_pages: Number(value("x-pages")) };
    try { await api.startExperiment(body); } catch (problem) { return app.trouble(problem); }
    await app.load();
    app.say(`${body.name} has started.`);
  };
  return el("form", { id: "new-experiment", onsubmit: start },
    el("div", { class: "controls" }, el("label", {}, "Name ", el("input", { id: "x-name", required: true, maxlength: "64", pattern: "[a-z0-9][a-z0-9._\\-]*", title: "lower-case letters, digits, . _ -", autocomplete: "off" })),
      choice("In use (A, control)", "x-control", names, control), choice("Candidate (B)", "x-candidate", names, names.map(([name]) => name).find((name) => name !== control)),
      kind, method, el("label", {}, "Pages before B can win ", el("input", { id: "x-pages", type: "number", min: "1", max: "1000000000", value: "400", required: true })),
      el("button", { type: "submit" }, "Start")),
    el("p", { class: "note" }, `All requests to POST /v1/rank and /v1/search that ask for A take part, from now on; those of this page do not. A search that names no model asks for BM25. Clicks come with POST /v1/feedback.${known(app.models.aliases.default) ? ` Clients that name no model ask for ${control}.` : ""}`));
}

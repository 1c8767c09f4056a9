// Side panels of a ranking: why one document is above another, and the features of a document.
import { breakable, count, el, empty, feature, known, scroll, short, shown, signed, table } from "./dom.js";
import { nameOf } from "./documents.js";

// Why A is above B: what each feature adds, how that was computed, and the smallest flip.
export function why(app) {
  const { pair } = app.state;
  const question = (text) => [headline(app, "Why is one above the other?"), empty(text)];
  if (pair.length !== 2) return pair.length ? question(`Tick another document to compare it with ${nameOf(app, pair[0])}.`) : null;
  const found = app.found.explained;
  if (found instanceof Error) return question(found.message);
  if (!found) return question("BM25 has no features to explain. Choose a model.");
  const [up, low] = found.documents;
  const reach = Math.max(1e-12, ...found.features.map((one) => Math.abs(one.share)));
  const bar = (share) => el("span", { class: share < 0 ? "bar minus" : "bar", style: { width: `${(100 * Math.abs(share)) / reach}%` } });
  const row = (one) => [el("th", { scope: "row" }, breakable(one.feature)), signed(one.share),
    el("span", { class: "both", "aria-hidden": "true" }, el("span", {}, one.share < 0 ? bar(one.share) : null), el("span", {}, one.share > 0 ? bar(one.share) : null)), el("td", { class: "number values" }, el("span", {}, short(one.values[0])), el("span", {}, short(one.values[1])))];
  const rows = found.features.map(row);
  const rest = found.others + found.rest;
  if (Math.abs(rest) > 5e-5) rows.push(["all others", signed(rest), "", ""]);
  rows.push(["difference", signed(found.difference), "", ""]);
  const [upper, lower] = [up, low].map((one) => nameOf(app, one.document));
  const place = (one) => `${nameOf(app, one.document)} (rank ${one.rank}, score ${shown(one.score)})`;
  const heads = [{ text: "Feature" }, { text: "Share", number: true }, { text: "Share as a bar", hidden: true }, { text: "Values of the two", number: true }];
  return [headline(app, `Why ${upper} is above ${lower}`), el("p", { class: "note" }, `${app.found.lists[0].model}: ${place(up)} above ${place(low)}. Shares add up to the difference of the scores: ${found.how}.`),
    el("p", { class: "note", id: "flip" }, flip(found, upper)), scroll("Shares of the features", table({ caption: ` What each feature adds for ${upper} over ${lower}`, heads, rows }))];
}

function flip(found, name) {
  if (!("flip" in found)) return "";
  if (!found.flip) return found.difference > 0 ? "No change of one feature alone was found that turns the pair round." : "Both have the same score.";
  const { feature: which, from, to, spreads, range } = found.flip;
  const beyond = range && (to < range[0] || to > range[1]);
  return `To turn the pair round by one feature: ${feature(which)} of ${name} from ${short(from)} to ${short(to)} (${shown(spreads, 2)} standard deviations).${beyond ? ` No document of this query has such a value: they have ${short(range[0])} to ${short(range[1])}.` : ""}`;
}

const headline = (app, text) => el("div", { class: "headline" }, el("h2", { id: "h-side" }, text), el("button", { type: "button", class: "close", "aria-label": "Close this panel", title: "Close (Esc)", onclick: () => app.go({ pair: [], doc: "" }) }, "✕"));

// The features of a document beside the smallest, middle and largest value of the query.
export function features(app) {
  const { found, state } = app;
  const values = found.values.get(state.doc);
  if (!values) return null;
  const rows = found.names.map((name, l) => spread(name, values[l], [...found.values.values()].map((row) => row[l])));
  const missing = values.filter((value) => !known(value)).length;
  const heads = [{ text: "Feature" }, { text: "Value", number: true }, { text: "Place in the range", hidden: true }, { text: "Min", number: true }, { text: "Median", number: true }, { text: "Max", number: true }];
  return [headline(app, `Features of ${nameOf(app, state.doc)}`), el("p", { class: "note" }, `Against all ${count(found.values.size, "document")} of the query; the line in a bar is the median.${missing ? ` ${count(missing, "value is", "values are")} missing.` : ""}`),
    scroll(`Values of ${state.doc}`, table({ caption: ` Features of ${state.doc}, with the query's smallest, middle and largest values`, heads, rows }))];
}

export function median(values) {
  const sorted = values.filter(known).sort((a, b) => a - b);
  const half = sorted.length / 2;
  return sorted.length ? (sorted[Math.floor(half - 0.5)] + sorted[Math.floor(half)]) / 2 : null;
}

function spread(name, value, all) {
  const there = all.filter(known);
  const [low, high, middle] = there.length ? [Math.min(...there), Math.max(...there), median(there)] : [null, null, null];
  const at = (x) => `${high > low ? (100 * (x - low)) / (high - low) : 50}%`;
  const bar = el("span", { class: "track", "aria-hidden": "true" }, there.length ? el("span", { class: "tick", style: { left: at(middle) } }) : null, known(value) ? el("span", { class: "dot", style: { left: at(value) } }) : null);
  return [el("th", { scope: "row" }, breakable(name)), known(value) ? short(value) : el("span", { class: "missing" }, "missing"), bar, short(low), short(middle), short(high)];
}

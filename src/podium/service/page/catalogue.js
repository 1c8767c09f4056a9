// The queries of the data: their texts, numbers of documents and NDCG@10, as a list to filter and sort.
import * as api from "./api.js";
import { count, el, empty, known, scroll, shown, table } from "./dom.js";

const WHOLE = 2000; // up to so many queries are loaded at once, to be sorted here
const PART = 1000; // of one request
const PAGE = 50; // rows that are shown at first, and added by a press
const METRIC = "NDCG@10";

export class Catalogue {
  constructor(app) {
    this.app = app;
    this.items = []; // {id, text, documents}
    this.total = 0;
    this.values = new Map(); // model → id → NDCG@10
    this.filter = "";
    this.sort = null; // {by, down}
    this.rows = PAGE;
  }

  get whole() { return this.total <= WHOLE; }

  async load() {
    if (this.app.about.queries === null) return;
    this.total = this.app.about.queries;
    this.items = [];
    do this.items.push(...await this.part({ from: this.items.length, k: PART })); while (this.whole && this.items.length < this.total);
  }

  async part(options) {
    const answer = await api.queries(options);
    this.matching = answer.total;
    return answer.queries.map((id, k) => ({ id, text: answer.texts[k], documents: answer.documents[k] }));
  }

  find(id) { return this.items.find((one) => one.id === id) || null; }
  after(id) { return this.items[this.items.findIndex((one) => one.id === id) + 1 || Infinity] || null; }
  withText(text) { return this.items.find((one) => one.text?.toLowerCase() === text.toLowerCase()) || null; }

  // Queries whose id or text has the words; of many, those that the service finds.
  async search(text) {
    if (!this.whole && text) return this.part({ search: text });
    const wanted = text.toLowerCase();
    return this.items.filter((one) => one.id.toLowerCase().includes(wanted) || one.text?.toLowerCase().includes(wanted));
  }

  // NDCG@10 of each query, if the caller may ask for it; the list is drawn again when it is there.
  async measure(model) {
    const { app } = this;
    if (!app.about.graded || !app.role("judge") || !this.whole || !model || this.values.has(model)) return;
    this.values.set(model, new Map());
    const answer = await api.measures({ models: [model], grades: "data", metrics: ["ndcg@10"] }).catch(() => null);
    if (!answer) return;
    this.values.set(model, new Map(answer.queries.map((one) => [one.query, one.values[0][0]])));
    this.own = answer.on_training_data || [];
    this.draw();
  }

  // The list, as a section; `view` is where its links lead.
  section(view, judged) {
    this.view = view;
    this.judged = judged;
    this.rows = PAGE;
    this.host = el("div", {});
    const field = el("input", { id: "filter", type: "search", autocomplete: "off", spellcheck: "false", value: this.filter, oninput: () => {
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => { this.filter = field.value.trim(); this.rows = PAGE; this.draw(); }, this.whole ? 0 : 200);
    } });
    this.draw();
    const model = this.app.dataModel();
    this.measure(model).catch(this.app.trouble);
    return el("section", { "aria-labelledby": "h-pick" },
      el("div", { class: "headline" }, el("h2", { id: "h-pick" }, view === "judge" ? "Judge a query" : "Queries of the data"), el("div", { class: "controls" }, el("label", {}, "Filter by words or id ", field))), this.host);
  }

  value(one) { return this.values.get(this.app.dataModel())?.get(one.id) ?? null; }

  async draw() {
    const { app, host } = this;
    if (!host) return;
    const matching = await this.search(this.filter).catch((problem) => { this.app.trouble(problem); return []; });
    const measured = (this.values.get(this.app.dataModel())?.size || 0) > 0;
    const texts = this.items.some((one) => one.text);
    const columns = [
      { text: "Query", by: (one) => (one.text || one.id).toLowerCase(), cell: (one) => [el("a", { href: app.href({ view: this.view, q: one.id, pair: [], doc: "", all: "" }) }, one.text || one.id), one.text ? el("small", { class: "id" }, ` ${one.id}`) : null] },
      { text: "Documents", number: true, by: (one) => one.documents, cell: (one) => String(one.documents) },
      measured && { text: METRIC, number: true, by: (one) => this.value(one), cell: (one) => shown(this.value(one), 3) },
      this.judged && { text: "Judged by you", number: true, by: (one) => this.judged.get(one.id) || 0, cell: (one) => String(this.judged.get(one.id) || 0) },
    ].filter(Boolean);
    const sort = this.sort || (measured && this.view === "rank" ? { by: METRIC, down: false } : null);
    const column = sort && columns.find((one) => one.text === sort.by);
    if (column && this.whole) matching.sort((x, y) => compare(column.by(x), column.by(y), sort.down));
    const heads = columns.map((one) => ({ ...one, ...(this.whole ? { order: column === one ? (sort.down ? "descending" : "ascending") : "none", sort: () => this.sorted(one, column === one && !sort.down) } : {}) }));
    const rows = matching.slice(0, this.rows).map((one) => columns.map((each) => each.cell(one)));
    const total = this.whole || !this.filter ? (this.filter ? matching.length : this.total) : this.matching;
    const words = `${count(total, "query", "queries")}${this.filter ? ` with “${this.filter}”` : ""}${measured && column?.text === METRIC ? `, the ${sort.down ? "best" : "worst"} by ${this.app.modelName(this.app.dataModel())} first` : ""}${measured && this.own.length ? `. ${this.own.join(" and ")} was trained on this data, so that its ${METRIC} is too good` : ""}`;
    const focus = document.activeElement?.dataset?.sort;
    host.replaceChildren(rows.length ? scroll("Queries", table({ caption: words, heads, rows, id: "picks" })) : empty(`No query with “${this.filter}”${texts ? "" : " in its id"}.`),
      matching.length > this.rows ? el("div", { class: "actions" }, el("button", { type: "button", id: "more-queries", onclick: () => { this.rows += PAGE; this.draw(); } }, `Show ${Math.min(PAGE, matching.length - this.rows)} more`)) : "",
      !this.whole && !this.filter ? el("p", { class: "note" }, "Filter to reach the others.") : "");
    if (focus) [...host.querySelectorAll("[data-sort]")].find((one) => one.dataset.sort === focus)?.focus();
  }

  sorted(column, down) {
    this.sort = { by: column.text, down };
    return this.draw();
  }
}

function compare(x, y, down) {
  if (!known(x) || !known(y)) return known(y) - known(x);
  return (typeof x === "string" ? x.localeCompare(y, undefined, { numeric: true }) : x - y) * (down ? -1 : 1);
}

// The judge's view of a query: one document below the other with all that is known of it, and a grade for each.
import { el, scroll, table } from "./dom.js";
import { judgedCell } from "./documents.js";
import { gradeButtons, judgeName, othersText, setJudgeName, toRow, undo } from "./grades.js";

export const how = (app) => ({ say: app.say, changed: () => app.graded(), advance: app.state.view === "judge" ? (id) => advance(app, id) : null });

export function gradeCell(app, row) {
  const { grades } = app.found;
  return el("td", { "data-label": "Your grade" }, gradeButtons(grades, row.id, how(app)), el("span", { "data-others": row.id }, othersText(grades, row.id, { always: app.state.view !== "judge" })));
}

// After a grade: to the next document, and from the last one to the next query.
function advance(app, id) {
  const rows = [...document.querySelectorAll("tr[data-id]")];
  const next = rows[rows.findIndex((row) => row.dataset.id === id) + 1];
  if (next) toRow(next);
  else document.getElementById("next-query")?.focus();
}

export function judgeTable(app, list, most) {
  const rows = list.rows.slice(0, most).map((row) => el("tr", { "data-id": row.id, class: app.state.doc === row.id ? "chosen" : null }, judgedCell(app, row), gradeCell(app, row)));
  return scroll("Documents to judge", table({ caption: `In the order of ${list.model}; scores are not shown, so that they do not lead.`, heads: [{ text: "Document" }, { text: "Your grade" }], rows, id: "ranking-0", class: "stacks" }));
}

export function judgeHead(app) {
  const { scale, guidelines } = app.about;
  const field = app.open() ? el("label", {}, "Your name ", el("input", { id: "who", autocomplete: "off", maxlength: "80", value: judgeName(), placeholder: "anyone", onchange: (event) => { setJudgeName(event.target.value); app.load(); } })) : null;
  return el("div", {}, field ? el("div", { class: "controls" }, field) : null,
    guidelines ? el("details", { open: app.state.doc ? null : true }, el("summary", {}, "Guidelines"), el("p", { class: "guidelines" }, guidelines)) : null,
    el("p", { class: "note" }, `0 is not relevant, ${scale} is perfect. Keys: `, el("kbd", {}, "0"), "–", el("kbd", {}, String(scale)), " grade and go on, ", el("kbd", {}, "j"), " ", el("kbd", {}, "k"), " next and previous document, ", el("kbd", {}, "u"), " undo."));
}

export const progress = (app) => {
  const { grades, lists } = app.found;
  const done = lists[0].rows.filter((row) => grades.mine.has(row.id)).length;
  return el("p", { class: "note", id: "progress" }, `${done} of ${lists[0].rows.length} judged by you${judgeName() ? `, ${judgeName()}` : ""}`);
};

export function judgeActions(app) {
  const next = app.catalogue.after(app.state.q);
  return [el("button", { type: "button", onclick: () => undo(app.found.grades, how(app)) }, "Undo"),
    next ? el("button", { type: "button", id: "next-query", onclick: () => { app.go({ q: next.id, doc: "", all: "" }); window.scrollTo(0, 0); } }, `Next query: ${next.text || next.id}`) : null];
}

// As the view opens: the focus on the first document without a grade of one's own; the page moves only if it is out of sight.
export function toFirst(app) {
  const rows = [...document.querySelectorAll("tr[data-id]")];
  const first = rows.findIndex((row) => !app.found.grades.mine.has(row.dataset.id));
  if (first > 0) toRow(rows[first]);
  else rows[0]?.querySelector(".grades button[tabindex='0']")?.focus({ preventScroll: true });
}

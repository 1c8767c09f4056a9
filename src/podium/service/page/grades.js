// Grades of the documents of a query: buttons from 0 up, saved at once, undone with u.
import * as api from "./api.js";
import { clock, dialog, el, hidden, short } from "./dom.js";

const NAME = "podium-judge";
export const judgeName = () => sessionStorage.getItem(NAME) || "";
export const setJudgeName = (name) => sessionStorage.setItem(NAME, name.trim());

// What is known of one query: {query, me, scale, mine: id → grade, others: id → [[who, grade]], undo: [[id, grade before]]}
export function gradesOf(query, judgments, { me, scale, asks }) {
  const grades = { query, me, scale, asks, mine: new Map(), others: new Map(), undo: [] };
  for (const one of judgments) {
    if (one.who === me) grades.mine.set(one.id, one.grade);
    else grades.others.set(one.id, [...(grades.others.get(one.id) || []), [one.who, one.grade]]);
  }
  return grades;
}

// The judge has said who they are: grades under that name are theirs.
function rename(grades, me) {
  grades.me = me;
  grades.asks = false;
  for (const [id, others] of grades.others) {
    const own = others.find(([who]) => who === me);
    if (own) grades.mine.set(id, own[1]);
    grades.others.set(id, others.filter((one) => one !== own));
  }
}

// Ask for the judge's name, before the first grade; false if the judge turns back.
async function named(grades) {
  if (!grades.asks) return true;
  const field = el("input", { id: "judge-name", autocomplete: "off", maxlength: "80" });
  const { box, closed } = dialog({ id: "name", "aria-labelledby": "h-name" }, el("form", { method: "dialog" },
    el("h2", { id: "h-name" }, "Who grades?"), el("p", { class: "note" }, "Grades are kept under your name, so that judges can be compared. Without one they are of “anyone”."),
    el("label", {}, "Your name ", field), el("div", { class: "actions" }, el("button", { value: "go" }, "Continue"), el("button", { value: "", type: "button", onclick: () => box.close("") }, "Back"))));
  field.focus();
  if ((await closed) !== "go") return false;
  setJudgeName(field.value);
  rename(grades, judgeName() || grades.me);
  return true;
}

// Whether judges differ on a document.
export const apart = (grades, id) => new Set([...(grades.others.get(id) || []).map(([, grade]) => grade), ...(grades.mine.has(id) ? [grades.mine.get(id)] : [])]).size > 1;

function paint(group, grades, id) {
  const mine = grades.mine.get(id);
  const first = Number.isInteger(mine) && mine <= grades.scale ? mine : 0;
  group.querySelectorAll("button").forEach((button, grade) => {
    button.setAttribute("aria-pressed", String(grade === mine));
    if (!group.contains(document.activeElement)) button.tabIndex = grade === first ? 0 : -1;
  });
}
const groups = (id) => [...document.querySelectorAll("[data-grades]")].filter((group) => group.dataset.grades === id);

// The buttons of one document; `changed` is called when the service has written a grade.
export function gradeButtons(grades, id, how) {
  const buttons = Array.from({ length: grades.scale + 1 }, (_, grade) => el("button", { type: "button", "aria-pressed": "false", onclick: () => save(grades, id, grade, how) }, String(grade)));
  const group = el("span", { class: "grades", role: "group", "aria-label": `Your grade of ${id}`, "data-grades": id }, buttons);
  group.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const next = step && buttons[buttons.indexOf(document.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    buttons.forEach((button) => { button.tabIndex = button === next ? 0 : -1; });
    next.focus();
  });
  paint(group, grades, id);
  return group;
}

// What others gave; a judge sees it after a grade of their own.
export function othersText(grades, id, { always }) {
  const others = grades.others.get(id) || [];
  if (!others.length || !(always || grades.mine.has(id))) return null;
  return el("span", { class: "others" }, apart(grades, id) ? "≠ " : "= ", hidden(apart(grades, id) ? "judges differ: " : "judges agree: "), others.map(([who, grade]) => `${who} ${short(grade)}`).join(", "));
}

async function save(grades, id, grade, { say, changed, advance, undoing }) {
  if (!(await named(grades))) return;
  const before = grades.mine.has(id) ? grades.mine.get(id) : null;
  const set = (value) => {
    if (value === null) grades.mine.delete(id); else grades.mine.set(id, value);
    groups(id).forEach((group) => paint(group, grades, id));
  };
  if (!undoing) advance?.(id);
  if (before === grade) return;
  set(grade);
  groups(id).forEach((group) => group.classList.add("saving"));
  say(`Saving the grade of ${id}…`);
  try {
    const done = await api.judge({ query: grades.query, id, grade, who: grades.me });
    if (!undoing) grades.undo.push([id, before]);
    say(`${id}: ${grade === null ? "grade taken back" : `grade ${grade}`}, saved ${clock(done.time)}.`);
    changed(id);
  } catch (problem) {
    set(before);
    say(`${id}: not saved. ${problem.message}`, true);
  }
  groups(id).forEach((group) => group.classList.remove("saving"));
}

export function undo(grades, how) {
  const last = grades.undo.pop();
  if (!last) return how.say("Nothing to undo.");
  const row = groups(last[0])[0]?.closest("tr[data-id]");
  if (row && how.advance) toRow(row);
  return save(grades, last[0], last[1], { ...how, undoing: true });
}

// Keys of the rows: j and k go down and up, digits grade, u undoes. Only where the focus is in a row.
export function keys(event, host, grades, how) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox") return;
  const rows = [...host.querySelectorAll("tr[data-id]")];
  const row = event.target.closest("tr[data-id]");
  if (!row) return;
  const step = { j: 1, k: -1 }[event.key];
  if (step) {
    const next = rows[rows.indexOf(row) + step];
    if (next) toRow(next);
  } else if (/^\d$/.test(event.key) && Number(event.key) <= grades.scale) save(grades, row.dataset.id, Number(event.key), how);
  else if (event.key === "u") undo(grades, how);
  else return;
  event.preventDefault();
}

export function toRow(row) {
  const button = row.querySelector('.grades [aria-pressed="true"]') || row.querySelector('.grades [tabindex="0"]') || row.querySelector("button");
  if (!button) return;
  button.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

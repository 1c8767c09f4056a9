// Grades of the documents of a query: buttons 0 to 4, saved at once, undone with u.
import * as api from "./api.js";
import { clock, el, hidden, short } from "./dom.js";

const GRADES = [0, 1, 2, 3, 4];
const NAME = "podium-judge";
export const judgeName = () => sessionStorage.getItem(NAME) || "";
export const setJudgeName = (name) => sessionStorage.setItem(NAME, name.trim());

// What is known of one query: {query, mine: id → grade, others: id → [[who, grade]], undo: [[id, grade before]]}
export function gradesOf(query, found, me) {
  const made = { query, me, mine: new Map(), others: new Map(), undo: [] };
  for (const one of found) {
    if (one.who === me) made.mine.set(one.id, one.grade);
    else made.others.set(one.id, [...(made.others.get(one.id) || []), [one.who, one.grade]]);
  }
  return made;
}

// Whether judges differ on a document.
export const apart = (grades, id) => new Set([...(grades.others.get(id) || []).map(([, grade]) => grade), ...(grades.mine.has(id) ? [grades.mine.get(id)] : [])]).size > 1;

function paint(group, grades, id) {
  const mine = grades.mine.get(id);
  const first = GRADES.includes(mine) ? mine : 0;
  group.querySelectorAll("button").forEach((button, grade) => {
    button.setAttribute("aria-pressed", String(grade === mine));
    if (!group.contains(document.activeElement)) button.tabIndex = grade === first ? 0 : -1;
  });
}

// The buttons of one document; `changed` is called when the service has written a grade.
export function gradeButtons(grades, id, { say, changed }) {
  const buttons = GRADES.map((grade) => el("button", { type: "button", "aria-pressed": "false", onclick: () => save(grades, id, grade, { say, changed }) }, String(grade)));
  const group = el("span", { class: "grades", role: "group", "aria-label": `Your grade of ${id}`, "data-grades": id }, buttons);
  group.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const next = step && buttons[buttons.indexOf(document.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    focusOn(buttons, next);
  });
  paint(group, grades, id);
  return group;
}

function focusOn(buttons, one) {
  buttons.forEach((button) => { button.tabIndex = button === one ? 0 : -1; });
  one.focus();
}

// What others gave; a judge sees it after a grade of their own.
export function othersText(grades, id, { always }) {
  const others = grades.others.get(id) || [];
  if (!others.length || !(always || grades.mine.has(id))) return null;
  return el("span", { class: "others" }, apart(grades, id) ? "≠ " : "= ", hidden(apart(grades, id) ? "judges differ: " : "judges agree: "), others.map(([who, grade]) => `${who} ${short(grade)}`).join(", "));
}

async function save(grades, id, grade, { say, changed, undoing }) {
  const before = grades.mine.has(id) ? grades.mine.get(id) : null;
  if (before === grade) return;
  const set = (value) => {
    if (value === null) grades.mine.delete(id); else grades.mine.set(id, value);
    document.querySelectorAll("[data-grades]").forEach((group) => { if (group.dataset.grades === id) paint(group, grades, id); });
  };
  const groups = [...document.querySelectorAll("[data-grades]")].filter((group) => group.dataset.grades === id);
  set(grade);
  groups.forEach((group) => group.classList.add("saving"));
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
  groups.forEach((group) => group.classList.remove("saving"));
}

export function undo(grades, how) {
  const last = grades.undo.pop();
  if (!last) return how.say("Nothing to undo.");
  return save(grades, last[0], last[1], { ...how, undoing: true });
}

// Keys of the rows: j and k go down and up, 0 to 4 grade, u undoes. Only where the focus is in a row.
export function keys(event, host, grades, how) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox") return;
  const rows = [...host.querySelectorAll("tr[data-id]")];
  const row = event.target.closest("tr[data-id]");
  if (!row) return;
  const step = { j: 1, k: -1 }[event.key];
  if (step) {
    const next = rows[rows.indexOf(row) + step];
    if (next) toRow(next);
  } else if (/^[0-4]$/.test(event.key)) save(grades, row.dataset.id, Number(event.key), how);
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

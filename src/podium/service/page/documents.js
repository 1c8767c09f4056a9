// Documents as people know them: a title with the id beside it, and the fields that the index stores.
import { el, hidden, short } from "./dom.js";

const TITLES = ["title", "name", "headline"];
const TEXTS = ["text", "body", "description", "abstract", "content"];
// The address of a page if a value is one, else null: no other scheme becomes a link.
function webAddress(value) {
  if (typeof value !== "string" || !/^https?:\/\/\S+$/i.test(value)) return null;
  try { return new URL(value).href; } catch { return null; }
}
const isFact = (value) => typeof value === "number" || typeof value === "boolean" || (typeof value === "string" && value.trim() !== "") || (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one !== "object"));

export const titleOf = (document) => TITLES.map((name) => document?.[name]).find((value) => typeof value === "string" && value.trim() !== "") || null;
// The title of a document of the current view, else its id.
export const nameOf = (app, id) => titleOf(app.found.stored.get(id)) || id;

// The document's name opens its features; the id stands beside a title. Of a search, the text with the words that were asked for.
export function documentCell(app, row, { opens = true, details = true } = {}) {
  const chosen = app.state.doc === row.id;
  const title = titleOf(row.document);
  const name = opens && app.found.values.get(row.id)?.length
    ? el("button", { type: "button", class: "plain", "data-doc": row.id, "aria-pressed": String(chosen), onclick: () => app.go({ doc: chosen ? "" : row.id, pair: [] }) }, title || row.id, hidden(": features"))
    : el("span", {}, title || row.id);
  const id = title && title !== row.id ? el("small", { class: "id" }, ` ${row.id}`) : null;
  return el("th", { scope: "row", class: "document" }, name, id, details ? extras(row) : null);
}

const extras = (row) => (row.snippet ? el("small", { class: "snippet" }, marked(row.snippet, row.marks)) : null);

// All that a judge may know of a document: its text, its other fields, and links, which open in a new tab.
export function judgedCell(app, row) {
  const cell = documentCell(app, row, { details: false });
  const document = row.document || {};
  const shown = titleOf(document);
  const text = TEXTS.find((name) => typeof document[name] === "string" && document[name] !== shown);
  if (text) cell.append(el("p", { class: "text" }, row.snippet && row.marks.length ? marked(row.snippet, row.marks) : clipped(document[text], 500)));
  const facts = Object.entries(document).filter(([name, value]) => name !== "id" && name !== text && value !== shown && isFact(value));
  if (facts.length) cell.append(el("dl", { class: "facts" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, fact(value))))));
  return cell;
}

const clipped = (text, most) => (text.length > most ? `${text.slice(0, most).trimEnd()}…` : text);

function fact(value) {
  if (webAddress(value)) return el("a", { href: webAddress(value), target: "_blank", rel: "noopener noreferrer" }, clipped(value, 60));
  if (typeof value === "number") return short(value);
  return clipped(Array.isArray(value) ? value.join(", ") : String(value), 200);
}

function marked(text, marks) {
  const parts = [];
  let from = 0;
  const letters = [...text]; // places count characters, not UTF-16 units
  for (const [a, b] of marks) {
    parts.push(letters.slice(from, a).join(""), el("mark", {}, letters.slice(a, b).join("")));
    from = b;
  }
  return [...parts, letters.slice(from).join("")];
}

// Elements and numbers. Whatever comes from the service becomes text, never markup.
import { meaning } from "./help.js";

const fill = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "style") Object.assign(node.style, value);
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
};
export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const at = (id) => document.getElementById(id);
export const put = (host, ...children) => { host.replaceChildren(); return fill(host, {}, children); };

export const known = (x) => x !== null && x !== undefined;
export const shown = (x, digits = 4) => (known(x) ? x.toFixed(digits).replace("-", "−") : "–");
export const signed = (x, digits = 4) => (known(x) ? (x < 0 ? "" : "+") + shown(x, digits) : "–");
export const short = (x) => (known(x) ? String(+x.toPrecision(4)).replace("-", "−") : "–");
export const percent = (p) => (p > 0 && p < 0.01 ? "< 1 %" : `${Math.round(100 * p)} %`);
export const count = (n, word, plural) => `${n} ${n === 1 ? word : plural || word + "s"}`;
export const feature = (name) => (/^\d+$/.test(name) ? `feature ${name}` : name); // data without names has numbers
export const clock = (time) => new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
export const hidden = (text) => el("span", { class: "hidden" }, text);
// A long name breaks after _ ( = , and nowhere else.
export const breakable = (name) => String(name).split(/(?<=[_(=,])/).flatMap((part, k) => (k ? [el("wbr", {}), part] : [part]));

// A table of `heads` ({text, number, sort}) and rows, which are lists of cells or elements <tr>; heads that the glossary explains say so.
export function table({ caption, heads, rows, id, class: kind }) {
  const head = heads.map((one) => el("th", { scope: "col", class: one.number ? "number" : one.class, title: meaning(one.text), "aria-sort": one.order },
    one.hidden ? hidden(one.text) : one.sort ? el("button", { type: "button", class: "sort", onclick: one.sort, "data-sort": one.text }, one.text) : one.text));
  const body = rows.map((row) => (row instanceof Node ? row : el("tr", {}, row.map((cell, c) =>
    cell instanceof HTMLTableCellElement ? cell : el(c ? "td" : "th", { scope: c ? null : "row", class: heads[c].number ? "number" : heads[c].class }, cell)))));
  return el("table", { id, class: kind }, el("caption", { class: caption.startsWith(" ") ? "hidden" : null }, caption.trim()), el("thead", {}, el("tr", {}, head)), el("tbody", {}, body));
}

// What scrolls sideways, or down where it is tall: reached and named for the keyboard.
export const scroll = (label, content, { tall } = {}) =>
  el("div", { class: tall ? "scroll tall" : "scroll", tabindex: "0", role: "region", "aria-label": label }, content);

export const empty = (text, ...more) => el("p", { class: "empty" }, text, ...more);

// A button that downloads what the service answers: a link could not send the key.
export function download(text, name, fetchText) {
  return el("button", { type: "button", onclick: async () => {
    const url = URL.createObjectURL(new Blob([await fetchText()], { type: "text/plain" }));
    el("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  } }, text);
}

// A dialog over the page; Escape closes it, and the focus goes back. Resolves when it is closed.
export function dialog(attributes, ...children) {
  const box = el("dialog", attributes, ...children);
  document.body.append(box);
  box.showModal();
  return { box, closed: new Promise((resolve) => box.addEventListener("close", () => { box.remove(); resolve(box.returnValue); })) };
}

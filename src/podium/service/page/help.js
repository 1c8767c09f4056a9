// Help: a panel with the words of the page, and their meanings for the heads of columns.
import { dialog, el } from "./dom.js";

const WORDS = [
  ["Score", "What the model gives a document. Only the order and the differences within one query mean something."],
  ["P(first)", "The probability that this document is the best of the query, as far as the model knows. 40 % means: of a hundred such documents, about forty are the best."],
  ["Rank interval", "The ranks between which the document truly belongs with a probability of 90 %. A wide interval means that the model is not sure."],
  ["Odds", "P(first) and rank intervals. They need a model that has seen validation data, with which its scores were calibrated."],
  ["Reverse Plackett–Luce", "The way scores become odds: the last document is drawn first, then the last but one, and so on; a high score is seldom drawn early. Plackett–Luce draws from the top instead."],
  ["Temperature", "By how much scores are flattened before they become odds, so that events called 40 % happen in 40 of 100 cases. It was fitted on validation data."],
  ["Label", "The grade that the data has for this document."],
  ["Moved", "How many ranks the document is higher (▲) or lower (▼) than in the first list."],
  ["NDCG@10", "How good the first ten documents are, by their grades: 1 is the best possible order, 0 means that nothing relevant is among them. Higher places count more."],
  ["MAP", "Mean average precision: the share of relevant documents down to each relevant one, averaged."],
  ["MRR", "One divided by the rank of the first relevant document, averaged over queries."],
  ["95 % interval", "Where the mean would be on other queries of the same kind, in 95 of 100 cases."],
  ["p", "The probability of a difference like this if both models were equally good. Below 0.05 it is called significant."],
  ["BM25", "Ranking by the words of the query alone: rare words count more, long documents less. It is the first stage; a model re-ranks what it finds."],
  ["Share", "What a feature adds to the difference of two scores; all shares add up to it."],
  ["Interleaving", "Each user sees one list in which both models take turns; clicks decide. It needs far fewer users than an A/B test."],
  ["Credit", "Clicks in favour of the candidate less those in favour of the control, from −1 to 1. Above 0, users prefer the candidate."],
];
const KEYS = [["/", "to the search field"], ["?", "this help"], ["Esc", "close the panel"], ["j k", "next and previous document, while grading"], ["0 – 9", "grade the document"], ["u", "take the last grade back"]];

const BY_HEAD = new Map(WORDS);
export const meaning = (head) => BY_HEAD.get(head) || null;

export function showHelp() {
  if (document.querySelector("dialog[open]")) return;
  const close = el("button", { type: "button", class: "close", "aria-label": "Close the help", onclick: () => box.close() }, "✕");
  const { box } = dialog({ id: "help", "aria-labelledby": "h-help" },
    el("div", { class: "headline" }, el("h2", { id: "h-help" }, "Help"), close),
    el("h3", {}, "Keys"), el("dl", { class: "keys" }, KEYS.map(([key, text]) => el("div", {}, el("dt", {}, key.split(" ").filter((one) => one !== "–").map((one, k) => [k ? (key.includes("–") ? " – " : " ") : "", el("kbd", {}, one)])), el("dd", {}, text)))),
    el("h3", {}, "Words"), el("dl", {}, WORDS.map(([word, text]) => [el("dt", {}, word), el("dd", {}, text)])));
}

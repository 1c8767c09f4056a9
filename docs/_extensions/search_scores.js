/* Scores of the site's search. Sphinx gives equal scores to most pages and sorts these by title, so the kind of page
   decides among them: answers to single questions, guides, the generated reference, the project's own files. */
"use strict";

const KINDS_OF_PAGE = [
  ["faq", 3],
  ["how-to/", 3],
  ["tutorials/", 1],
  ["files/docs/", 1],
  ["reference/api/", -1],
  ["reference/commands/", -1],
  ["reference/service", -1],
  ["reference/", -2],
  ["benchmarks", -2],
  ["applications", -2],
  ["architecture", -3],
  ["files/", -4],
  ["", 1],
];

var Scorer = {
  score: ([page, , , , score]) => score + KINDS_OF_PAGE.find(([start]) => page.startsWith(start))[1],
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

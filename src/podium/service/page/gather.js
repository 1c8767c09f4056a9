// What the view of a query needs of the service: {query, text, searched, lists, names, values, stored, labels, grades, measured}.
import * as api from "./api.js";
import { gradesOf, judgeName } from "./grades.js";

const MOST = 20; // documents of a search

export async function gather(app) {
  const { state } = app;
  const models = [app.model(), state.view === "judge" ? "" : app.other()].filter((name, k) => k === 0 || name);
  const found = app.searching ? await searched(app, state.q, models) : await ranked(app, state.q, models);
  const judged = app.may("judge") ? (await api.judgments(found.query)).judgments : [];
  found.grades = gradesOf(found.query, judged, { me: app.me(), scale: app.about.scale, asks: app.open() && !judgeName() });
  found.measured = await measure(app, found);
  return found;
}

async function ranked(app, query, models) {
  const given = await api.documents(query);
  const named = given.features.some((name, l) => name !== String(l + 1)); // data without names goes by place
  const request = (model) => ({ model, query, documents: given.documents, ...(named && app.modelAbout(model).feature_names ? { features: given.features } : {}) });
  const { answers } = await api.rank(models.map((model) => ({ ...request(model), odds: app.modelAbout(model).odds !== false })));
  const values = new Map(given.documents.map((one) => [one.id, one.features]));
  const stored = new Map(Object.entries(given.stored));
  const lists = answers.map((one) => ({ ...one, rows: one.results.map((row) => ({ ...row, document: stored.get(row.id) })) }));
  const pair = (documents) => api.explain({ ...request(answers[0].model), pair: documents });
  return { query, text: given.text, lists, names: given.features, values, stored, labels: labels(given), pair, total: given.documents.length };
}

const labels = (given) => given.grades && new Map(given.documents.map((one, k) => [one.id, given.grades[k]]));

// A search by one model or two, BM25 among them. If the text is that of a query of the data, its labels are known.
async function searched(app, text, models) {
  const twin = app.catalogue.withText(text);
  const [given, ...answers] = await Promise.all([twin ? api.orNull(api.documents(twin.id)) : null,
    ...models.map((model) => api.search({ query: text, k: MOST, ...(model === app.BM25 ? {} : { model, explain: true }) }))]);
  const [first] = answers;
  const names = first.results[0]?.features ? Object.keys(first.results[0].features) : [];
  const values = new Map(first.results.map((one) => [one.id, names.map((name) => one.features[name])]));
  const stored = new Map(answers.flatMap((one) => one.results.map((row) => [row.id, row.document])));
  const lists = answers.map((one) => ({ ...one, model: one.model || "BM25", rows: one.results }));
  return { query: text, text, searched: true, twin, lists, names, values, stored, labels: given && labels(given), pair: async (documents) => fromShares(first, documents), unknown: first.unknown, total: first.results.length };
}

// Why one found document is above another: the shares that the search gave, one less the other.
function fromShares(answer, documents) {
  const [up, low] = documents.map((id) => answer.results.find((one) => one.id === id)).sort((x, y) => x.rank - y.rank);
  if (!up.shares) return null;
  const names = [...new Set([...Object.keys(up.shares), ...Object.keys(low.shares)])];
  const all = names.map((name) => ({ feature: name, share: (up.shares[name] || 0) - (low.shares[name] || 0), values: [up.features?.[name] ?? null, low.features?.[name] ?? null] }));
  const told = all.filter((one) => one.share !== 0).sort((x, y) => Math.abs(y.share) - Math.abs(x.share));
  const difference = up.score - low.score;
  return { documents: [up, low].map((one) => ({ document: one.id, score: one.score, rank: one.rank, grade: null })), difference, how: answer.shares, features: told, others: 0, rest: difference - told.reduce((sum, one) => sum + one.share, 0) };
}

// NDCG@10 of this query now, by the judges' grades if there are some, else by those of the data.
export async function measure(app, found) {
  if (app.state.view === "judge") return null; // it would lead
  const judged = found.grades.mine.size + found.grades.others.size > 0;
  const grades = judged ? "judges" : found.labels && !found.searched ? "data" : null;
  const models = found.lists.map((list) => list.model).filter((name) => name.includes("@"));
  if (!grades || !app.may("judge") || !models.length) return null;
  const answer = await api.orNull(api.measures({ models, grades, query: found.query, metrics: ["ndcg@10"] }));
  return answer?.queries.length ? { grades, own: answer.on_training_data || [], graded: answer.queries[0].graded, values: new Map(answer.models.map((name, k) => [name, answer.queries[0].values[0][k]])) } : null;
}

// Calls of the service. An answer other than success is a Problem with the service's own words.

const KEY = "podium-key";
export const key = () => sessionStorage.getItem(KEY) || "";
export const setKey = (value) => (value ? sessionStorage.setItem(KEY, value) : sessionStorage.removeItem(KEY));

// A sentence begins with a capital letter, unless it begins with a name such as web@1.
const sentence = (text) => text.replace(/^[a-z]+(?=[ ,:;.])/, (word) => word[0].toUpperCase() + word.slice(1));

export class Problem extends Error {
  constructor(status, detail, where) {
    super(where ? `${where}: ${detail}` : sentence(detail));
    this.status = status; // 0: the service does not answer
  }
}

export async function ask(path, { body, text } = {}) {
  const headers = key() ? { Authorization: `Bearer ${key()}` } : {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, { method: body === undefined ? "GET" : "POST", headers, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    throw new Problem(0, "The service does not answer. Is it running?");
  }
  if (answer.ok) return text ? answer.text() : answer.json();
  let told = {};
  try { told = await answer.json(); } catch { /* a proxy may answer in another way */ }
  throw new Problem(answer.status, told.detail || `The service answered ${answer.status}.`, told.where);
}

// Null for an error, unless the key or the service itself is missing.
export const orNull = (promise) => promise.catch((problem) => { if (problem.status === 0 || problem.status === 401) throw problem; return null; });

const query = (options) => new URLSearchParams(options.filter(([, value]) => value !== undefined && value !== null && value !== ""));
const name = encodeURIComponent;

export const about = () => ask("/v1/about");
export const models = () => ask("/v1/models");
export const queries = ({ search, from, k } = {}) => ask(`/v1/queries?${query([["search", search], ["from", from], ["k", k]])}`);
export const documents = (q) => ask(`/v1/queries/${name(q)}`);
export const explain = (body) => ask("/v1/explain", { body });
export const search = (body) => ask("/v1/search", { body: { ...body, log: false } });
export const judgments = (q) => ask(`/v1/judgments?${query([["query", q]])}`);
export const judge = (judgment) => ask("/v1/judgments", { body: { judgments: [judgment] } });
export const measures = ({ models: names, grades, query: q, metrics = [] }) =>
  ask(`/v1/measures?${query([...names.map((one) => ["model", one]), ...metrics.map((one) => ["metric", one]), ["grades", grades], ["query", q]])}`);
export const experiments = () => ask("/v1/experiments");
export const startExperiment = (body) => ask("/v1/experiments", { body });
export const endExperiment = (one) => ask(`/v1/experiments/${name(one)}/end`, { body: {} });

// Rankings with odds where a model has them; if the service refuses odds, the rankings without.
export async function rank(requests) {
  const ranked = (odds) => ask("/v1/rank", { body: { queries: requests.map((one) => ({ ...one, odds: odds && one.odds, log: false })) } });
  try {
    return await ranked(true);
  } catch (problem) {
    if (problem.status !== 422 || !requests.some((one) => one.odds)) throw problem;
    return ranked(false);
  }
}

// Calls of the service. An answer other than success is a Problem with the service's own words.

const KEY = "podium-key";
export const key = () => sessionStorage.getItem(KEY) || "";
export const setKey = (value) => (value ? sessionStorage.setItem(KEY, value) : sessionStorage.removeItem(KEY));

export class Problem extends Error {
  constructor(status, detail, where) {
    super(where ? `${where}: ${detail}` : detail[0].toUpperCase() + detail.slice(1));
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

const query = (options) => new URLSearchParams(options.filter(([, value]) => value !== undefined && value !== null && value !== ""));

export const about = () => ask("/v1/about");
export const models = () => ask("/v1/models");
export const queries = (search = "") => ask(`/v1/queries?${query([["search", search]])}`);
export const documents = (q) => ask(`/v1/queries/${encodeURIComponent(q)}`);
export const rank = (requests) => ask("/v1/rank", { body: { queries: requests.map((one) => ({ ...one, odds: true, log: false })) } });
export const explain = (body) => ask("/v1/explain", { body });
export const search = (body) => ask("/v1/search", { body: { ...body, log: false } });
export const judgments = (q) => ask(`/v1/judgments?${query([["query", q]])}`);
export const judge = (judgment) => ask("/v1/judgments", { body: { judgments: [judgment] } });
export const measures = ({ models: names, grades, query: q, metrics = [] }) =>
  ask(`/v1/measures?${query([...names.map((name) => ["model", name]), ...metrics.map((name) => ["metric", name]), ["grades", grades], ["query", q]])}`);

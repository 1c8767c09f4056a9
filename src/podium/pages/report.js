"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { results, queries, values, details, ranking } = data;
  const metrics = Object.keys(results.metrics);
  const folds = (results.methods[ranking[0]] || { folds: [] }).folds.map((fold) => fold.fold);
  const several = folds.length > 1;
  const sign = () => (data.lower.includes(state.metric) ? -1 : 1); // whether more or less of the metric is better
  const tuning = results.tune_by || metrics[0];
  const { trained } = data; // else they are runs, as they are: without times, folds and hyperparameters
  const word = trained ? "method" : "run";
  const Word = trained ? "Method" : "Run";
  const state = { metric: metrics[0], method: ranking[0], baseline: data.baseline || ranking[1] || ranking[0], hidden: new Set(ranking.slice(8)) };
  const sorts = {}; // the column by which each table is sorted

  // Elements: whatever comes from the data becomes text, never markup.
  const SVG = "http://www.w3.org/2000/svg";
  const fill = (node, attributes, children) => {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "style") Object.assign(node.style, value);
      else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== undefined && value !== null) node.setAttribute(name, value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return node;
  };
  const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const draw = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
  const at = (id) => document.getElementById(id);
  const put = (id, ...children) => at(id).replaceChildren(...children.flat().filter((child) => child));

  const known = (x) => x !== null && x !== undefined;
  const shown = (x, digits = 4) => (known(x) ? x.toFixed(digits).replace("-", "−") : "–");
  const signed = (x, digits = 4) => (known(x) ? (x < 0 ? "" : "+") + shown(x, digits) : "–");
  const short = (x) => (known(x) ? String(+x.toPrecision(4)).replace("-", "−") : "–");
  const tiny = (p) => (p < 0.001 ? "< 0.001" : "= " + p.toFixed(3));
  const count = (n, word, plural) => `${n} ${n === 1 ? word : plural || word + "s"}`;
  const least = (list, start = Infinity) => list.reduce((a, b) => Math.min(a, b), start);
  const most = (list, start = -Infinity) => list.reduce((a, b) => Math.max(a, b), start);
  const mean = (list) => (list.length ? list.reduce((a, b) => a + b, 0) / list.length : null);
  const COLOURS = 12;
  const colour = (method) => `var(--c${ranking.indexOf(method) % COLOURS})`;
  const DASHES = ["", "6 3", "2 3", "8 3 2 3", "1 4"];
  const dash = (method) => DASHES[Math.floor(ranking.indexOf(method) / 6) % DASHES.length]; // so that like colours differ in their lines
  const key = (method) => draw("svg", { class: "key line", viewBox: "0 0 24 10", "aria-hidden": "true" }, draw("line", { x1: 0, x2: 24, y1: 5, y2: 5, stroke: colour(method), "stroke-width": 4, "stroke-dasharray": dash(method) }));
  const named = (method) => [key(method), method];
  const feature = (name) => (/^\d+$/.test(name) ? `feature ${name}` : name); // data without names has numbers
  // A long name breaks after _ ( = , and nowhere else.
  const breakable = (name) => feature(name).split(/(?<=[_(=,])/).flatMap((part, k) => (k ? [el("wbr"), part] : [part]));
  const list = (names, limit = 5) => (names.length <= limit ? names : [...names.slice(0, limit - 1), `${names.length - limit + 1} more`]).join(", ");

  // A table whose columns are {head, value, show, number}; the first one names the row.
  function table(host, { caption, columns, rows, sort, chosen, tall, limit }) {
    const how = (sorts[host] = sorts[host] || sort || null);
    const sorted = rows.slice();
    if (how && known(how.column)) {
      const of = columns[how.column].value;
      const text = typeof (rows.map(of).find(known) ?? 0) === "string";
      sorted.sort((a, b) => {
        const [x, y] = [of(a), of(b)];
        if (!known(x) || !known(y)) return known(y) - known(x);
        return (text ? x.localeCompare(y, undefined, { numeric: true }) : x - y) * (how.down ? -1 : 1);
      });
    }
    const head = columns.map((column, c) => {
      const attributes = { scope: "col", class: column.number ? "number" : null };
      if (!sort || !column.value) return el("th", attributes, column.head);
      const mine = how && how.column === c;
      attributes["aria-sort"] = mine ? (how.down ? "descending" : "ascending") : "none";
      const press = () => {
        sorts[host] = { column: c, down: mine ? !how.down : Boolean(column.number) };
        render();
        at(host).querySelectorAll("thead th")[c].querySelector("button").focus();
      };
      return el("th", attributes, el("button", { type: "button", onclick: press }, column.head));
    });
    const body = sorted.slice(0, limit).map((row) =>
      el("tr", { class: chosen && chosen(row) ? "chosen" : null }, columns.map((column, c) => {
        const content = column.show ? column.show(row) : column.value(row);
        const attributes = { class: column.class || (column.number ? "number" : null) };
        if (column.number && column.value) attributes["data-value"] = column.value(row);
        return c === 0 ? el("th", { scope: "row" }, content) : el("td", attributes, content);
      })));
    const made = el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, head)), el("tbody", {}, body));
    put(host, made);
    at(host).classList.toggle("tall", Boolean(tall));
    const words = (content) => [content].flat().map((part) => (part instanceof Node ? part.textContent : String(part ?? ""))).join("");
    const kept = columns.filter((column) => column.value);
    const tools = downloads.forTable(() => ({ caption, heads: kept.map((column) => ({ text: column.head, number: column.number })),
      rows: sorted.map((row) => kept.map((column) => ({ value: column.value(row), text: words(column.show ? column.show(row) : column.value(row)) }))) }));
    const before = at(host).previousElementSibling;
    if (before.classList.contains("tools")) before.replaceWith(tools); else at(host).before(tools);
  }

  // The table of a chart, for screen readers.
  function numbers(caption, heads, rows) {
    const cell = (text, c) => (c ? el("td", { class: "number" }, text) : el("th", { scope: "row" }, text));
    const thead = el("thead", {}, el("tr", {}, heads.map((head, c) => el("th", { scope: "col", class: c ? "number" : null }, head))));
    const tbody = el("tbody", {}, rows.map((row) => el("tr", {}, row.map(cell))));
    const made = el("table", {}, thead, tbody);
    return el("details", {}, el("summary", {}, "As a table"), downloads.forTable(() => downloads.drawn(made, caption)), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The chart as a table" }, made));
  }

  function ticks(low, high, wanted) {
    const raw = (high - low) / wanted || 1;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((m) => m >= 0.7 * raw);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(+(k * step).toPrecision(12));
    return found;
  }
  // Places of labels from the top down, at least `gap` apart and within the chart if there is room.
  function spread(wanted, gap, top, bottom) {
    const found = [];
    wanted.forEach((y, k) => found.push(k ? Math.max(y, found[k - 1] + gap) : y));
    for (let k = found.length - 1, limit = bottom; k >= 0 && found[k] > limit; k--, limit -= gap) found[k] = limit;
    return found.length * gap > bottom - top ? found.map((_, k) => top + k * gap) : found;
  }
  const clipped = (text, limit) => (text.length > limit ? text.slice(0, limit - 1) + "…" : text);
  function around(list, share = 0.06) {
    const found = list.filter(known);
    if (!found.length) return [0, 1];
    const [low, high] = [least(found), most(found)];
    const margin = (high - low) * share || Math.abs(high) * share || 1;
    return [low - margin, high + margin];
  }
  function chart(host, { label, x, y, height = 300, right = 16, xTicks, yTicks, xName, yName, xShown = String }) {
    const width = Math.max(240, at(host) ? at(host).clientWidth : host.clientWidth);
    const box = { left: 52, right: width - right, top: 22, bottom: height - 40 };
    const X = (v) => box.left + ((v - x[0]) / (x[1] - x[0] || 1)) * (box.right - box.left);
    const Y = (v) => box.bottom - ((v - y[0]) / (y[1] - y[0] || 1)) * (box.bottom - box.top);
    const made = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
    for (const v of yTicks || ticks(...y, 5)) {
      made.append(draw("line", { class: "rule", x1: box.left, x2: box.right, y1: Y(v), y2: Y(v) }),
        draw("text", { x: box.left - 6, y: Y(v) + 4, "text-anchor": "end" }, String(v).replace("-", "−")));
    }
    for (const v of xTicks || ticks(...x, width / 90)) {
      made.append(draw("text", { x: X(v), y: box.bottom + 16, "text-anchor": "middle" }, xShown(v)));
    }
    made.append(draw("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }));
    if (xName) made.append(draw("text", { x: box.right, y: height - 6, "text-anchor": "end" }, xName));
    if (yName) made.append(draw("text", { x: 0, y: 12 }, yName));
    return { svg: made, X, Y, box, width };
  }
  const path = (points, attributes) =>
    draw("path", { d: points.map(([a, b], k) => `${k ? "L" : "M"}${a.toFixed(1)} ${b.toFixed(1)}`).join(""), fill: "none", "stroke-width": 2, "stroke-linejoin": "round", ...attributes });
  const dot = (cx, cy, paint, title, r = 5) =>
    draw("circle", { cx, cy, r, fill: paint, stroke: "var(--surface)", "stroke-width": 1.5 }, draw("title", {}, title));

  // Wins and losses of one method against another, as `podium` counts them: equal to 12 decimals is a tie.
  function differences(method, baseline) {
    const [a, b] = [values[state.metric][method], values[state.metric][baseline]];
    return a.map((v, q) => (known(v) && known(b[q]) ? +(v - b[q]).toFixed(12) : null));
  }
  function tally(method, baseline) {
    const found = differences(method, baseline).filter(known);
    return { won: found.filter((d) => sign() * d > 0).length, tied: found.filter((d) => d === 0).length, lost: found.filter((d) => sign() * d < 0).length, difference: mean(found) };
  }
  const winBar = (t) => {
    const part = (n, paint) => (n ? el("span", { style: { flex: String(n), background: paint } }) : null);
    return el("span", { class: "wl", "aria-hidden": "true" }, part(t.won, "var(--good)"), part(t.tied, "var(--even)"), part(t.lost, "var(--bad)"));
  };
  const tested = () => results.significance[state.metric];
  const system = (method) => (tested() ? tested().systems.find((one) => one.name === method) : null);
  function pair(method, baseline) {
    if (!tested()) return null;
    const found = tested().pairs.find((p) => (p.a === method && p.b === baseline) || (p.b === method && p.a === baseline));
    if (!found || found.a === method) return found;
    return { ...found, difference: -found.difference, interval: found.interval.map((v) => -v).reverse() };
  }

  function leaderboard() {
    const of = (method) => results.methods[method];
    const spans = ranking.map(system).filter(Boolean).flatMap((one) => one.interval);
    const [low, high] = around(spans, 0.02);
    const whisker = (method) => {
      const one = system(method);
      if (!one || !one.interval.every(known)) return "–";
      const X = (v) => 4 + ((v - low) / (high - low)) * 132;
      const words = `${shown(one.interval[0])} to ${shown(one.interval[1])}`;
      return draw("svg", { viewBox: "0 0 140 18", role: "img", "aria-label": words, style: { minWidth: "110px", maxWidth: "160px" } }, draw("title", {}, words),
        draw("line", { x1: X(one.interval[0]), x2: X(one.interval[1]), y1: 9, y2: 9, stroke: colour(method), "stroke-width": 3, "stroke-linecap": "round" }),
        dot(X(one.mean), 9, colour(method), shown(one.mean)));
    };
    const level = tested() ? Math.round(100 * (1 - tested().alpha)) : 95;
    const columns = [{ head: Word, value: (m) => m, show: named }];
    if (several) columns.push({ head: "Mean of folds", number: true, value: (m) => of(m).mean[state.metric], show: (m) => shown(of(m).mean[state.metric]) });
    const printed = data.published ? data.published.figures[state.metric] : {};
    const papers = Object.values(printed).some(Boolean);
    if (papers) columns.push({ head: "Published", number: true, value: (m) => parseFloat(printed[m]) || null, show: (m) => printed[m] || "–" });
    columns.push(
      { head: several ? "All queries" : "Mean", number: true, value: (m) => of(m).pooled[state.metric], show: (m) => shown(of(m).pooled[state.metric]) },
      ...(results.seeds.length > 1 ? [{ head: "± over seeds", number: true, value: (m) => of(m).spread[state.metric], show: (m) => shown(of(m).spread[state.metric]) }] : []),
      { head: `${level} % interval`, show: whisker },
      { head: "From", number: true, value: (m) => (system(m) ? system(m).interval[0] : null), show: (m) => shown(system(m) && system(m).interval[0]) },
      { head: "To", number: true, value: (m) => (system(m) ? system(m).interval[1] : null), show: (m) => shown(system(m) && system(m).interval[1]) },
      ...(data.baseline ? [{ head: `p against ${data.baseline}`, number: true, value: (m) => (pair(m, data.baseline) || {}).adjusted, show: (m) => shown((pair(m, data.baseline) || {}).adjusted) }]
        : [{ head: "Letters", value: (m) => (tested() ? tested().letters[m] : null), show: (m) => (tested() ? tested().letters[m] : "–") }]),
      { head: "Won–tied–lost", number: true, value: (m) => tally(m, state.baseline).won - tally(m, state.baseline).lost, show: (m) => {
        const t = tally(m, state.baseline);
        return m === state.baseline ? "baseline" : [`${t.won}–${t.tied}–${t.lost}`, winBar(t)];
      } },
      ...(trained ? [{ head: "Seconds", number: true, value: (m) => data.seconds[m], show: (m) => shown(data.seconds[m], 1) },
        { head: "CPU seconds", number: true, value: (m) => data.cpu[m], show: (m) => shown(data.cpu[m], 1) }] : []),
    );
    table("leaders", { caption: `${state.metric} on the ${trained ? "test " : ""}queries; won, tied and lost against ${state.baseline}`, columns, rows: ranking, sort: { column: 1, down: sign() > 0 }, chosen: (m) => m === state.method });
    const skipped = results.methods[ranking[0]].skipped[state.metric];
    const words = tested()
      ? `Intervals: bootstrap over queries. ${data.baseline ? "p-values are corrected for all tests" : `${Word}s that share a letter do not differ significantly`} (paired ${tested().test} test, ${tested().correction} correction, level ${tested().alpha}).`
      : "Too few queries count for intervals and tests.";
    const source = papers ? ` Published: ${data.published.name}, means of folds; ${data.published.sources.join("; ")}${data.published.caveat || "."}` : "";
    put("leaders-note", words + source + (skipped ? ` ${count(skipped, "query is", "queries are")} skipped, with nothing relevant.` : ""));
  }

  function versus() {
    const { metric, method, baseline } = state;
    const t = tally(method, baseline);
    const found = pair(method, baseline);
    let words = method === baseline ? `Choose a ${word} and another baseline above to compare them.`
      : `${method} against ${baseline} by ${metric}: ${t.won} won, ${t.tied} tied, ${t.lost} lost; mean difference ${signed(t.difference)}`;
    if (found) {
      words += ` (${Math.round(100 * (1 - tested().alpha))} % interval ${signed(found.interval[0])} to ${signed(found.interval[1])}), p ${tiny(found.p)}, corrected for all pairs p ${tiny(found.adjusted)}.`;
      if (!found.significant && found.needed) words += ` About ${found.needed} queries would be needed to see a difference like this.`;
    } else if (method !== baseline) words += ".";
    put("versus", words);
  }

  // The best method, and whether it is better than the others by more than chance.
  function leaders() {
    const value = (m) => results.methods[m].mean[state.metric];
    const ranked = ranking.filter((m) => known(value(m))).sort((a, b) => sign() * (value(b) - value(a)));
    if (ranked.length < 2) return ranked.length ? "" : `No query counts for ${state.metric}.`;
    const [best, ...others] = ranked;
    const start = `${sign() > 0 ? "Highest" : "Lowest"} ${state.metric}: ${best}`;
    if (!tested()) return `${start}; too few queries for a test.`;
    if (data.baseline) return `B${data.verdicts[state.metric].slice(1)}.`; // it begins with “by”
    const close = others.filter((m) => [...tested().letters[best]].some((letter) => tested().letters[m].includes(letter)));
    return close.length ? `${start}, but not significantly better than ${list(close)}.` : `Best by ${state.metric}: ${best}, significantly better than every other ${word}.`;
  }

  const queryText = (id) => (data.texts || {})[id];
  const title = (id) => ((data.titles || {})[id] ? `${data.titles[id]} [${id}]` : id);
  const namedQuery = (id) => (queryText(id) ? `query “${queryText(id)}” [${id}]` : `query ${id}`);
  const queryName = (q) => (several ? `${queries[q][0]}, ${namedQuery(queries[q][1])}` : namedQuery(queries[q][1]));
  const paint = (d) => (d > 0 ? "var(--good)" : d < 0 ? "var(--bad)" : "var(--even)");
  const judged = (d) => paint(sign() * d);
  function scatter() {
    const [a, b] = [values[state.metric][state.method], values[state.metric][state.baseline]];
    const all = [...a, ...b].filter(known);
    const range = all.every((v) => v >= 0 && v <= 1) ? [0, 1] : around(all);
    put("scatter-caption", `Each query: ${state.baseline} (across) and ${state.method} (up); ${sign() > 0 ? "above" : "below"} the line ${state.method} is better`);
    const c = chart("scatter", { label: `${state.metric} of each query, ${state.method} against ${state.baseline}; the table below has the values`, x: range, y: range, height: 320, xName: state.baseline, yName: state.method });
    c.svg.append(draw("line", { class: "axis", x1: c.X(range[0]), y1: c.Y(range[0]), x2: c.X(range[1]), y2: c.Y(range[1]), "stroke-dasharray": "4 4" }));
    differences(state.method, state.baseline).forEach((d, q) => {
      if (known(d)) c.svg.append(dot(c.X(b[q]), c.Y(a[q]), judged(d), `${queryName(q)}: ${shown(a[q])} and ${shown(b[q])}`, 4.5));
    });
    put("scatter", c.svg, downloads.forFigure(`${state.metric} ${state.method} against ${state.baseline}`, c.svg));
  }
  function differenceBars() {
    const found = differences(state.method, state.baseline).map((d, q) => [d, q]).filter(([d]) => known(d)).sort((x, y) => y[0] - x[0]);
    put("differences-caption", `${state.method} − ${state.baseline} on each query, from the largest gain to the largest loss`);
    const reach = most(found.map(([d]) => Math.abs(d)), 1e-9);
    const c = chart("differences", { label: `Differences of ${state.metric} by query; the table below has the values`, x: [0, Math.max(found.length, 1)], y: [-reach, reach], height: 320, xName: "queries", yName: "difference" });
    const wide = (c.box.right - c.box.left) / Math.max(found.length, 1);
    found.forEach(([d, q], k) => {
      const [top, bottom] = [c.Y(Math.max(d, 0)), c.Y(Math.min(d, 0))];
      c.svg.append(draw("rect", { x: c.X(k) + Math.min(1, wide / 5), width: Math.max(wide - Math.min(2, wide / 2.5), 0.5), y: top, height: Math.max(bottom - top, 0.5), fill: judged(d) }, draw("title", {}, `${queryName(q)}: ${signed(d)}`)));
    });
    put("differences", c.svg, downloads.forFigure(`differences ${state.metric} ${state.method} ${state.baseline}`, c.svg));
  }
  function queryTable() {
    const [a, b] = [values[state.metric][state.method], values[state.metric][state.baseline]];
    const d = differences(state.method, state.baseline);
    const text = at("find").value.trim().toLowerCase();
    const wanted = { all: () => true, won: (q) => sign() * d[q] > 0, lost: (q) => sign() * d[q] < 0, tied: (q) => d[q] === 0 }[at("outcome").value];
    const rows = queries.map((_, q) => q).filter((q) => wanted(q) && (!text || queryName(q).toLowerCase().includes(text) || queries[q][1].toLowerCase() === text));
    const texts = queries.some(([, id]) => queryText(id));
    const columns = [{ head: "Query", value: (q) => queries[q][1] }, ...(texts ? [{ head: "Words", value: (q) => queryText(queries[q][1]) || "", class: "words" }] : [])];
    if (several) columns.push({ head: "Fold", value: (q) => queries[q][0] });
    columns.push({ head: state.method, number: true, value: (q) => a[q], show: (q) => shown(a[q]) });
    if (state.method !== state.baseline) {
      columns.push({ head: state.baseline, number: true, value: (q) => b[q], show: (q) => shown(b[q]) },
        { head: "Difference", number: true, value: (q) => d[q], show: (q) => signed(d[q]) });
    }
    if (sorts.queries && sorts.queries.column >= columns.length) delete sorts.queries;
    const limit = 500;
    table("queries", { caption: `${state.metric} of each query`, columns, rows, limit, sort: { column: columns.length - 1, down: true }, tall: true });
    put("found", `${count(rows.length, "query", "queries")} of ${queries.length}${rows.length > limit ? `, the first ${limit} shown` : ""}`);
  }

  function segments() {
    const found = (results.segments || {})[state.metric];
    at("segments-section").hidden = !found;
    if (!found) return;
    const number = (head, of, show = shown) => ({ head, number: true, value: of, show: (r) => show(of(r)) });
    table("segments", { caption: `${state.metric} in each segment of the queries`, rows: found.segments, sort: {}, columns: [
      { head: "Segment", value: (r) => r.segment }, number("Queries", (r) => r.queries, String), { head: Word, value: (r) => r.system, show: (r) => named(r.system) },
      number("Mean", (r) => r.mean), number("From", (r) => r.interval[0]), number("To", (r) => r.interval[1]), number("Difference", (r) => r.difference, signed), number("p", (r) => r.p)] });
    put("segments-note", `Differences from ${found.baseline}; p-values are corrected for all segments together (${found.correction}, level ${found.alpha}).`);
  }

  function withCurve(m, name) {
    return details[m].length && details[m].every((d) => d.curves && d.curves[name]);
  }

  function curves() {
    const offered = ["NDCG", "P", "MAP"].filter((name) => ranking.some((m) => withCurve(m, name)));
    at("curves-section").hidden = !offered.length;
    if (!offered.length) return;
    if (!offered.includes(state.curve)) state.curve = offered[0];
    const name = state.curve, drawn = ranking.filter((m) => withCurve(m, name)), host = at("curves");
    const choice = el("div", { class: "controls" }, el("label", {}, "Metric ", el("select", { id: "curve", onchange: (event) => {
      state.curve = event.target.value;
      curves();
      at("curve").focus();
    } }, offered.map((each) => el("option", each === name ? { selected: "" } : {}, each)))));
    const points = (m) => details[m][0].curves[name].values.map((_, k) => mean(details[m].map((d) => d.curves[name].values[k]).filter(known)));
    const legend = el("div", { class: "legend" }, drawn.map((m) =>
      el("button", { type: "button", "aria-pressed": String(!state.hidden.has(m)), onclick: () => {
        state.hidden.has(m) ? state.hidden.delete(m) : state.hidden.add(m);
        curves();
        [...at("curves").querySelectorAll(".legend button")].find((b) => b.textContent === m).focus();
      } }, named(m))));
    const seen = drawn.filter((m) => !state.hidden.has(m));
    const lines = seen.map((m) => [m, points(m)]);
    const longest = lines.length && at("curves").clientWidth > 600 ? most(seen.map((m) => clipped(m, 30).length)) * 6.7 + 24 : 12;
    const c = chart("curves", { label: `${name} at cut-offs 1 to 20; the table below has the values`, x: [1, 20], y: around(lines.flatMap(([, v]) => v)), height: 360, right: longest, xTicks: [1, 5, 10, 15, 20], xName: "cut-off", yName: name });
    const ends = lines.filter(([, v]) => known(v[19])).sort((p, q) => q[1][19] - p[1][19]);
    const at20 = spread(ends.map(([, v]) => c.Y(v[19]) + 4), 14, c.box.top, c.box.bottom);
    for (const [m, v] of lines) {
      c.svg.append(path(v.map((y, k) => [y, k]).filter(([y]) => known(y)).map(([y, k]) => [c.X(k + 1), c.Y(y)]), { stroke: colour(m), "stroke-dasharray": dash(m) }));
      v.forEach((y, k) => known(y) && c.svg.append(draw("circle", { cx: c.X(k + 1), cy: c.Y(y), r: 7, fill: "transparent" }, draw("title", {}, `${m}, ${name}@${k + 1}: ${shown(y)}`))));
    }
    if (longest > 12) ends.forEach(([m], k) => c.svg.append(
      draw("circle", { cx: c.box.right + 10, cy: at20[k] - 4, r: 3.5, fill: colour(m) }),
      draw("text", { class: "name", x: c.box.right + 17, y: at20[k] }, clipped(m, 30))));
    const cutoffs = Array.from({ length: 20 }, (_, k) => k);
    host.replaceChildren(choice, legend, c.svg, downloads.forFigure(`${name} at each cut-off`, c.svg), el("p", { class: "note" }, `${details[drawn[0]][0].curves[name].metric}, mean ${several ? "of folds" : "over queries"}. A name switches its line.`),
      numbers(`${name} at each cut-off`, ["k", ...drawn], cutoffs.map((k) => [String(k + 1), ...drawn.map((m) => shown(points(m)[k]))])));
  }

  function foldTable() {
    const value = (m, f) => results.methods[m].folds[f].values[state.metric];
    const columns = [{ head: "Method", value: (m) => m, show: named },
      ...folds.map((name, f) => ({ head: name, number: true, value: (m) => value(m, f), show: (m) => shown(value(m, f)) }))];
    table("folds", { caption: `Mean ${state.metric} of each fold`, columns, rows: ranking, sort: {} });
  }

  function time() {
    const points = ranking.map((m) => [m, Math.log10(Math.max(data.seconds[m], 1e-3)), results.methods[m].mean[state.metric]]).filter(([, , y]) => known(y));
    const x = around(points.map(([, t]) => t), 0.1);
    const marks = [-3, -2, -1, 0, 1, 2, 3, 4, 5, 6].filter((v) => v >= x[0] && v <= x[1]);
    const c = chart("time", { label: "Training time and quality of each method; the leaderboard has the values", x, y: around(points.map((p) => p[2]), 0.12), height: 320 + 8 * Math.max(points.length - 12, 0), right: 24, xTicks: marks, xShown: (v) => `${+(10 ** v).toPrecision(1)} s`, xName: "seconds to train and tune, all folds", yName: state.metric });
    const taken = points.map(([, t, y]) => [c.X(t) - 7, c.X(t) + 7, c.Y(y) + 4]);
    const narrow = c.width < 600; // no room for names beside the dots
    let nameless = 0;
    for (const [m, t, y] of points.sort((p, q) => q[2] - p[2])) {
      const [px, py] = [c.X(t), c.Y(y)];
      c.svg.append(dot(px, py, colour(m), `${m}: ${shown(y)} in ${shown(10 ** t, 1)} s`, 6));
      if (narrow) continue;
      const wide = m.length * 6.7;
      const sides = [[px + 10, "start", px + 10], [px - 10 - wide, "end", px - 10]].filter(([x0]) => x0 > 40 && x0 + wide < c.width);
      const places = [4, -9, 17].flatMap((dy) => sides.map(([x0, anchor, tx]) => [x0, py + dy, anchor, tx]));
      const free = places.find(([x0, ty]) => !taken.some(([a, b, h]) => Math.abs(h - ty) < 13 && a < x0 + wide && x0 < b));
      if (!free) { nameless += 1; continue; }
      taken.push([free[0], free[0] + wide, free[1]]);
      c.svg.append(draw("text", { class: "name", x: free[3], y: free[1], "text-anchor": free[2] }, m));
    }
    const rest = nameless ? el("p", { class: "note" }, `${count(nameless, "dot has", "dots have")} no room for a name: point at one, or see the leaderboard.`) : null;
    put("time", c.svg, downloads.forFigure(`time and ${state.metric}`, c.svg), narrow ? el("p", { class: "note keys" }, points.map(([m]) => el("span", {}, named(m)))) : rest);
  }

  function learning() {
    const drawn = ranking.filter((m) => details[m].some((d) => d.history && d.history.length > 1));
    at("learning-section").hidden = !drawn.length;
    if (!drawn.length) return;
    const sample = (f) => draw("svg", { class: "sample", viewBox: "0 0 36 8", "aria-hidden": "true" }, path([[0, 4], [36, 4]], { stroke: "var(--ink-2)", "stroke-dasharray": DASHES[f % 5] }));
    put("learning-note", `The fit that was kept, by iteration: ${tuning} on validation data if the method stops by it, else the training objective. `,
      several ? el("span", { class: "keys" }, folds.map((name, f) => el("span", {}, sample(f), name))) : null);
    at("learning").replaceChildren();
    for (const m of drawn) {
      const box = el("figure", {});
      at("learning").append(box);
      const valid = details[m].some((d) => d.history && d.history.some((step) => known(step[2])));
      const lines = details[m].map((d) => (d.history || []).map((step) => [step[0], step[valid ? 2 : 1]]).filter((p) => known(p[1])));
      const flat = lines.flat();
      const c = chart(box, { label: `Learning curve of ${m}; the table has its ends`, x: [0, most(flat.map((p) => p[0]), 1)], y: around(flat.map((p) => p[1])), height: 190, xName: "iteration", yName: valid ? `validation ${tuning}` : "objective", xTicks: ticks(0, most(flat.map((p) => p[0]), 1), 3), yTicks: ticks(...around(flat.map((p) => p[1])), 3) });
      lines.forEach((line, f) => {
        if (!line.length) return;
        const drawnLine = path(line.map(([i, v]) => [c.X(i), c.Y(v)]), { stroke: colour(m), "stroke-width": 1.6, "stroke-opacity": 0.85, "stroke-dasharray": several ? DASHES[f % 5] : null });
        drawnLine.append(draw("title", {}, `${folds[f]}: ${short(line[line.length - 1][1])} after ${line[line.length - 1][0]} iterations`));
        c.svg.append(drawnLine);
      });
      const rows = lines.map((line, f) => [folds[f], String(line.length ? line[line.length - 1][0] : 0), short(line.length ? line[line.length - 1][1] : null), short(valid && line.length ? most(line.map((p) => p[1])) : null)]);
      box.append(el("h3", {}, m), c.svg, downloads.forFigure(`learning curve ${m}`, c.svg), numbers(`Learning curve of ${m}`, ["fold", "iterations", "last", "best"], rows));
    }
  }

  function features() {
    const found = details[state.method].map((d) => d.importance).filter(Boolean);
    if (!found.length) {
      put("importance-note", `No feature alone changes the metric of ${state.method}. Choose another method above.`);
      put("importance");
      return;
    }
    const total = {};
    for (const one of found) for (const [name, share] of Object.entries(one.features)) total[name] = (total[name] || 0) + share / found.length;
    const top = Object.entries(total).sort((a, b) => b[1] - a[1]).slice(0, 15);
    put("importance-note", `${state.method}: ${found[0].how}, as a share of all features${several ? ", mean of folds" : ""}. The ${top.length} largest.`);
    const bar = (share) => el("span", { class: "bar", style: { width: `${(100 * share) / top[0][1]}%`, background: "var(--good)" } });
    const rows = top.map(([name, share]) => el("tr", {}, el("th", { scope: "row" }, breakable(name)), el("td", { class: "number", "data-value": share }, `${(100 * share).toFixed(1)} %`), el("td", { class: "bars" }, bar(share))));
    const made = el("table", {}, el("thead", {}, el("tr", {}, ["Feature", "Share", ""].map((h, c) => el("th", { scope: "col", class: c === 1 ? "number" : null }, h)))), el("tbody", {}, rows));
    put("importance", downloads.forTable(() => downloads.drawn(made, `Feature importance of ${state.method}`)), made);
  }

  function pairs() {
    const found = details[state.method].flatMap((d, f) => (d.pairs || []).map((p) => ({ ...p, fold: folds[f] })));
    const order = found.filter((p) => p.kind === "mistake").concat(found.filter((p) => p.kind === "success")).slice(0, 6);
    put("pairs-note", found.length
      ? `${state.method}: of the first ten ranks, the pairs in the wrong order that cost most and those in the right order that gain most; ${found[0].how}. The shares add up to the difference of the scores. For other pairs: podium explain.`
      : `The scores of ${state.method} cannot be decomposed by feature. Choose another method above.`);
    put("pairs", order.map(card));
  }
  function card(p) {
    const [up, low] = p.documents;
    const reach = most(p.features.map((f) => Math.abs(f.share)), 1e-12);
    const bar = (share) => el("span", { class: `bar ${share < 0 ? "minus" : ""}`, style: { width: `${(100 * Math.abs(share)) / reach}%`, background: paint(share) } });
    const share = (value) => el("td", { class: "number", "data-value": value }, signed(value));
    const rows = p.features.map((f) => el("tr", {}, el("th", { scope: "row" }, breakable(f.feature)), share(f.share),
      el("td", { class: "bars" }, el("span", { class: "both", "aria-hidden": "true" }, el("span", {}, f.share < 0 ? bar(f.share) : null), el("span", {}, f.share > 0 ? bar(f.share) : null))), el("td", { class: "number" }, short(f.values[0])), el("td", { class: "number" }, short(f.values[1]))));
    const last = (name, value) => el("tr", {}, el("th", { scope: "row" }, name), share(value), el("td", {}), el("td", {}), el("td", {}));
    const rest = p.others + p.rest;
    if (Math.abs(rest) > 5e-5) rows.push(last("all others", rest));
    rows.push(last("difference", p.difference));
    const made = el("table", {}, el("thead", {}, el("tr", {}, ["Feature", "Share", "", "Upper", "Lower"].map((h, c) => el("th", { scope: "col", class: c % 2 || c === 4 ? "number" : null }, h)))), el("tbody", {}, rows));
    const beyond = p.flip && p.flip.range && (p.flip.to < p.flip.range[0] || p.flip.to > p.flip.range[1]);
    const flip = p.flip ? `To turn the pair round by one feature: ${feature(p.flip.feature)} of ${title(up.document)} from ${short(p.flip.from)} to ${short(p.flip.to)} (${p.flip.spreads.toFixed(2)} standard deviations).${beyond ? ` No document has such a value: the test data has ${short(p.flip.range[0])} to ${short(p.flip.range[1])}.` : ""}`
      : "No change of one feature alone was found that turns the pair round.";
    const place = (d) => `${title(d.document)} (rank ${d.rank}, grade ${short(d.grade)}, score ${shown(d.score)})`;
    return el("div", { class: "card" }, el("h3", {}, `${p.kind === "mistake" ? "Wrong" : "Right"}: ${several ? p.fold + ", " : ""}${namedQuery(p.query)}`), el("p", { class: "note" }, `${place(up)} above ${place(low)}`),
      downloads.forTable(() => downloads.drawn(made, `Shares of the features, query ${p.query}`)), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Shares of the features" }, made),
      el("p", { class: "note" }, flip));
  }

  // Time and memory of one run.
  const measured = (method, fold, seed) => data.provenance.runs.find((run) => run.method === method && run.fold === fold && run.seed === seed) || {};

  function settings() {
    const rows = ranking.flatMap((m) => results.methods[m].folds.flatMap((fold) => fold.runs.map((run) => ({ m, fold: fold.fold, ...run, ...measured(m, fold.fold, run.seed) }))));
    const chosen = (row) => Object.entries(row.chosen).map(([name, value]) => `${name} = ${typeof value === "number" ? short(value) : value}`).join(", ");
    const seed = results.seeds.length > 1 ? [{ head: "Seed", number: true, value: (r) => r.seed, show: (r) => String(r.seed) }] : [];
    table("settings", { caption: "Hyperparameters chosen on validation data, the fitted recipe, wall-clock and CPU seconds, and peak memory", sort: { column: 0, down: false }, tall: true, rows, columns: [
      { head: "Method", value: (r) => r.m, show: (r) => named(r.m) }, { head: "Fold", value: (r) => r.fold }, ...seed, { head: "Chosen", value: chosen },
      { head: "Seconds", number: true, value: (r) => r.seconds, show: (r) => shown(r.seconds, 1) },
      { head: "CPU seconds", number: true, value: (r) => r.cpu_seconds, show: (r) => shown(r.cpu_seconds, 1) },
      { head: "MB", number: true, value: (r) => r.peak_memory, show: (r) => shown(known(r.peak_memory) ? r.peak_memory / 1e6 : null, 0) },
      { head: "Stopped", value: (r) => String(r.info.stopped || ""), class: "wrap" }, { head: "Fitted", value: (r) => r.learner, class: "wrap" }] });
  }

  function about() {
    const rows = results.data.flatMap((fold) => Object.entries(fold.parts).map(([part, d]) => ({ fold: fold.fold, features: fold.features, part, ...d })));
    const grades = (r) => (r.grades ? Object.entries(r.grades).map(([g, n]) => `${g}: ${n}`).join(", ") : "many");
    table("data-table", { caption: "Sizes, and documents of each grade", rows, columns: [
      { head: "Fold", value: (r) => r.fold }, { head: "Part", value: (r) => r.part }, { head: "Queries", number: true, value: (r) => r.queries, show: (r) => String(r.queries) },
      { head: "Documents", number: true, value: (r) => r.documents, show: (r) => String(r.documents) }, { head: "Features", number: true, value: (r) => r.features, show: (r) => String(r.features) },
      { head: "Grades", value: grades, class: "words" }, { head: "Hash", value: (r) => r.digest }] });
    put("conventions", Object.entries(results.metrics).map(([name, tag]) => el("li", {}, `${name} is computed as ${tag}.`)),
      trained ? el("li", {}, `Methods are tuned and stopped on validation data by ${tuning}, and evaluated on test data.`) : null, el("li", {}, `${results.seeds.length > 1 ? "Seeds" : "Seed"} ${results.seeds.join(", ")}.`));
    made();
    put("footer", `Made by podium ${data.podium}. The same numbers are in results.json, table.md, table.tex and per_query.tsv${trained ? "; provenance.json has times, memory and versions" : ""}.`);
    const names = results.data.length ? `${results.data[0].features} features, ` : "";
    const sizes = trained ? `${count(folds.length, "fold")}, ${names}${count(queries.length, "test query", "test queries")}` : count(queries.length, "query", "queries");
    put("summary", `${count(ranking.length, word)}, ${sizes}. ${leaders()}`);
    const title = `${results.dataset ? results.dataset + ": comparison" : "Comparison"} of ${trained ? "ranking methods" : "runs"}`;
    put("title", title);
    document.title = title;
  }

  // Machine, time and versions.
  function made() {
    const { environments, runs } = data.provenance;
    const started = runs.map((run) => run.started).filter(known).sort();
    const facts = environments.flatMap((one) => Object.entries(one)).map(([name, value]) => [name, value]);
    if (started.length) facts.push(["first and last start", `${started[0]}, ${started[started.length - 1]}`]);
    at("made-section").hidden = !facts.length;
    put("made", facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
  }

  function render() {
    leaderboard(); versus(); scatter(); differenceBars(); queryTable(); segments(); curves(); learning(); about();
    if (trained) { foldTable(); time(); features(); pairs(); settings(); }
    hints();
  }

  // Tables wider than the window get a hint that they scroll.
  function hints() {
    for (const host of document.querySelectorAll(".scroll")) {
      const wide = host.scrollWidth > host.clientWidth + 1;
      const there = host.nextElementSibling && host.nextElementSibling.classList.contains("hint") ? host.nextElementSibling : null;
      if (wide && !there) host.after(el("p", { class: "hint", "aria-hidden": "true" }, "Scroll sideways for more columns →"));
      if (!wide && there) there.remove();
    }
  }
  for (const [id, list] of [["metric", metrics], ["method", ranking], ["baseline", ranking]]) {
    at(id).append(...list.map((name) => el("option", { value: name }, name)));
    at(id).value = state[id];
    at(id).addEventListener("change", () => { state[id] = at(id).value; render(); });
  }
  for (const id of trained ? [] : ["folds", "time", "importance", "pairs", "settings"]) at(id).closest("section").hidden = true;
  at("data-table").hidden = !trained;
  if (!trained) at("method").previousSibling.textContent = "Run ";
  at("find").addEventListener("input", queryTable);
  at("outcome").addEventListener("change", queryTable);
  document.addEventListener("toggle", hints, true); // the tables of charts open
  let width = window.innerWidth;
  window.addEventListener("resize", () => { if (window.innerWidth !== width) { width = window.innerWidth; render(); } });
  render();
})();

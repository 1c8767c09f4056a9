"use strict";
// Downloads: figures as SVG, tables as CSV and LaTeX. The files are made here, in the browser, without a network.
const downloads = (() => {
  const slug = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}@]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 60) || "podium";

  function save(name, kind, text) {
    const url = URL.createObjectURL(new Blob([text], { type: `${kind};charset=utf-8` }));
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }

  // A text that a spreadsheet would take for a formula gets an apostrophe.
  const field = (value) => {
    const text = value === null || value === undefined ? "" : typeof value === "string" && /^[=+\-@\t\r]/.test(value) && Number.isNaN(Number(value)) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = ({ heads, rows }) => [heads.map((head) => head.text), ...rows.map((row) => row.map((cell) => cell.value))].map((row) => row.map(field).join(",") + "\r\n").join("");

  const SIGNS = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "–": "--", "−": "$-$", "…": "\\dots{}", "<": "$<$", ">": "$>$", "|": "$|$" };
  const tex = (text) => String(text).replace(/[\\&%$#_{}~^–−…<>|]/g, (sign) => SIGNS[sign] || `\\${sign}`).replace(/\s+/g, " ");
  const metric = (text) => text.replace(/\bndcg@/g, "NDCG@").replace(/\b(map|mrr|err|ndcg)\b/g, (name) => name.toUpperCase());
  const latex = ({ caption, heads, rows }) => [
    "% needs \\usepackage{booktabs}", "\\begin{table}", "  \\centering", `  \\caption{${tex(metric(caption))}}`, `  \\begin{tabular}{${heads.map((head) => (head.number ? "r" : "l")).join("")}}`, "    \\toprule",
    `    ${heads.map((head) => tex(metric(head.text))).join(" & ")} \\\\`, "    \\midrule", ...rows.map((row) => `    ${row.map((cell) => tex(cell.text)).join(" & ")} \\\\`), "    \\bottomrule", "  \\end{tabular}", "\\end{table}", "",
  ].join("\n");

  // A figure that stands alone: light colours in place of the page's, and a white ground.
  function svg(figure) {
    const light = document.styleSheets[0].cssRules[0].style;
    const of = (name) => light.getPropertyValue(name).trim();
    const copy = figure.cloneNode(true);
    const [, , width, height] = copy.getAttribute("viewBox").split(" ");
    for (const [name, value] of [["xmlns", "http://www.w3.org/2000/svg"], ["width", width], ["height", height]]) copy.setAttribute(name, value);
    const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
    style.textContent = `text { font: 12px system-ui, sans-serif; fill: ${of("--ink-2")} } .name { fill: ${of("--ink")} } .axis { stroke: ${of("--axis")} } .rule { stroke: ${of("--line")} }`;
    const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [name, value] of [["width", "100%"], ["height", "100%"], ["fill", "#ffffff"]]) ground.setAttribute(name, value);
    copy.prepend(style, ground);
    return new XMLSerializer().serializeToString(copy).replace(/var\((--[\w-]+)\)/g, (_, name) => of(name) || "#000");
  }

  function tools(buttons) {
    const host = document.createElement("p");
    host.className = "tools";
    for (const [text, label, press] of buttons) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.setAttribute("aria-label", label);
      button.addEventListener("click", press);
      host.append(button);
    }
    return host;
  }

  // The content of a table that is drawn: exact values where its cells have them.
  function drawn(table, caption) {
    const number = (cell) => cell.classList.contains("number");
    const heads = [...table.tHead.rows[0].cells].map((cell) => ({ text: cell.textContent, number: number(cell) }));
    const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => ({ text: cell.textContent, value: cell.dataset.value ?? cell.textContent })));
    const kept = heads.map((head, c) => c).filter((c) => heads[c].text); // bars have no head
    return { caption, heads: kept.map((c) => heads[c]), rows: rows.map((row) => kept.map((c) => row[c])) };
  }

  return {
    drawn,
    // Buttons for a table; `content` gives {caption, heads: [{text, number}], rows: [[{text, value}]]} when one is pressed.
    forTable: (content) => tools([
      ["CSV", "Download the table as CSV", () => save(`${slug(content().caption)}.csv`, "text/csv", csv(content()))],
      ["LaTeX", "Download the table as LaTeX", () => save(`${slug(content().caption)}.tex`, "text/x-tex", latex(content()))],
    ]),
    forFigure: (name, figure) => tools([["SVG", "Download the figure as SVG", () => save(`${slug(name)}.svg`, "image/svg+xml", svg(figure))]]),
  };
})();

// The page's own script: theme, exact numbers, table of contents, tables, and when plotly draws a figure.
(() => {
  "use strict";
  const root = document.documentElement;
  const all = (selector, within) => Array.from((within || document).querySelectorAll(selector));
  const stored = (key, value) => {
    try {
      if (value === undefined) return localStorage.getItem("opprof-report-" + key);
      localStorage.setItem("opprof-report-" + key, value);
    } catch { /* private windows keep nothing */ }
    return null;
  };

  // Theme -----------------------------------------------------------------------------------------------------------
  const themeChoice = document.getElementById("theme");
  const applyTheme = (choice) => {
    if (choice === "light" || choice === "dark") root.dataset.theme = choice;
    else delete root.dataset.theme;
  };
  applyTheme(stored("theme"));
  if (themeChoice) {
    themeChoice.value = root.dataset.theme || "auto";
    themeChoice.addEventListener("change", () => {
      stored("theme", themeChoice.value);
      applyTheme(themeChoice.value);
      retheme();
    });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => retheme());

  // Figures ---------------------------------------------------------------------------------------------------------
  const config = { displaylogo: false, responsive: true, scrollZoom: false, modeBarButtonsToRemove: ["lasso2d", "select2d", "sendDataToCloud"] };
  const ours = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const axis = () => ({
    gridcolor: ours("--plot-grid"), zerolinecolor: ours("--plot-zero"), linecolor: ours("--plot-zero"), automargin: true,
    title: { standoff: 8, font: { size: 12, color: ours("--quiet") } }, tickfont: { size: 11, color: ours("--text") },
  });
  const template = () => ({
    layout: {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: ours("--sans"), size: 12, color: ours("--text") },
      xaxis: axis(), yaxis: axis(), margin: { l: 48, r: 16, t: 12, b: 40 },
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 11 } },
      hoverlabel: { bgcolor: ours("--raised"), bordercolor: ours("--line-strong"), font: { family: ours("--sans"), color: ours("--text"), size: 12 }, align: "left", namelength: -1 },
      colorway: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C"],
      annotationdefaults: { font: { size: 11, color: ours("--text") } },
      shapedefaults: { line: { color: ours("--text") } },
    },
    data: { sankey: [{ textfont: { color: ours("--text"), size: 12, shadow: "none" } }], heatmap: [{ colorbar: { tickfont: { size: 11 }, outlinewidth: 0 } }] },
  });
  const reduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
  function draw(plot) {
    if (plot.classList.contains("drawn") || typeof Plotly === "undefined") return null;
    const holder = plot.querySelector("script[type='application/json']");
    const spec = JSON.parse(holder.textContent);
    plot.classList.add("drawn");
    const layout = Object.assign({}, spec.layout, { template: template(), height: Number(plot.dataset.height), autosize: true });
    const target = plot.querySelector(".canvas");
    return Plotly.newPlot(target, spec.data, layout, config).then(() => {
      if (reduced) target.layout.transition = { duration: 0 };
      // plotly's buttons need a mouse; the same numbers stand in the table, so keyboards skip them.
      all(".modebar-btn", target).forEach((button) => button.setAttribute("tabindex", "-1"));
    });
  }
  function retheme() {
    all(".plot.drawn .canvas").forEach((target) => {
      Plotly.relayout(target, { template: template() });
    });
  }
  const plots = all(".plot");
  if ("IntersectionObserver" in window) {
    const seen = new IntersectionObserver((entries) => {
      entries.filter((entry) => entry.isIntersecting).forEach((entry) => { seen.unobserve(entry.target); draw(entry.target); });
    }, { rootMargin: "600px 0px" });
    plots.forEach((plot) => seen.observe(plot));
  } else plots.forEach(draw);
  window.addEventListener("beforeprint", () => plots.slice(0, 200).forEach(draw));
  window.opprofDrawAll = () => Promise.all(plots.map(draw));

  // Exact numbers ---------------------------------------------------------------------------------------------------
  const exact = document.getElementById("exact");
  if (exact) exact.addEventListener("change", () => {
    all("data.n").forEach((item) => {
      if (!item.dataset.short) item.dataset.short = item.textContent;
      item.textContent = exact.checked ? item.title : item.dataset.short;
    });
  });

  // Tables ----------------------------------------------------------------------------------------------------------
  const key = (cell) => {
    const held = cell.querySelector("data.n");
    if (held) return Number(held.value);
    const text = cell.textContent.trim();
    return text === "–" ? null : text;
  };
  const inOrder = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), undefined, { numeric: true });
  };
  all("table.sortable").forEach((table) => {
    const body = table.tBodies[0];
    all("thead th", table).forEach((head, at) => {
      const button = head.querySelector("button");
      if (!button) return;
      button.addEventListener("click", () => {
        const numbers = head.classList.contains("number");
        const before = head.getAttribute("aria-sort");
        const down = before ? before === "ascending" : numbers;
        all("thead th", table).forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = Array.from(body.rows).map((row) => [key(row.cells[at]), row]);
        rows.sort((a, b) => {
          if (a[0] === null || b[0] === null) return (a[0] === null) - (b[0] === null);
          return down ? inOrder(b[0], a[0]) : inOrder(a[0], b[0]);
        });
        body.append(...rows.map((row) => row[1]));
      });
    });
  });
  all("input.filter").forEach((input) => {
    const table = document.getElementById(input.dataset.table);
    const told = document.getElementById(input.dataset.table + "-count");
    let timer = 0;
    input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
        let shown = 0;
        Array.from(table.tBodies[0].rows).forEach((row) => {
          const text = row.textContent.toLowerCase();
          row.hidden = !words.every((word) => text.includes(word));
          if (!row.hidden) shown += 1;
        });
        told.textContent = words.length ? shown + " of " + table.tBodies[0].rows.length + " rows" : "";
      }, 80);
    });
  });

  // Table of contents -----------------------------------------------------------------------------------------------
  const toc = document.querySelector(".toc details");
  const wide = matchMedia("(min-width: 1100px)");
  const openToc = () => { if (toc) toc.open = wide.matches; };
  openToc();
  wide.addEventListener("change", openToc);
  const links = new Map(all(".toc a").map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
  if ("IntersectionObserver" in window && links.size) {
    const visible = new Set();
    const places = all("section[id]").filter((section) => links.has(section.id));
    const mark = () => {
      const current = places.filter((section) => visible.has(section.id)).pop();
      links.forEach((link) => link.removeAttribute("aria-current"));
      if (current) links.get(current.id).setAttribute("aria-current", "true");
    };
    const watch = new IntersectionObserver((entries) => {
      entries.forEach((entry) => (entry.isIntersecting ? visible.add(entry.target.id) : visible.delete(entry.target.id)));
      mark();
    }, { rootMargin: "-15% 0px -75% 0px" });
    places.forEach((section) => watch.observe(section));
  }
  // A link may lead into something folded.
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    const inside = target.querySelector(":scope > details.fold");
    if (inside) inside.open = true;
    target.scrollIntoView();
  };
  window.addEventListener("hashchange", reveal);
  reveal();
  root.dataset.ready = "true";
})();

// signalbox: makes pages live and quick to use. Every page is complete without it.
"use strict";
(() => {
  const all = (sel, root = document) => [...root.querySelectorAll(sel)];
  const one = (sel, root = document) => root.querySelector(sel);

  // 1. Times: the server writes UTC; here they are read in the reader's own zone.
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const words = (options) => new Intl.DateTimeFormat("en-GB", options);
  const clock = words({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const week = words({ weekday: "short", hour: "2-digit", minute: "2-digit" });
  const year = words({ day: "2-digit", month: "short", hour: "2-digit", minute: "2-digit" });
  const full = words({ weekday: "short", day: "2-digit", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" });
  function localise(root) {
    const now = new Date();
    all("time[datetime]", root).forEach((e) => {
      const at = new Date(e.dateTime), days = Math.abs(now - at) / 864e5;
      const near = at.toDateString() === now.toDateString() ? clock : days < 6 ? week : at.getFullYear() === now.getFullYear() ? year : null;
      e.textContent = (near ?? words({ day: "2-digit", month: "short", year: "numeric" })).format(at).replace(",", "");
      e.title = full.format(at).replaceAll(",", "");
    });
    all("[data-zone]", root).forEach((e) => { e.textContent = zone; });
  }

  // 2. Live: the server sends {"region id": "<html of that element>"}; a region is replaced in its place.
  function replace(id, html) {
    const old = document.getElementById(id);
    if (!old || one("input:not([type=checkbox]):focus, textarea:focus, select:focus", old)) return;
    const box = document.createElement("template");
    box.innerHTML = html;
    const fresh = box.content.firstElementChild;
    if (!fresh || fresh.id !== id) return;
    const open = new Set(all("details[open][id]", old).map((d) => d.id));
    const ticked = new Set(all("input:checked", old).map((i) => i.value));
    const focused = old.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    const height = old.offsetHeight, above = old.getBoundingClientRect().bottom < 0;
    all("details[id]", fresh).forEach((d) => { if (open.has(d.id)) d.open = true; });
    all("input[name=id]", fresh).forEach((i) => { i.checked = ticked.has(i.value); });
    localise(fresh);
    holdBack(old, fresh);
    old.replaceWith(fresh);
    if (above) window.scrollBy(0, fresh.offsetHeight - height);      // what is read does not move
    if (focused) all("a", fresh).find((a) => a.getAttribute("href") === focused)?.focus({ preventScroll: true });
    if (one(".map", fresh)) document.dispatchEvent(new CustomEvent("maps"));
    count();
  }
  // A list does not grow under the reader: new rows wait behind a link.
  function holdBack(old, fresh) {
    const link = one(".fresh", fresh), id = (row) => one("a", row)?.getAttribute("href");
    if (!link) return;
    const known = new Set(all("[data-row]:not([hidden])", old).map(id));
    if (known.size === 0) return;
    const news = all("[data-row]", fresh).filter((row) => !known.has(id(row)));
    news.forEach((row) => { row.hidden = true; });
    link.hidden = news.length === 0;
    link.textContent = `${news.length} newer: show`;
    link.onclick = (e) => { e.preventDefault(); link.hidden = true; news.forEach((row) => { row.hidden = false; }); };
  }
  const stream = document.body.dataset.stream;
  if (stream && window.EventSource) {
    const source = new EventSource(stream);
    const lamp = (live) => all(".live").forEach((e) => { e.classList.toggle("still", !live); e.textContent = live ? "live" : "not live: reload to read again"; });
    source.addEventListener("regions", (e) => {
      Object.entries(JSON.parse(e.data)).forEach(([id, html]) => replace(id, html));
      lamp(true);
    });
    source.onerror = () => lamp(false);
    source.onopen = () => lamp(true);
    window.addEventListener("pagehide", () => source.close());
  }

  // 3. Selection: each button states how many of the chosen jobs it will act on.
  function count() {
    const bulk = document.getElementById("bulk");
    if (!bulk) return;
    const picked = all("input[name=id]:checked");
    bulk.hidden = picked.length === 0;
    all("button[data-verb]", bulk).forEach((b) => {
      const n = picked.filter((i) => i.dataset.can === b.dataset.verb).length;
      b.disabled = n === 0;
      one("[data-n]", b).textContent = n.toLocaleString("en-GB");
    });
    all("[data-picked]", bulk).forEach((e) => { e.textContent = picked.length.toLocaleString("en-GB"); });
    all("tr[data-row]").forEach((r) => r.classList.toggle("mark", Boolean(one("input[name=id]:checked", r))));
  }
  document.addEventListener("change", (e) => {
    if (e.target.matches("input[data-all]")) all("input[name=id]").forEach((i) => { i.checked = e.target.checked; });
    count();
  });

  // 4. Copy, also over plain http where there is no clipboard API.
  document.addEventListener("click", (e) => {
    const button = e.target.closest("[data-copy]");
    if (!button) return;
    const what = button.dataset.copy, text = what.startsWith("#") ? one(what).textContent : what;
    if (navigator.clipboard) navigator.clipboard.writeText(text);
    else { const t = document.createElement("textarea"); t.value = text; document.body.append(t); t.select(); document.execCommand("copy"); t.remove(); }
    button.textContent = "Copied";
  });

  // 5. Keys: / find, j and k rows, x select; Enter opens, because the row's link has the focus.
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches("input:not([type=checkbox]), textarea, select")) return;
    const rows = all("[data-row]:not([hidden])");
    const at = rows.findIndex((r) => r.contains(document.activeElement));
    if (e.key === "/") { e.preventDefault(); document.getElementById("find")?.focus(); }
    else if (e.key === "j" || e.key === "k") one("a", rows[Math.max(0, Math.min(rows.length - 1, at + (e.key === "j" ? 1 : -1)))] ?? document)?.focus();
    else if (e.key === "x" && at >= 0) one("input[name=id]", rows[at])?.click();
  });

  localise(document);
  count();
})();

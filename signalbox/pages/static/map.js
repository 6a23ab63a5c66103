// signalbox: lets a map be moved and zoomed. The drawing that the server sent stays where Leaflet is missing.
"use strict";
(() => {
  const steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 90];
  const spot = (at, text, className) => L.marker(at, {
    interactive: false, keyboard: false,
    icon: L.divIcon({ className, iconSize: null, html: Object.assign(document.createElement("span"), { textContent: text }) }),
  });

  function degrees(value, step, positive, negative) {
    const shown = Math.abs(value).toFixed(Math.max(0, -Math.floor(Math.log10(step)))) + "°";
    return Math.abs(value) < 1e-9 ? shown : shown + (value > 0 ? positive : negative);
  }

  function graticule(map, layer) {
    layer.clearLayers();
    const seen = map.getBounds();
    const step = steps.find((s) => (seen.getEast() - seen.getWest()) / s <= 6) ?? 90;
    const line = (points) => L.polyline(points, { className: "grat", interactive: false }).addTo(layer);
    const from = (low) => Math.ceil(low / step) * step;
    for (let x = from(seen.getWest()); x <= seen.getEast(); x += step) {
      line([[seen.getSouth(), x], [seen.getNorth(), x]]);
      spot([seen.getSouth(), x], degrees(x, step, "E", "W"), "degree east").addTo(layer);
    }
    for (let y = from(seen.getSouth()); y <= seen.getNorth(); y += step) {
      line([[y, seen.getWest()], [y, seen.getEast()]]);
      spot([y, seen.getWest()], degrees(y, step, "N", "S"), "degree north").addTo(layer);
    }
  }

  // Numbers that would cover each other are left out until the map is closer.
  function numbers(map, layer, shapes, drawn) {
    layer.clearLayers();
    const taken = [];
    drawn.forEach((path, n) => {
      const at = shapes[n].label && path.getBounds().getCenter();
      const point = at && map.latLngToContainerPoint(at);
      if (!point || taken.some((other) => Math.abs(other.x - point.x) < 18 && Math.abs(other.y - point.y) < 12)) return;
      taken.push(point);
      spot(at, shapes[n].label, "no").addTo(layer);
    });
  }

  // The jobs within a box: dragged with Shift, or what the map shows.
  function search(bounds) {
    const clear = (value, most) => Math.max(-most, Math.min(most, Math.round(value * 1e5) / 1e5));
    const here = new URL(location.href);
    here.searchParams.delete("before");
    here.searchParams.set("bbox", [
      clear(bounds.getWest(), 180), clear(bounds.getSouth(), 90), clear(bounds.getEast(), 180), clear(bounds.getNorth(), 90),
    ].join(","));
    location.href = here.href.replaceAll("%2C", ",");
  }

  function show(box) {
    const shapes = JSON.parse(box.dataset.shapes);
    const holder = document.createElement("div");
    holder.className = "leaf";
    holder.style.height = `${Math.max(240, box.querySelector("svg").clientHeight)}px`;
    box.querySelector("svg").replaceWith(holder);
    const map = L.map(holder, { attributionControl: false, scrollWheelZoom: false, zoomSnap: 0.25, maxBoundsViscosity: 1, maxBounds: [[-90, -200], [90, 200]] });
    const drawn = shapes.map((shape) => {
      const path = L.polygon(shape.rings.map((ring) => ring.map(([x, y]) => [y, x])), { className: `f ${shape.mark}`, interactive: Boolean(shape.title) });
      if (shape.title) path.bindTooltip(Object.assign(document.createElement("span"), { textContent: shape.title }));   // never as HTML
      if (shape.href) path.on("click", () => { location.href = shape.href; });
      return path;
    });
    const group = L.featureGroup(drawn);
    map.fitBounds(group.getBounds().pad(0.08));
    const lines = L.layerGroup().addTo(map), labels = L.layerGroup().addTo(map);
    const look = () => { graticule(map, lines); numbers(map, labels, shapes, drawn); };
    group.addTo(map);
    look();
    drawn.forEach((path, n) => { path.getElement().dataset.s = shapes[n].mark; });
    map.on("moveend", look);
    const view = box.querySelector("[data-view]");
    if (!view) return;
    box.querySelectorAll("[data-view], [data-view-hint]").forEach((each) => { each.hidden = false; });
    view.addEventListener("click", () => search(map.getBounds()));
    map.on("boxzoomend", (e) => search(e.boxZoomBounds));
  }

  const start = () => document.querySelectorAll(".map[data-shapes]:has(> svg)").forEach(show);
  document.addEventListener("maps", start);
  if (window.L) start();
})();

// signalbox: lets a map be moved and zoomed. The drawing that the server sent stays where Leaflet is missing.
"use strict";
(() => {
  const steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 90];

  function graticule(map, layer) {
    layer.clearLayers();
    const seen = map.getBounds();
    const step = steps.find((s) => (seen.getEast() - seen.getWest()) / s <= 6) ?? 90;
    const line = (points) => L.polyline(points, { className: "grat", interactive: false }).addTo(layer);
    const from = (low) => Math.ceil(low / step) * step;
    for (let x = from(seen.getWest()); x <= seen.getEast(); x += step) line([[seen.getSouth(), x], [seen.getNorth(), x]]);
    for (let y = from(seen.getSouth()); y <= seen.getNorth(); y += step) line([[y, seen.getWest()], [y, seen.getEast()]]);
  }

  function show(box) {
    const shapes = JSON.parse(box.dataset.shapes);
    const holder = document.createElement("div");
    holder.className = "leaf";
    holder.style.height = `${Math.max(240, box.querySelector("svg").clientHeight)}px`;
    box.querySelector("svg").replaceWith(holder);
    const map = L.map(holder, { attributionControl: false, scrollWheelZoom: false, zoomSnap: 0.25 });
    const drawn = shapes.map((shape) => {
      const path = L.polygon(shape.rings.map((ring) => ring.map(([x, y]) => [y, x])), { className: `f ${shape.mark}` });
      path.bindTooltip(Object.assign(document.createElement("span"), { textContent: shape.title }));   // never as HTML
      if (shape.href) path.on("click", () => { location.href = shape.href; });
      return path;
    });
    const group = L.featureGroup(drawn);
    map.fitBounds(group.getBounds().pad(0.08));
    const lines = L.layerGroup().addTo(map);
    graticule(map, lines);
    group.addTo(map);
    drawn.forEach((path, n) => { path.getElement().dataset.s = shapes[n].mark; });
    map.on("moveend", () => graticule(map, lines));
  }

  const start = () => document.querySelectorAll(".map[data-shapes]:has(> svg)").forEach(show);
  document.addEventListener("maps", start);
  if (window.L) start();
})();

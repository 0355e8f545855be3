// The Map view: every picture is a point; drag to pan, wheel to zoom, click to show the picture.

import { api } from "/page/api.js";
import { $, count, h, picture } from "/page/dom.js";
import { makeScatterPlot } from "/page/scatter_plot.js";
import { zoom } from "/page/zoom.js";

const view = $("view-map");
const GREY = "#888888";

export function makeMapView({ showProblem, changed, announce }) {
  const canvas = h("canvas", { tabindex: 0, role: "img", "aria-label": "Map of all pictures; arrow keys move it, plus and minus zoom" });
  const legend = h("div", { class: "legend" });
  const card = h("div", { class: "card", hidden: true });
  view.replaceChildren(canvas, legend, card);
  const plot = makeScatterPlot(canvas);
  let points = null;
  let groups = [];
  let at = { x: 0.5, y: 0.5, zoom: 1 };
  let marked = null;
  let isDue = false;

  async function refresh(wanted = marked) {
    try {
      const [map, found] = await Promise.all([api.map(), api.groups()]);
      points = map;
      groups = found.groups;
    } catch (error) {
      showProblem(error.message);
      return;
    }
    plot.setPoints(points, groups.map((one) => one.colour), GREY);
    legend.replaceChildren(...groups.map((one) => h("span", {}, h("i", { class: "dot", group: one.colour }), `${one.name} · ${one.n_images}`)));
    if (!points.ids.length) legend.replaceChildren(h("span", {}, "The map appears with the first groups."));
    if (wanted !== null) {
      if (wanted !== marked) goTo(wanted);
      mark(wanted);
    }
    draw();
  }

  // At most one drawing per frame of the screen.
  function draw() {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      if (!points || view.hidden) return;
      const begin = performance.now();
      plot.draw(at);
      const marker = points.ids.indexOf(marked);
      if (marker >= 0) plot.circle(marker, at);
      canvas.dataset.ms = (performance.now() - begin).toFixed(1);
    });
  }

  function goTo(id) {
    const i = points.ids.indexOf(id);
    if (i >= 0) [at.x, at.y] = plot.point(i);
  }

  function nearest(x, y) {
    const best = points ? plot.nearest(x, y, at) : -1;
    return best < 0 ? null : points.ids[best];
  }

  function mark(id) {
    marked = id;
    card.hidden = id === null;
    if (id !== null) showCard(id);
    draw();
  }

  async function showCard(id) {
    const group = groups[points.group[points.ids.indexOf(id)]];
    const name = h("p", {}, group?.name ?? "in no group");
    const tile = (title) => h("button", { type: "button", class: "tile", "aria-label": "Enlarge", onclick: () => zoom([{ id, name: title }]) }, picture(id, title));
    card.replaceChildren(tile("a picture"), name, ...(groups.length > 1 ? [target(id, group)] : []));
    const info = await api.imageInfo(id).catch(() => null);
    if (!info || marked !== id) return;
    card.firstChild.replaceWith(tile(info.name));
    name.replaceChildren(h("b", {}, group?.name ?? "in no group"), info.answered ? " · in your answers" : ` · ${Math.round(info.confidence * 100)} % sure`, h("br"), h("span", { class: "quiet" }, info.name));
  }

  function target(id, group) {
    const others = groups.filter((one) => one !== group);
    const choose = h("select", { "aria-label": "Move this picture to" }, h("option", { value: "" }, "move to…"), others.map((one) => h("option", { value: one.id }, one.name)));
    choose.addEventListener("change", async () => {
      try {
        const { conflicts } = await api.move([id], choose.value);
        announce(conflicts.length ? `Not moved: earlier answers contradict it. Review ${count(conflicts.length, "conflict")} under Ask.` : "1 picture moved");
        changed(conflicts[0]);
        await refresh();
      } catch (error) {
        showProblem(error.message);
      }
    });
    return choose;
  }

  // The point under the pointer stays where it is.
  const zoomBy = (factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) => {
    const before = plot.frame(at);
    at.zoom = Math.max(0.5, Math.min(60, at.zoom * factor));
    const [u, v] = [(x - before.left) / before.side, (y - before.top) / before.side];
    const { side } = plot.frame(at);
    at.x = u - (x - canvas.clientWidth / 2) / side;
    at.y = v - (y - canvas.clientHeight / 2) / side;
    draw();
  };
  let drag = null; // last position, and the distance so far
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, y: event.clientY, distance: 0 };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    drag = { x: event.clientX, y: event.clientY, distance: drag.distance + Math.abs(dx) + Math.abs(dy) };
    const { side } = plot.frame(at);
    at.x -= dx / side;
    at.y -= dy / side;
    draw();
  });
  canvas.addEventListener("pointerup", (event) => {
    const box = canvas.getBoundingClientRect();
    if (drag && drag.distance < 5) mark(nearest(event.clientX - box.left, event.clientY - box.top));
    drag = null;
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoomBy(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = 0.08 / at.zoom;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (moves[event.key]) [at.x, at.y] = [at.x + moves[event.key][0], at.y + moves[event.key][1]];
    if (event.key === "+" || event.key === "=") zoomBy(1.2);
    if (event.key === "-") zoomBy(1 / 1.2);
    draw();
  });
  window.addEventListener("resize", draw);

  return { refresh, reset: () => { marked = null; card.hidden = true; } };
}

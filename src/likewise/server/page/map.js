// The map: every picture a point on one canvas; drag to pan, wheel to zoom, click to see.

import { api } from "/page/api.js";
import { $, h, picture, small } from "/page/elements.js";
import { zoom } from "/page/zoom.js";

const view = $("view-map");
const GREY = "#888888";

export function makeMap({ complain }) {
  const canvas = h("canvas", { tabindex: 0, role: "img", "aria-label": "Map of all pictures; arrows move it, plus and minus zoom" });
  const legend = h("div", { class: "legend" });
  const card = h("div", { class: "card", hidden: true });
  view.replaceChildren(canvas, legend, card);
  const pen = canvas.getContext("2d");
  let points = null;
  let groups = [];
  let at = { x: 0.5, y: 0.5, zoom: 1 };
  let marked = null;

  async function refresh(find = marked) {
    try {
      const [map, found] = await Promise.all([api.map(), api.groups()]);
      points = map;
      groups = found.groups;
    } catch (error) {
      complain(error.message);
      return;
    }
    legend.replaceChildren(...groups.map((one) => h("span", {}, h("i", { class: "dot", group: one.colour }), `${one.name} · ${one.n_images}`)));
    if (!points.ids.length) legend.replaceChildren(h("span", {}, "The map comes with the first groups."));
    if (find !== null) mark(find);
    draw();
  }

  const side = () => Math.min(canvas.clientWidth, canvas.clientHeight) * 0.94 * at.zoom;
  const toScreen = (i) => [
    canvas.clientWidth / 2 + (points.x[i] / points.scale - at.x) * side(),
    canvas.clientHeight / 2 + (points.y[i] / points.scale - at.y) * side(),
  ];

  function draw() {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = canvas.clientWidth * ratio;
    canvas.height = canvas.clientHeight * ratio;
    pen.scale(ratio, ratio);
    if (!points) return;
    const size = Math.max(2, Math.min(9, 160 / Math.sqrt(points.ids.length))) * Math.sqrt(at.zoom);
    const colours = [...groups.map((one) => one.colour), GREY];
    for (let group = 0; group < colours.length; group += 1) {
      pen.fillStyle = colours[group];
      for (let i = 0; i < points.ids.length; i += 1) {
        const own = points.group[i] < 0 ? colours.length - 1 : points.group[i];
        if (own !== group) continue;
        const [x, y] = toScreen(i);
        if (x < -9 || y < -9 || x > canvas.clientWidth + 9 || y > canvas.clientHeight + 9) continue;
        pen.fillRect(x - size / 2, y - size / 2, size, size);
      }
    }
    const place = points.ids.indexOf(marked);
    if (place < 0) return;
    const [x, y] = toScreen(place);
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.lineWidth = 3;
    pen.beginPath();
    pen.arc(x, y, size + 5, 0, 7);
    pen.stroke();
  }

  function nearest(x, y) {
    let best = -1;
    let closest = 20 ** 2;
    for (let i = 0; points && i < points.ids.length; i += 1) {
      const [px, py] = toScreen(i);
      const far = (px - x) ** 2 + (py - y) ** 2;
      if (far < closest) [best, closest] = [i, far];
    }
    return best < 0 ? null : points.ids[best];
  }

  function mark(id) {
    marked = id;
    card.hidden = id === null;
    if (id !== null) {
      const name = groups[points.group[points.ids.indexOf(id)]]?.name ?? "in no group";
      const look = h("button", { type: "button", class: "tile", "aria-label": "Look closer", onclick: () => zoom([{ id, name: `picture ${id}` }]) }, picture(id, `picture ${id}`, small));
      card.replaceChildren(look, h("p", {}, name));
    }
    draw();
  }

  const zoomBy = (factor) => {
    at.zoom = Math.max(0.5, Math.min(60, at.zoom * factor));
    draw();
  };
  let from = null;
  canvas.addEventListener("pointerdown", (event) => {
    from = { x: event.clientX, y: event.clientY, far: 0 };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!from) return;
    const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
    from = { x: event.clientX, y: event.clientY, far: from.far + Math.abs(dx) + Math.abs(dy) };
    at.x -= dx / side();
    at.y -= dy / side();
    draw();
  });
  canvas.addEventListener("pointerup", (event) => {
    const box = canvas.getBoundingClientRect();
    if (from && from.far < 5) mark(nearest(event.clientX - box.left, event.clientY - box.top));
    from = null;
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomBy(event.deltaY < 0 ? 1.2 : 1 / 1.2);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = 0.08 / at.zoom;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (moves[event.key]) [at.x, at.y] = [at.x + moves[event.key][0], at.y + moves[event.key][1]];
    if (event.key === "+" || event.key === "=") at.zoom *= 1.2;
    if (event.key === "-") at.zoom /= 1.2;
    draw();
  });
  window.addEventListener("resize", draw);

  return { refresh, reset: () => { marked = null; card.hidden = true; } };
}

// The Map view: every picture is a point, and a small picture where there is space. Drag to pan, wheel to zoom, click to
// show a picture, draw around pictures to select them.

import { makeActions } from "/page/actions.js";
import { api } from "/page/api.js";
import { $, button, h, picture } from "/page/dom.js";
import { selectionTools } from "/page/gallery_bar.js";
import { icon } from "/page/icons.js";
import { makeMapPictures } from "/page/map_pictures.js";
import { makeScatterPlot } from "/page/scatter_plot.js";
import { number, t } from "/page/texts.js";
import { zoom } from "/page/zoom.js";

const view = $("view-map");
const GREY = "#888888";

export function makeMapView({ showProblem, changed, openReview }) {
  const canvas = h("canvas", {
    tabindex: 0,
    role: "img",
    "aria-label": t("Map of all pictures; arrow keys move it, plus and minus zoom"),
  });
  const legend = h("div", { class: "legend" });
  const card = h("div", { class: "card", hidden: true });
  const preview = h("div", { class: "preview", hidden: true });
  const outline = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const line = outline.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "path"));
  const tools = h("div", { class: "map-tools" });
  const zoomButton = (image, label, act) =>
    button(icon(image), act, { class: "icon-only", "aria-label": label, title: label });
  const zooms = h(
    "div",
    { class: "map-zoom", role: "group", "aria-label": t("Zoom") },
    zoomButton("plus", t("Zoom in"), () => zoomBy(1.5)),
    zoomButton("minus", t("Zoom out"), () => zoomBy(1 / 1.5)),
    zoomButton("fit", t("Show the whole map"), showAll),
  );
  view.replaceChildren(canvas, h("i", { class: "crosshair" }), outline, legend, tools, zooms, card, preview);
  const plot = makeScatterPlot(canvas);
  const pictures = makeMapPictures(plot, draw);
  let points = null;
  let groups = [];
  let at = { x: 0.5, y: 0.5, zoom: 1 };
  let marked = null;
  let isDue = false;
  let isLasso = false; // whether dragging draws around pictures; with Shift it always does
  let selected = null; // 1 for each selected point
  let nSelected = 0;

  async function refresh(wanted = marked) {
    try {
      const [map, found] = await Promise.all([api.map(), api.groups()]);
      points = map;
      groups = found.groups;
    } catch (error) {
      showProblem(error.message);
      return;
    }
    plot.setPoints(
      points,
      groups.map((one) => one.colour),
      GREY,
    );
    legend.replaceChildren(
      ...groups.map((one) =>
        h("span", {}, h("i", { class: "dot", group: one.colour }), `${one.name} · ${number(one.n_images)}`),
      ),
    );
    view.classList.toggle("empty", !points.ids.length);
    if (!points.ids.length) legend.replaceChildren(h("span", {}, t("The map appears with the first groups.")));
    if (selected?.length !== points.ids.length) select([]);
    if (wanted !== null) {
      if (wanted !== marked) goTo(wanted);
      mark(wanted);
    }
    showTools();
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
      plot.draw(at, nSelected ? selected : null);
      pictures.draw(at, points.ids, (i) => groups[points.group[i]]?.colour ?? GREY, nSelected ? selected : null);
      const marker = points.ids.indexOf(marked);
      if (marker >= 0) plot.circle(marker, at);
      canvas.dataset.ms = (performance.now() - begin).toFixed(1);
    });
  }

  function goTo(id) {
    const i = points.ids.indexOf(id);
    if (i >= 0) [at.x, at.y] = plot.point(i);
  }

  // The point of the picture under the pointer, else the nearest one; -1 if there is none.
  function pointAt(x, y) {
    if (!points) return -1;
    const hit = pictures.hit(x, y);
    return hit < 0 ? plot.nearest(x, y, at) : hit;
  }

  // -- selection --

  function select(found) {
    selected = new Uint8Array(points?.ids.length ?? 0);
    for (const i of found) selected[i] = 1;
    nSelected = found.length;
    showTools();
    draw();
  }

  function showTools() {
    const lasso = button(
      t("Select"),
      () => {
        isLasso = !isLasso;
        showTools();
      },
      {
        id: "lasso",
        "aria-pressed": String(isLasso),
        title: t("Draw around pictures to select them; or hold Shift while dragging"),
      },
    );
    const chosen = nSelected
      ? selectionTools(nSelected, groups, {
          move: (group) => move(selectedIds(), group),
          createGroup,
          clear: () => select([]),
        })
      : "";
    tools.replaceChildren(points?.ids.length ? lasso : "", chosen);
  }

  const selectedIds = () => points.ids.filter((_, i) => selected[i]);

  const actions = makeActions({ showProblem, changed, refresh: () => refresh(), openReview });
  const move = (images, group) =>
    actions.move(
      images,
      groups.find((one) => one.id === group),
      () => select([]),
    );
  const createGroup = () => actions.createGroup(selectedIds(), () => select([]));

  // -- one picture --

  function mark(id) {
    marked = id;
    card.hidden = id === null;
    if (id !== null) showCard(id);
    draw();
  }

  async function showCard(id) {
    const group = groups[points.group[points.ids.indexOf(id)]];
    const name = h("p", {}, group?.name ?? t("in no group"));
    const tile = (title) =>
      h(
        "button",
        {
          type: "button",
          class: "tile",
          "aria-label": t("Enlarge {name}", { name: title }),
          onclick: () => zoom([{ id, name: title }]),
        },
        picture(id, title),
      );
    const others = groups.filter((one) => one !== group);
    const target = h(
      "select",
      { "aria-label": t("Move this picture to") },
      h("option", { value: "" }, t("Move to…")),
      others.map((one) => h("option", { value: one.id }, one.name)),
    );
    target.addEventListener("change", () => target.value && move([id], target.value));
    card.replaceChildren(tile(t("Picture")), name, ...(others.length ? [target] : []));
    const info = await api.imageInfo(id).catch(() => null);
    if (!info || marked !== id) return;
    card.firstChild.replaceWith(tile(info.name));
    const sure = info.placed
      ? t("placed by you")
      : t("{percent} % sure", { percent: Math.round(info.confidence * 100) });
    name.replaceChildren(
      h("b", {}, group?.name ?? t("in no group")),
      ` · ${sure}`,
      h("br"),
      h("span", { class: "quiet" }, info.name),
    );
  }

  // A larger picture beside the pointer.
  function showPreview(x, y) {
    const i = pointAt(x, y);
    preview.hidden = i < 0 || Boolean(drag);
    if (preview.hidden) return;
    if (preview.dataset.id !== String(points.ids[i])) preview.replaceChildren(picture(points.ids[i], ""));
    preview.dataset.id = points.ids[i];
    preview.style.setProperty("--group", groups[points.group[i]]?.colour ?? GREY);
    preview.style.left = `${x + 18 + 180 > canvas.clientWidth ? x - 198 : x + 18}px`;
    preview.style.top = `${Math.min(y + 18, canvas.clientHeight - 190)}px`;
  }

  // -- pointer and keys --

  // The point under the pointer stays where it is.
  const zoomBy = (factor, x = plot.middle()[0], y = plot.middle()[1]) => {
    const before = plot.frame(at);
    at.zoom = Math.max(0.5, Math.min(200, at.zoom * factor));
    const [u, v] = [(x - before.left) / before.width, (y - before.top) / before.height];
    const { width, height } = plot.frame(at);
    at.x = u - (x - canvas.clientWidth / 2) / width;
    at.y = v - (y - canvas.clientHeight / 2) / height;
    draw();
  };
  const position = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const trace = (corners) =>
    line.setAttribute("d", corners.length > 1 ? `M${corners.map((one) => one.join(" ")).join("L")}Z` : "");
  let drag = null; // last position, the distance so far, and the corners of a lasso
  let hovered = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { last: position(event), distance: 0, corners: isLasso || event.shiftKey ? [position(event)] : null };
    preview.hidden = true;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = position(event);
    if (!drag) {
      if (!hovered)
        requestAnimationFrame(() => {
          showPreview(...hovered);
          hovered = null;
        });
      hovered = [x, y];
      return;
    }
    const [dx, dy] = [x - drag.last[0], y - drag.last[1]];
    drag = { ...drag, last: [x, y], distance: drag.distance + Math.abs(dx) + Math.abs(dy) };
    if (drag.corners) return void trace(drag.corners.push([x, y]) && drag.corners);
    const { width, height } = plot.frame(at);
    at.x -= dx / width;
    at.y -= dy / height;
    draw();
  });
  canvas.addEventListener("pointerup", (event) => {
    const i = drag && drag.distance < 5 ? pointAt(...position(event)) : -1;
    if (drag && drag.distance < 5) mark(i < 0 ? null : points.ids[i]);
    else if (drag?.corners && points) select(plot.inside(drag.corners, at));
    drag = null;
    trace([]);
  });
  canvas.addEventListener("pointerleave", () => {
    preview.hidden = true;
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      preview.hidden = true;
      zoomBy(event.deltaY < 0 ? 1.2 : 1 / 1.2, ...position(event));
    },
    { passive: false },
  );
  canvas.addEventListener("keydown", (event) => {
    const step = 0.08 / at.zoom;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (moves[event.key]) [at.x, at.y] = [at.x + moves[event.key][0], at.y + moves[event.key][1]];
    if (event.key === "+" || event.key === "=") zoomBy(1.2);
    if (event.key === "-") zoomBy(1 / 1.2);
    if (event.key === "Enter" || event.key === " ") useMiddle(event.key);
    draw();
  });
  window.addEventListener("resize", draw);

  function showAll() {
    at = { x: 0.5, y: 0.5, zoom: 1 };
    draw();
  }

  // By keyboard: Enter shows the picture in the middle, a space selects it.
  function useMiddle(key) {
    const i = points ? plot.nearest(...plot.middle(), at, Infinity) : -1;
    if (i < 0) return;
    if (key === "Enter") mark(points.ids[i]);
    else select(points.ids.flatMap((_, j) => (Boolean(selected[j]) !== (j === i) ? [j] : [])));
  }

  // Whether a key was used: the digit of a group moves the selected pictures.
  function pressKey(event) {
    if (!nSelected || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return false;
    const group = /^[1-9]$/.test(event.key) ? groups[event.key - 1] : null;
    if (group) move(selectedIds(), group.id);
    else if (event.key === "Escape") select([]);
    else return false;
    return true;
  }

  return {
    refresh,
    pressKey,
    reset: () => {
      marked = null;
      card.hidden = true;
      select([]);
    },
  };
}

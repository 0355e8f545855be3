// Small pictures on the map, once few enough points are visible; where they would overlap, the first one is shown.

import { small } from "/page/dom.js";

const MOST = 600; // visible points; with more, only points are drawn
const SIDE = 56; // CSS pixels of a picture
const KEPT = 1200; // loaded pictures
const LOADING = 24; // at a time

export function makeMapPictures(plot, redraw) {
  const images = new Map(); // id -> Image, the least recently used first
  let shown = []; // [index, left, top]
  let nLoading = 0;

  function imageOf(id) {
    let image = images.get(id);
    if (image) images.delete(id);
    else if (nLoading >= LOADING) return null;
    else {
      image = new Image();
      nLoading += 1;
      image.onload = image.onerror = () => {
        nLoading -= 1;
        redraw();
      };
      image.src = small(id);
    }
    images.set(id, image);
    if (images.size > KEPT) images.delete(images.keys().next().value);
    return image;
  }

  function draw(at, ids, colourOf, isSelected) {
    shown = [];
    const points = plot.visible(at, MOST);
    if (!points) return;
    const ratio = window.devicePixelRatio || 1;
    const taken = new Map(); // cells of the canvas
    for (const i of points) {
      const [x, y] = plot.place(i, at);
      if (!isFree(taken, x, y)) continue;
      const image = imageOf(ids[i]);
      if (!image?.complete || !image.naturalWidth) continue;
      const [left, top] = [x - SIDE / 2, y - SIDE / 2];
      plot.context.fillStyle = isSelected?.[i] ? getComputedStyle(plot.context.canvas).color : colourOf(i);
      const edge = isSelected?.[i] ? 6 : 3;
      plot.context.fillRect(
        (left - edge) * ratio,
        (top - edge) * ratio,
        (SIDE + 2 * edge) * ratio,
        (SIDE + 2 * edge) * ratio,
      );
      const side = Math.min(image.naturalWidth, image.naturalHeight); // the middle of the picture
      plot.context.drawImage(
        image,
        (image.naturalWidth - side) / 2,
        (image.naturalHeight - side) / 2,
        side,
        side,
        left * ratio,
        top * ratio,
        SIDE * ratio,
        SIDE * ratio,
      );
      shown.push([i, left, top]);
    }
  }

  // Pictures are at least one side apart; a cell of that size holds at most one.
  function isFree(taken, x, y) {
    const [column, row, apart] = [Math.floor(x / SIDE), Math.floor(y / SIDE), SIDE + 6];
    for (let c = column - 2; c <= column + 2; c += 1)
      for (let r = row - 2; r <= row + 2; r += 1) {
        const other = taken.get(`${c} ${r}`);
        if (other && Math.abs(other[0] - x) < apart && Math.abs(other[1] - y) < apart) return false;
      }
    taken.set(`${column} ${row}`, [x, y]);
    return true;
  }

  const hit = (x, y) =>
    shown.find(([, left, top]) => x >= left && y >= top && x <= left + SIDE && y <= top + SIDE)?.[0] ?? -1;
  return { draw, hit };
}

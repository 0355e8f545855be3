// A grid of pictures in sections: only the tiles near the visible part exist, and tiles that leave it are used again.
//
// A section is { key, ids, box }: `box` is the element that contains its tiles. Tiles have fixed sizes, so the place of a
// picture follows from its index.

const GAP = 6; // pixels between tiles
const MARGIN = 500; // pixels above and below the visible part in which tiles exist
const FAST = 5; // pixels per millisecond; above it, pictures are loaded once the scrolling is slower
const SETTLED = 80; // milliseconds without scrolling, after which names and percentages are requested too

// makeTile() returns an element; fill(tile, id) shows a picture in it; load(tile) requests the image file.
export function makeGrid(scroller, { makeTile, fill, load, shown }) {
  let sections = [];
  let places = new Map(); // id -> { section, index }
  const live = new Map(); // id -> tile
  let free = [];
  let size = 128; // of a tile, as wanted; and as it fits
  let side = size;
  let columns = 1;
  let isDue = false;
  let last = { top: 0, at: 0 };
  let settle = 0;

  function setSections(next) {
    sections = next;
    places = new Map();
    for (const section of sections) section.ids.forEach((id, index) => places.set(id, { section, index }));
    layout();
  }

  function setSize(wanted) {
    size = wanted;
    layout();
  }

  // Where the tiles are; after a change of the pictures, the window or the size.
  function layout() {
    const width = sections[0]?.box.clientWidth ?? 0;
    if (!width) return;
    columns = Math.max(2, Math.floor((width + GAP) / (size + GAP)));
    side = Math.floor((width - GAP * (columns - 1)) / columns);
    scroller.style.setProperty("--side", `${side}px`);
    for (const section of sections) section.box.style.height = `${heightOf(section)}px`;
    measure();
    render();
  }

  const rowsOf = (section) => Math.ceil(section.ids.length / columns);
  const heightOf = (section) => Math.max(0, rowsOf(section) * (side + GAP) - GAP);

  function measure() {
    const top = scroller.getBoundingClientRect().top - scroller.scrollTop;
    for (const section of sections) section.top = section.box.getBoundingClientRect().top - top;
  }

  function schedule() {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      render();
    });
  }

  function render() {
    const [top, bottom] = [scroller.scrollTop - MARGIN, scroller.scrollTop + scroller.clientHeight + MARGIN];
    const wanted = [];
    for (const section of sections) {
      if (section.top > bottom || section.top + heightOf(section) < top) continue;
      const first = Math.max(0, Math.floor((top - section.top) / (side + GAP))) * columns;
      const end = Math.min(section.ids.length, Math.ceil((bottom - section.top) / (side + GAP)) * columns);
      for (let index = first; index < end; index += 1) wanted.push([section.ids[index], section, index]);
    }
    const isFast = speed() > FAST;
    release(new Set(wanted.map(([id]) => id)));
    for (const [id, section, index] of wanted) place(id, section, index, isFast);
    for (const tile of free) {
      if (tile.hidden) continue;
      tile.hidden = true;
      delete tile.dataset.id;
    }
    clearTimeout(settle);
    settle = setTimeout(() => {
      for (const tile of live.values()) load(tile);
      shown([...live.keys()]);
    }, SETTLED);
  }

  function speed() {
    const now = performance.now();
    const moved = Math.abs(scroller.scrollTop - last.top) / Math.max(1, now - last.at);
    last = { top: scroller.scrollTop, at: now };
    return moved;
  }

  function release(wanted) {
    for (const [id, tile] of live) {
      if (wanted.has(id) || tile.classList.contains("dragged")) continue; // a removed element would end its drag
      live.delete(id);
      free.push(tile);
    }
  }

  function place(id, section, index, isFast) {
    let tile = live.get(id);
    if (!tile) {
      tile = free.pop() ?? makeTile();
      tile.hidden = false;
      live.set(id, tile);
      fill(tile, id);
    }
    if (tile.parentNode !== section.box) section.box.append(tile);
    if (!isFast) load(tile);
    const at = `${index} of ${section.ids.length}, ${columns} columns of ${side}`;
    if (tile.dataset.at === at) return; // most tiles stay where they are
    tile.dataset.at = at;
    const [x, y] = [index % columns, Math.floor(index / columns)].map((cell) => cell * (side + GAP));
    tile.style.transform = `translate(${x}px, ${y}px)`;
    tile.setAttribute("aria-posinset", index + 1);
    tile.setAttribute("aria-setsize", section.ids.length);
  }

  // -- where pictures are, in pixels of the scrolled content --

  function boxOf(id) {
    const found = places.get(id);
    if (!found) return null;
    const { section, index } = found;
    return {
      x: section.box.offsetLeft + (index % columns) * (side + GAP),
      y: section.top + Math.floor(index / columns) * (side + GAP),
      side,
    };
  }

  function idsIn(left, top, right, bottom) {
    const found = [];
    for (const section of sections) {
      const [x, y] = [section.box.offsetLeft, section.top];
      if (y > bottom || y + heightOf(section) < top) continue;
      const rows = [
        Math.max(0, Math.floor((top - y + GAP) / (side + GAP))),
        Math.min(rowsOf(section) - 1, Math.floor((bottom - y) / (side + GAP))),
      ];
      const cells = [
        Math.max(0, Math.floor((left - x + GAP) / (side + GAP))),
        Math.min(columns - 1, Math.floor((right - x) / (side + GAP))),
      ];
      for (let row = rows[0]; row <= rows[1]; row += 1)
        found.push(
          ...section.ids.slice(
            row * columns + cells[0],
            Math.max(row * columns + cells[0], row * columns + cells[1] + 1),
          ),
        );
    }
    return found;
  }

  // The picture that an arrow key leads to.
  function neighbour(id, key) {
    const found = places.get(id);
    if (!found) return sections.find((one) => one.ids.length)?.ids[0] ?? null;
    const { section, index } = found;
    const filled = sections.filter((one) => one.ids.length);
    const at = filled.indexOf(section);
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[key];
    const next = section.ids[index + step];
    if (next !== undefined) return next;
    if (key === "ArrowDown" && Math.floor(index / columns) < rowsOf(section) - 1) return section.ids.at(-1);
    const other = filled[at + Math.sign(step)];
    if (!other) return id;
    if (step > 0) return other.ids[key === "ArrowDown" ? Math.min(index % columns, other.ids.length - 1) : 0];
    const below = (rowsOf(other) - 1) * columns + (index % columns);
    return other.ids[key === "ArrowUp" ? Math.min(below, other.ids.length - 1) : other.ids.length - 1];
  }

  function reveal(id, covered = 0) {
    const box = boxOf(id);
    if (!box) return;
    if (box.y < scroller.scrollTop + covered) scroller.scrollTop = box.y - covered - GAP;
    else if (box.y + side > scroller.scrollTop + scroller.clientHeight)
      scroller.scrollTop = box.y + side + GAP - scroller.clientHeight;
    render();
  }

  // The first visible picture and its place on the screen, to be there again after a change of the sections.
  function anchor() {
    const at = [...live.keys()]
      .map((id) => ({ id, section: places.get(id)?.section.key, y: (boxOf(id)?.y ?? -1) - scroller.scrollTop }))
      .filter(({ y }) => y >= 0);
    return scroller.scrollTop ? at.sort((a, b) => a.y - b.y).slice(0, 40) : [];
  }

  function restore(anchors) {
    const kept = anchors.find(({ id, section }) => places.get(id)?.section.key === section);
    if (kept) scroller.scrollTop = boxOf(kept.id).y - kept.y;
    render();
  }

  scroller.addEventListener("scroll", schedule, { passive: true });
  new ResizeObserver(layout).observe(scroller);
  return {
    setSections,
    setSize,
    layout,
    boxOf,
    idsIn,
    neighbour,
    reveal,
    anchor,
    restore,
    order: () => sections.flatMap((one) => one.ids),
    tile: (id) => live.get(id) ?? null,
    refill: () => {
      for (const [id, tile] of live) fill(tile, id);
    },
    sectionOf: (id) => places.get(id)?.section ?? null,
  };
}

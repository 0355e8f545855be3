// Which pictures are selected, and the cursor that the arrow keys move; by mouse, rubber band and keyboard.

export function makeSelection(changed) {
  let ids = new Set();
  let cursor = null;
  let start = null; // of a range

  const set = (next, to = cursor) => {
    [ids, cursor] = [new Set(next), to];
    changed();
  };

  function only(id) {
    start = id;
    set([id], id);
  }

  function toggle(id) {
    start = id;
    if (!ids.delete(id)) ids.add(id);
    set(ids, id);
  }

  // From the last picture that was clicked to this one, in the order of the screen.
  function extend(id, order, keeps = false) {
    const [from, to] = [order.indexOf(start ?? cursor), order.indexOf(id)];
    if (from < 0) return only(id);
    start = order[from];
    set([...(keeps ? ids : []), ...order.slice(Math.min(from, to), Math.max(from, to) + 1)], id);
    return null;
  }

  return {
    only,
    toggle,
    extend,
    set,
    clear: () => {
      start = null;
      set([]);
    },
    move: (id) => {
      cursor = id;
      start = ids.size ? start : id;
      changed();
    },
    keep: (known) => {
      ids = new Set([...ids].filter(known));
      cursor = cursor !== null && known(cursor) ? cursor : null;
    },
    has: (id) => ids.has(id),
    list: () => [...ids],
    get size() {
      return ids.size;
    },
    get cursor() {
      return cursor;
    },
  };
}

const EDGE = 40; // pixels from the border of the scroller in which it scrolls

// Select with a rectangle that is drawn from a place without a picture.
export function addRubberBand(scroller, grid, selection, isFree) {
  const band = document.createElement("div");
  band.className = "band";
  let drawn = null; // { x, y } in the content, the pointer, and what was selected before

  const content = (pointer) => {
    const box = scroller.getBoundingClientRect();
    return [pointer.clientX - box.left + scroller.scrollLeft, pointer.clientY - box.top + scroller.scrollTop];
  };

  function draw() {
    const [x, y] = content(drawn.pointer);
    const [left, top, right, bottom] = [
      Math.min(x, drawn.x),
      Math.min(y, drawn.y),
      Math.max(x, drawn.x),
      Math.max(y, drawn.y),
    ];
    if (!band.isConnected && right - left + bottom - top < 8) return;
    if (!band.isConnected) scroller.append(band);
    Object.assign(band.style, {
      left: `${left}px`,
      top: `${top}px`,
      width: `${right - left}px`,
      height: `${bottom - top}px`,
    });
    selection.set([...drawn.before, ...grid.idsIn(left, top, right, bottom)]);
  }

  function scrollAtEdge() {
    if (!drawn) return;
    const box = scroller.getBoundingClientRect();
    const over =
      Math.max(0, drawn.pointer.clientY - (box.bottom - EDGE)) - Math.max(0, box.top + EDGE - drawn.pointer.clientY);
    if (over && band.isConnected) {
      scroller.scrollTop += over / 2;
      draw();
    }
    requestAnimationFrame(scrollAtEdge);
  }

  scroller.addEventListener("pointerdown", (event) => {
    if (event.button || event.pointerType !== "mouse" || !isFree(event.target)) return;
    const [x, y] = content(event);
    drawn = { x, y, pointer: event, before: event.ctrlKey || event.metaKey || event.shiftKey ? selection.list() : [] };
    scroller.setPointerCapture(event.pointerId);
    requestAnimationFrame(scrollAtEdge);
  });
  scroller.addEventListener("pointermove", (event) => {
    if (!drawn) return;
    drawn.pointer = event;
    draw();
  });
  const end = () => {
    if (drawn && !band.isConnected && !drawn.before.length) selection.clear(); // a click beside the pictures
    drawn = null;
    band.remove();
  };
  scroller.addEventListener("pointerup", end);
  scroller.addEventListener("pointercancel", end);
}

// A scatter plot of 100,000 points: pixels are written into one array, which is drawn on a canvas at once.

const toPixel = (colour) => {
  // "#rrggbb" as the bytes of an opaque pixel
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
};

const MARGIN = 44; // CSS pixels around the points: half a picture and its frame
const MAX_STRETCH = 1.6; // the width of the map at most, in heights; and the reverse

// For each row of a disc of `size` pixels, its first pixel and the one after the last.
function discRows(size) {
  const middle = (size - 1) / 2;
  return Array.from({ length: size }, (_, row) => {
    const half = Math.sqrt(Math.max(0, (size / 2) ** 2 - (row - middle) ** 2));
    return size < 4 ? [0, size] : [Math.round(size / 2 - half), Math.round(size / 2 + half)];
  });
}

export function makeScatterPlot(canvas) {
  const context = canvas.getContext("2d", { willReadFrequently: true }); // pixels are read and written by the CPU
  let x = new Float32Array(0);
  let y = new Float32Array(0);
  let group = new Int16Array(0);
  let pixels = [];
  let image = null;

  function setPoints(map, colours, grey) {
    x = Float32Array.from(map.x, (value) => value / map.scale);
    y = Float32Array.from(map.y, (value) => value / map.scale);
    group = Int16Array.from(map.group, (value) => (value < 0 ? colours.length : value));
    pixels = Uint32Array.from([...colours, grey], toPixel);
  }

  // Position and size of the unit square on the canvas, in CSS pixels; it is stretched towards the shape of the canvas.
  const frame = (at) => {
    const [across, down] = [canvas.clientWidth, canvas.clientHeight].map((length) =>
      Math.max(2 * MARGIN, length - 2 * MARGIN),
    );
    const [width, height] = [
      Math.min(across, MAX_STRETCH * down) * at.zoom,
      Math.min(down, MAX_STRETCH * across) * at.zoom,
    ];
    return { width, height, left: canvas.clientWidth / 2 - at.x * width, top: canvas.clientHeight / 2 - at.y * height };
  };

  // `isSelected`: 1 for each selected point; these are larger and in the colour of the text.
  function draw(at, isSelected = null) {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (!width || !height) return;
    if (canvas.width !== width || canvas.height !== height || !image) {
      [canvas.width, canvas.height] = [width, height];
      image = new ImageData(width, height);
    }
    const buffer = new Uint32Array(image.data.buffer);
    buffer.fill(0);
    const unit = frame(at);
    const size = Math.max(1, Math.round(dotSize(at) * ratio));
    const [sx, sy, ox, oy] = [
      unit.width * ratio,
      unit.height * ratio,
      unit.left * ratio - size / 2,
      unit.top * ratio - size / 2,
    ];
    const [maxX, maxY] = [width - size, height - size];
    const rows = discRows(size);
    for (let i = 0; i < x.length; i += 1) {
      const px = (ox + x[i] * sx) | 0;
      const py = (oy + y[i] * sy) | 0;
      if (px < 0 || py < 0 || px > maxX || py > maxY) continue;
      const colour = pixels[group[i]];
      for (let row = 0, start = py * width + px; row < size; row += 1, start += width)
        for (let cell = start + rows[row][0], end = start + rows[row][1]; cell < end; cell += 1) buffer[cell] = colour;
    }
    if (isSelected) drawSelected(buffer, width, height, { sx, sy, ox, oy, size }, isSelected);
    context.putImageData(image, 0, 0);
  }

  function drawSelected(buffer, width, height, { sx, sy, ox, oy, size }, isSelected) {
    const ink = toPixel(hex(getComputedStyle(canvas).color));
    const rows = discRows(size + 2);
    for (let i = 0; i < x.length; i += 1) {
      if (!isSelected[i]) continue;
      const [px, py] = [((ox + x[i] * sx) | 0) - 1, ((oy + y[i] * sy) | 0) - 1];
      if (px < 0 || py < 0 || px + size + 2 > width || py + size + 2 > height) continue;
      for (let row = 0, start = py * width + px; row < size + 2; row += 1, start += width)
        buffer.fill(ink, start + rows[row][0], start + rows[row][1]);
    }
  }

  const dotSize = (at) => Math.max(2, Math.min(9, 160 / Math.sqrt(x.length || 1))) * Math.min(4, Math.sqrt(at.zoom));

  function circle(i, at) {
    const ratio = window.devicePixelRatio || 1;
    const [cx, cy] = place(i, at);
    context.strokeStyle = getComputedStyle(canvas).color;
    context.lineWidth = 3 * ratio;
    context.beginPath();
    context.arc(cx * ratio, cy * ratio, (dotSize(at) + 5) * ratio, 0, 7);
    context.stroke();
  }

  // Where a point is on the canvas, in CSS pixels.
  function place(i, at) {
    const { width, height, left, top } = frame(at);
    return [left + x[i] * width, top + y[i] * height];
  }

  function nearest(atX, atY, at, within = 20) {
    const { width, height, left, top } = frame(at);
    let best = -1;
    let closest = within ** 2;
    for (let i = 0; i < x.length; i += 1) {
      const distance = (left + x[i] * width - atX) ** 2 + (top + y[i] * height - atY) ** 2;
      if (distance < closest) [best, closest] = [i, distance];
    }
    return best;
  }

  // The points on the canvas; null if there are more than `most`.
  function visible(at, most) {
    const { width, height, left, top } = frame(at);
    const [low, high] = [
      [-left / width, -top / height],
      [(canvas.clientWidth - left) / width, (canvas.clientHeight - top) / height],
    ];
    const found = [];
    for (let i = 0; i < x.length; i += 1) {
      if (x[i] < low[0] || x[i] > high[0] || y[i] < low[1] || y[i] > high[1]) continue;
      if (found.length === most) return null;
      found.push(i);
    }
    return found;
  }

  // The points in a polygon, whose corners are in CSS pixels.
  function inside(corners, at) {
    const { width, height, left, top } = frame(at);
    const polygon = corners.map(([cx, cy]) => [(cx - left) / width, (cy - top) / height]);
    const found = [];
    for (let i = 0; i < x.length; i += 1) if (contains(polygon, x[i], y[i])) found.push(i);
    return found;
  }

  const middle = () => [canvas.clientWidth / 2, canvas.clientHeight / 2];
  return {
    setPoints,
    draw,
    middle,
    circle,
    nearest,
    visible,
    inside,
    frame,
    place,
    context,
    point: (i) => [x[i], y[i]],
  };
}

const hex = (rgb) =>
  `#${(rgb.match(/\d+/g) ?? [0])
    .slice(0, 3)
    .map((n) => Number(n).toString(16).padStart(2, "0"))
    .join("")}`;

// Whether a polygon contains a point: a ray from the point crosses its sides an odd number of times.
function contains(polygon, px, py) {
  let isInside = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i, i += 1) {
    const [[ax, ay], [bx, by]] = [polygon[i], polygon[j]];
    if (ay > py !== by > py && px < ((bx - ax) * (py - ay)) / (by - ay) + ax) isInside = !isInside;
  }
  return isInside;
}

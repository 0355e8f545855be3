// A scatter plot of 100,000 points: pixels are written into one array, which is drawn on a canvas at once.

const toPixel = (colour) => { // "#rrggbb" as the bytes of an opaque pixel
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
};

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

  // Position and size of the unit square on the canvas, in CSS pixels.
  const frame = (at) => {
    const side = Math.min(canvas.clientWidth, canvas.clientHeight) * 0.94 * at.zoom;
    return { side, left: canvas.clientWidth / 2 - at.x * side, top: canvas.clientHeight / 2 - at.y * side };
  };

  function draw(at) {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (!width || !height) return;
    if (canvas.width !== width || canvas.height !== height || !image) {
      [canvas.width, canvas.height] = [width, height];
      image = new ImageData(width, height);
    }
    const buffer = new Uint32Array(image.data.buffer);
    buffer.fill(0);
    const { side, left, top } = frame(at);
    const size = Math.max(1, Math.round(dotSize(at) * ratio));
    const [scale, ox, oy] = [side * ratio, left * ratio - size / 2, top * ratio - size / 2];
    for (let i = 0; i < x.length; i += 1) {
      const px = (ox + x[i] * scale) | 0;
      const py = (oy + y[i] * scale) | 0;
      if (px < 0 || py < 0 || px + size > width || py + size > height) continue;
      const colour = pixels[group[i]];
      for (let row = py * width + px, end = row + size * width; row < end; row += width)
        buffer.fill(colour, row, row + size);
    }
    context.putImageData(image, 0, 0);
  }

  const dotSize = (at) => Math.max(2, Math.min(9, 160 / Math.sqrt(x.length || 1))) * Math.min(4, Math.sqrt(at.zoom));

  function circle(i, at) {
    const ratio = window.devicePixelRatio || 1;
    const { side, left, top } = frame(at);
    context.strokeStyle = getComputedStyle(canvas).color;
    context.lineWidth = 3 * ratio;
    context.beginPath();
    context.arc((left + x[i] * side) * ratio, (top + y[i] * side) * ratio, (dotSize(at) + 5) * ratio, 0, 7);
    context.stroke();
  }

  function nearest(atX, atY, at, within = 20) {
    const { side, left, top } = frame(at);
    let best = -1;
    let closest = within ** 2;
    for (let i = 0; i < x.length; i += 1) {
      const distance = (left + x[i] * side - atX) ** 2 + (top + y[i] * side - atY) ** 2;
      if (distance < closest) [best, closest] = [i, distance];
    }
    return best;
  }

  return { setPoints, draw, circle, nearest, frame, point: (i) => [x[i], y[i]] };
}

// A hundred thousand points on a canvas: pixels are written into one array, which is shown at once.

const toPixel = (colour) => { // "#rrggbb" as the bytes of an opaque pixel
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
};

export function makePlot(canvas) {
  const pen = canvas.getContext("2d", { willReadFrequently: true }); // pixels are ours, no graphics card needed
  let x = new Float32Array(0);
  let y = new Float32Array(0);
  let group = new Int16Array(0);
  let pixels = [];
  let image = null;

  function take(map, colours, grey) {
    x = Float32Array.from(map.x, (value) => value / map.scale);
    y = Float32Array.from(map.y, (value) => value / map.scale);
    group = Int16Array.from(map.group, (value) => (value < 0 ? colours.length : value));
    pixels = Uint32Array.from([...colours, grey], toPixel);
  }

  // Where the unit square lies on the canvas, in CSS pixels.
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
    const words = new Uint32Array(image.data.buffer);
    words.fill(0);
    const { side, left, top } = frame(at);
    const size = Math.max(1, Math.round(dotSize(at) * ratio));
    const [scale, ox, oy] = [side * ratio, left * ratio - size / 2, top * ratio - size / 2];
    for (let i = 0; i < x.length; i += 1) {
      const px = (ox + x[i] * scale) | 0;
      const py = (oy + y[i] * scale) | 0;
      if (px < 0 || py < 0 || px + size > width || py + size > height) continue;
      const colour = pixels[group[i]];
      for (let row = py * width + px, end = row + size * width; row < end; row += width)
        for (let word = row; word < row + size; word += 1) words[word] = colour;
    }
    pen.putImageData(image, 0, 0);
  }

  const dotSize = (at) => Math.max(2, Math.min(9, 160 / Math.sqrt(x.length || 1))) * Math.min(4, Math.sqrt(at.zoom));

  function circle(place, at) {
    const ratio = window.devicePixelRatio || 1;
    const { side, left, top } = frame(at);
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.lineWidth = 3 * ratio;
    pen.beginPath();
    pen.arc((left + x[place] * side) * ratio, (top + y[place] * side) * ratio, (dotSize(at) + 5) * ratio, 0, 7);
    pen.stroke();
  }

  function nearest(atX, atY, at, within = 20) {
    const { side, left, top } = frame(at);
    let best = -1;
    let closest = within ** 2;
    for (let i = 0; i < x.length; i += 1) {
      const far = (left + x[i] * side - atX) ** 2 + (top + y[i] * side - atY) ** 2;
      if (far < closest) [best, closest] = [i, far];
    }
    return best;
  }

  return { take, draw, circle, nearest, frame, place: (i) => [x[i], y[i]] };
}

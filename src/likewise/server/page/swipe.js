// Swipes on a touch screen: a pair is answered by moving it to the side.

const FAR = 70; // pixels
const CLICK_AFTER = 300; // milliseconds
const SLANT = 2; // a swipe is this much wider than high

// actions: { isOn, left, right }
export function swipes(element, { isOn, left, right }) {
  let start = null;
  let swipedAt = -Infinity;
  const end = () => {
    start = null;
    element.style.removeProperty("--swipe");
    delete element.dataset.swipe;
  };
  element.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" && event.isPrimary && isOn() && event.target.closest(".pictures"))
      start = { x: event.clientX, y: event.clientY };
  });
  element.addEventListener("pointermove", (event) => {
    if (!start) return;
    const by = event.clientX - start.x;
    element.style.setProperty("--swipe", `${by}px`);
    element.dataset.swipe = Math.abs(by) < FAR ? "" : by < 0 ? "left" : "right";
  });
  element.addEventListener("pointerup", (event) => {
    if (!start) return;
    const [dx, dy] = [event.clientX - start.x, event.clientY - start.y];
    end();
    if (Math.abs(dx) < FAR || Math.abs(dx) < SLANT * Math.abs(dy)) return;
    swipedAt = performance.now();
    if (dx < 0) left();
    else right();
  });
  element.addEventListener("pointercancel", end);
  element.addEventListener(
    "click",
    (event) => {
      // the click after a swipe does not enlarge the picture
      if (performance.now() - swipedAt < CLICK_AFTER) event.stopPropagation();
    },
    true,
  );
}

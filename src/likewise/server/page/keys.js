// Keys: which one does what. A person may change them; the choice stays in this browser.

const STORE = "likewise-keys";
export const ACTIONS = [
  // name, what it does, the keys it has until somebody changes them
  ["same", "same", ["s", "arrowleft"]],
  ["different", "different", ["d", "arrowright"]],
  ["cannot_tell", "can't tell", [" "]],
  ["bad_image", "bad picture", ["x"]],
  ["none", "none of these groups", ["0", "n"]],
  ["undo", "undo, as often as you like", ["u"]],
  ["zoom", "look closer", ["z"]],
  ["ask", "ask", ["a"]],
  ["groups", "groups", ["g"]],
  ["map", "map", ["m"]],
  ["answers", "list of answers", ["l"]],
  ["compare", "compare two ways to sort", ["c"]],
];
const FIXED = /^([1-9]|\?|tab|enter|escape|shift|control|alt|meta)$/; // groups, help, and what browsers need

let chosen = read();

function read() {
  try {
    return JSON.parse(localStorage.getItem(STORE)) ?? {};
  } catch {
    return {};
  }
}

export const keysOf = (action) => {
  const own = chosen[action];
  return own ? [own] : ACTIONS.find(([name]) => name === action)[2].filter((key) => !Object.values(chosen).includes(key));
};

export const actionOf = (key) => ACTIONS.map(([name]) => name).find((name) => keysOf(name).includes(key.toLowerCase())) ?? null;

const NAMES = { " ": "Space", arrowleft: "←", arrowright: "→", arrowup: "↑", arrowdown: "↓" };
export const nameOf = (key) => NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key);
export const shownKey = (action) => (keysOf(action).length ? nameOf(keysOf(action)[0]) : "–");

// Returns what is wrong with a wish, or nothing if it was granted.
export function remap(action, key) {
  const wanted = key.toLowerCase();
  if (FIXED.test(wanted)) return `${nameOf(wanted)} is needed for something else; choose another key.`;
  const other = Object.keys(chosen).find((name) => name !== action && chosen[name] === wanted);
  if (other) return `${nameOf(wanted)} is already "${ACTIONS.find(([name]) => name === other)[1]}"; change that first.`;
  chosen = { ...chosen, [action]: wanted };
  localStorage.setItem(STORE, JSON.stringify(chosen));
  return "";
}

export function resetKeys() {
  chosen = {};
  localStorage.removeItem(STORE);
}

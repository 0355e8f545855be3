// Keyboard shortcuts. Changed keys are stored in this browser.

import { t } from "/page/texts.js";

const STORE = "likewise-keys";
export const ACTIONS = [
  // name, description, default keys
  ["same", "same", ["s", "arrowleft"]],
  ["different", "different", ["d", "arrowright"]],
  ["cannot_tell", "can't tell", [" "]],
  ["bad_image", "bad picture", ["x"]],
  ["none", "none of these groups", ["0"]],
  ["new_group", "new group", ["n", "+"]],
  ["find", "find another group", ["f", "/"]],
  ["name", "name the group", ["e"]],
  ["undo", "undo", ["u"]],
  ["zoom", "enlarge the picture", ["z"]],
  ["ask", "open Ask", ["a"]],
  ["groups", "open Groups", ["g"]],
  ["map", "open Map", ["m"]],
  ["answers", "open Answers", ["l"]],
  ["compare", "open Compare", ["c"]],
];
const FIXED = /^([1-9]|\?|tab|enter|escape|shift|control|alt|meta)$/; // used for groups, help and the browser

let changed = read();

function read() {
  try {
    return JSON.parse(localStorage.getItem(STORE)) ?? {};
  } catch {
    return {};
  }
}

export const keysOf = (action) => {
  const own = changed[action];
  return own
    ? [own]
    : ACTIONS.find(([name]) => name === action)[2].filter((key) => !Object.values(changed).includes(key));
};

export const actionOf = (key) =>
  ACTIONS.map(([name]) => name).find((name) => keysOf(name).includes(key.toLowerCase())) ?? null;

export const describe = (action) => t(ACTIONS.find(([name]) => name === action)[1]);

const NAMES = { " ": t("Space"), arrowleft: "←", arrowright: "→", arrowup: "↑", arrowdown: "↓" };
export const nameOf = (key) => NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key);
export const shownKey = (action) => (keysOf(action).length ? nameOf(keysOf(action)[0]) : "–");

// Change a key; returns an error message, empty if there is none.
export function remap(action, key) {
  const wanted = key.toLowerCase();
  if (FIXED.test(wanted)) return t("{key} is reserved; choose another key.", { key: nameOf(wanted) });
  const other = Object.keys(changed).find((name) => name !== action && changed[name] === wanted);
  if (other)
    return t("{key} is already “{action}”; change that first.", { key: nameOf(wanted), action: describe(other) });
  changed = { ...changed, [action]: wanted };
  localStorage.setItem(STORE, JSON.stringify(changed));
  return "";
}

export function resetKeys() {
  changed = {};
  localStorage.removeItem(STORE);
}

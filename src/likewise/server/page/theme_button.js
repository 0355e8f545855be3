// The button that switches between light and dark.

import { $ } from "/page/dom.js";
import { icon } from "/page/icons.js";

export function setUpThemeButton() {
  const show = () => $("theme").replaceChildren(icon(window.likewiseTheme.shown() === "dark" ? "sun" : "moon"));
  document.addEventListener("theme", show);
  $("theme").addEventListener("click", () => window.likewiseTheme.toggle());
  show();
}

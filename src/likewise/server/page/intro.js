// The introduction: three short cards above the first question, shown once.

import { button, h } from "/page/dom.js";
import { t } from "/page/texts.js";

const STORE = "likewise-introduced";
const CARDS = [
  t("You answer short questions about your pictures. The program learns from them what you group by."),
  t("After a few answers all pictures are in groups. Look at them under Groups, name them, and move what is wrong."),
  t("The figure below says how many are right. When it is enough, export folders, a table or a gallery."),
];

// closed(): the person has seen or skipped the cards; null if that was earlier.
export function introduction(closed) {
  if (localStorage.getItem(STORE)) return null;
  let current = 0;
  const text = h("p", {});
  const step = h("span", { class: "step" });
  const next = button("", () => show(current + 1), { class: "primary", id: "intro-next" });
  const skip = button(t("Skip"), () => show(CARDS.length), { class: "quiet", id: "intro-skip" });
  function show(to) {
    if (to >= CARDS.length) {
      localStorage.setItem(STORE, "yes");
      closed();
      return;
    }
    current = to;
    text.textContent = CARDS[current];
    step.textContent = `${current + 1} / ${CARDS.length}`;
    next.textContent = current === CARDS.length - 1 ? t("Start") : t("Next");
  }
  show(0);
  return h("section", { class: "intro", "aria-label": t("Introduction") }, step, text, next, skip);
}

// Answers that need a person: those that contradict each other, and one that the rest makes doubtful.

import { h, picture } from "/page/elements.js";

const both = (entry) => h("div", { class: "two" }, entry.images.slice(0, 2).map((id, i) => picture(id, entry.names[i])));
let isOpen = !matchMedia("(max-width: 640px)").matches; // a phone has no room for it until it is wanted
const button = (text, act, kind = "") => h("button", { type: "button", class: kind, onclick: act }, text);

export function conflictView(conflict, { takeBack, keep }) {
  const item = (entry) =>
    h("li", { class: entry.id === conflict.likely ? "likely" : "", "data-id": entry.id }, both(entry),
      h("b", {}, entry.says), entry === conflict.answer ? h("span", { class: "badge" }, "just now, set aside") : null,
      entry.id === conflict.likely ? h("span", { class: "badge" }, "most likely the slip") : null,
      button("Take this back", () => takeBack(entry.id), entry.id === conflict.likely ? "first" : ""));
  return h("section", { class: "settle", "aria-label": "Answers that contradict each other" },
    h("h2", {}, "These answers cannot all be right"),
    h("p", {}, "Which one was a slip? All are kept until you decide; the newest does not count meanwhile."),
    h("ul", {}, [conflict.answer, ...conflict.against].map(item)),
    button("Leave it as it is", keep, "keep"));
}

// An answer offered once more; nothing has to be done about it.
export function doubtView({ answer: old, chain }, { standBy, takeBack, newGroup, later }) {
  const isNone = old.answer === "none"; // and all groups there may be were shown
  const others = isNone ? [] : chain.filter((one) => one.id !== old.id).slice(0, 2);
  const shown = isNone ? h("div", { class: "two" }, picture(old.images[0], old.names[0])) : both(old);
  const why = isNone
    ? "You wanted no more groups than there are, and this picture is in none of them. Was it a slip, or is there one more group?"
    : "The rest of your answers make this one doubtful. Was it a slip?";
  // After a click the keys are for the question; who goes by Tab stays.
  const summary = h("summary", { id: "look-again", onclick: (event) => event.detail && summary.blur() }, h("h2", {}, "Look again: you said ", h("b", {}, old.says)));
  const details = h("details", { open: isOpen, ontoggle: () => { isOpen = details.open; } }, summary, h("div", { class: "inside" },
    h("ul", {}, h("li", { class: "likely" }, shown, h("b", {}, old.says)), others.map((one) => h("li", {}, both(one), h("b", {}, one.says)))),
    h("div", {}, h("p", {}, why),
      h("div", { class: "row" }, isNone ? button("Make it a new group", () => newGroup(old.images[0])) : null,
        button("It is right", () => standBy(old.id), "keep"), button("Take it back", () => takeBack(old.id)), button("Later", later, "quiet")))));
  return h("section", { class: "settle again", "aria-label": "An answer to look at again", "data-id": old.id }, details);
}

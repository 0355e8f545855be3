// Review answers: a conflict between answers, or a label issue (an answer the model finds unlikely).

import { button, h, picture } from "/page/dom.js";

const firstTwo = (entry) => h("div", { class: "two" }, entry.images.slice(0, 2).map((id, i) => picture(id, entry.names[i])));
let isOpen = !matchMedia("(max-width: 640px)").matches; // closed at first on a small screen

export function conflictView(conflict, { retract, ignore }) {
  const isSuspected = (entry) => entry.id === conflict.suspected;
  const item = (entry) =>
    h("li", { class: isSuspected(entry) ? "suspected" : "", "data-id": entry.id }, firstTwo(entry),
      h("b", {}, entry.text), entry === conflict.answer ? h("span", { class: "badge" }, "newest, not used") : null,
      isSuspected(entry) ? h("span", { class: "badge" }, "probably wrong") : null,
      button("Retract", () => retract(entry.id), { class: isSuspected(entry) ? "first" : "" }));
  return h("section", { class: "review", "aria-label": "Answers that contradict each other" },
    h("h2", {}, "These answers contradict each other"),
    h("p", {}, "Which one is wrong? All are kept until you decide; until then the newest is not used."),
    h("ul", {}, [conflict.answer, ...conflict.against].map(item)),
    button("Leave as is", ignore, { class: "ignore" }));
}

export function labelIssueView({ answer: entry, proof }, { confirm, retract, newGroup, later }) {
  const isNone = entry.answer === "none"; // the question offered all groups
  const others = isNone ? [] : proof.filter((one) => one.id !== entry.id).slice(0, 2);
  const pictures = isNone ? h("div", { class: "two" }, picture(entry.images[0], entry.names[0])) : firstTwo(entry);
  const reason = isNone
    ? "You set the number of groups, and this picture is in none of them. Is the answer wrong, or is there one more group?"
    : "The model finds this answer unlikely. Is it correct?";
  // A click leaves the keyboard to the question; opening it by keyboard keeps the focus.
  const summary = h("summary", { id: "label-issue", onclick: (event) => event.detail && summary.blur() }, h("h2", {}, "Check again: you answered ", h("b", {}, `“${entry.text}”`)));
  const details = h("details", { open: isOpen, ontoggle: () => { isOpen = details.open; } }, summary, h("div", { class: "details" },
    h("ul", {}, h("li", { class: "suspected" }, pictures, h("b", {}, entry.text)), others.map((one) => h("li", {}, firstTwo(one), h("b", {}, one.text)))),
    h("div", {}, h("p", {}, reason),
      h("div", { class: "row" }, isNone ? button("New group", () => newGroup(entry.images[0])) : null,
        button("It is correct", () => confirm(entry.id)), button("Retract", () => retract(entry.id)), button("Later", later, { class: "quiet" })))));
  return h("section", { class: "review label-issue", "aria-label": "An answer to check", "data-id": entry.id }, details);
}

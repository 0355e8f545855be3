// Review answers: a conflict between answers, or a label issue (an answer the model finds unlikely).

import { button, h, picture } from "/page/dom.js";
import { entryText, parts, t } from "/page/texts.js";

const firstTwo = (entry) =>
  h(
    "div",
    { class: "two" },
    entry.images.slice(0, 2).map((id, i) => picture(id, entry.names[i])),
  );
let isOpen = !matchMedia("(max-width: 640px)").matches; // closed at first on a small screen

export function conflictView(conflict, { retract, ignore }) {
  const isSuspected = (entry) => entry.id === conflict.suspected;
  const item = (entry) =>
    h(
      "li",
      { class: isSuspected(entry) ? "suspected" : "", "data-id": entry.id },
      firstTwo(entry),
      h("b", {}, entryText(entry)),
      entry === conflict.answer ? h("span", { class: "badge" }, t("newest, not used")) : null,
      isSuspected(entry) ? h("span", { class: "badge" }, t("probably wrong")) : null,
      button(t("Retract"), () => retract(entry.id), { class: isSuspected(entry) ? "first" : "" }),
    );
  return h(
    "section",
    { class: "review", "aria-label": t("Answers that contradict each other") },
    h("h2", {}, t("These answers contradict each other")),
    h("p", {}, t("Which one is wrong? All are kept until you decide; until then the newest is not used.")),
    h("ul", {}, [conflict.answer, ...conflict.against].map(item)),
    button(t("Leave as is"), ignore, { class: "ignore" }),
  );
}

export function labelIssueView({ answer: entry, proof }, { confirm, retract, newGroup, later }) {
  const isNone = entry.answer === "none"; // the question offered all groups
  const others = isNone ? [] : proof.filter((one) => one.id !== entry.id).slice(0, 2);
  const pictures = isNone ? h("div", { class: "two" }, picture(entry.images[0], entry.names[0])) : firstTwo(entry);
  const reason = isNone
    ? t(
        "You set the number of groups, and this picture is in none of them. Is the answer wrong, or is there one more group?",
      )
    : t("This answer looks unlikely. Is it correct?");
  // A click leaves the keyboard to the question; opening it by keyboard keeps the focus.
  const summary = h(
    "summary",
    { id: "label-issue", onclick: (event) => event.detail && summary.blur() },
    h("h2", {}, parts("Check again: you answered {answer}", { answer: h("b", {}, `“${entryText(entry)}”`) })),
  );
  const details = h(
    "details",
    {
      open: isOpen,
      ontoggle: () => {
        isOpen = details.open;
      },
    },
    summary,
    h(
      "div",
      { class: "details" },
      h(
        "ul",
        {},
        h("li", { class: "suspected" }, pictures, h("b", {}, entryText(entry))),
        others.map((one) => h("li", {}, firstTwo(one), h("b", {}, entryText(one)))),
      ),
      h(
        "div",
        {},
        h("p", {}, reason),
        h(
          "div",
          { class: "row" },
          isNone ? button(t("New group"), () => newGroup(entry.images[0])) : null,
          button(t("It is correct"), () => confirm(entry.id)),
          button(t("Retract"), () => retract(entry.id)),
          button(t("Later"), later, { class: "quiet" }),
        ),
      ),
    ),
  );
  return h(
    "section",
    { class: "review label-issue", "aria-label": t("An answer to check"), "data-id": entry.id },
    details,
  );
}

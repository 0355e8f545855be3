// Review answers: a conflict between answers, or a label issue (an answer the model finds unlikely).

import { button, h, picture } from "/page/dom.js";
import { entryText, parts, t } from "/page/texts.js";

let isOpen = !matchMedia("(max-width: 640px)").matches; // closed at first on a small screen

const pictures = (entry, images) =>
  h(
    "div",
    { class: "two" },
    images.map((id) => picture(id, entry.names[entry.images.indexOf(id)])),
  );

export function conflictView(conflict, { retract, ignore }) {
  const isSuspected = (entry) => entry.id === conflict.suspected;
  const item = (entry) =>
    h(
      "li",
      { class: isSuspected(entry) ? "suspected" : "", "data-id": entry.id },
      pictures(entry, entry.images.slice(0, 2)),
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

// What an answer says about its pictures; of a grid, about the one picture that was looked at again.
function subject({ answer: entry, image }) {
  const shown = entry.answer === "none" ? entry.images.slice(0, 1) : entry.images.slice(0, 2); // "none": of all groups
  if (entry.kind !== "grid") return { images: shown, text: entryText(entry) };
  const { group } = entry.values;
  const text = entry.ticked.includes(image) ? t("not {group}", { group }) : group;
  return { images: [image, entry.images.at(-1)], text };
}

export function labelIssueView(issue, { confirm, retract, correctGrid, newGroup, later }) {
  const { answer: entry, proof } = issue;
  const { images, text } = subject(issue);
  const isNone = entry.answer === "none";
  const others = isNone ? [] : proof.filter((one) => one.id !== entry.id).slice(0, 2);
  const items = [
    h("li", { class: "suspected" }, pictures(entry, images), h("b", {}, text)),
    ...others.map((one) => h("li", {}, pictures(one, one.images.slice(0, 2)), h("b", {}, entryText(one)))),
  ];
  const wrong =
    entry.kind === "grid"
      ? button(t("It is wrong"), () => correctGrid(issue))
      : button(t("Retract"), () => retract(entry.id));
  const buttons = [
    isNone ? button(t("New group"), () => newGroup(entry.images[0])) : null,
    button(t("It is correct"), () => confirm(entry.id)),
    wrong,
    button(t("Later"), later, { class: "quiet" }),
  ];
  const reason = isNone
    ? t(
        "You set the number of groups, and this picture is in none of them. Is the answer wrong, or is there one more group?",
      )
    : t("This answer looks unlikely. Is it correct?");
  const details = h(
    "details",
    { open: isOpen },
    issueSummary(text),
    h(
      "div",
      { class: "details" },
      h("ul", {}, items),
      h("div", {}, h("p", {}, reason), h("div", { class: "row" }, buttons)),
    ),
  );
  details.addEventListener("toggle", () => {
    isOpen = details.open;
  });
  const attributes = { class: "review label-issue", "aria-label": t("An answer to check"), "data-id": entry.id };
  return h("section", attributes, details);
}

// A click leaves the keyboard to the question; opening it by keyboard keeps the focus.
function issueSummary(text) {
  const onclick = ({ detail, currentTarget }) => detail && currentTarget.blur();
  const answer = h("b", {}, `“${text}”`);
  return h(
    "summary",
    { id: "label-issue", onclick },
    h("h2", {}, parts("Check again: you answered {answer}", { answer })),
  );
}

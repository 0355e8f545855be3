// The question screen in a notebook: the same elements and stylesheets as the page, in a shadow tree.

const LABELS = {
  same: "Same", different: "Different", none: "None of these", new: "New group",
  cannot_tell: "Can't tell", bad_image: "Bad picture", ticked: "Done",
};
const ANSWERS = {
  pair: ["same", "different", "cannot_tell", "bad_image"],
  choice: ["none", "new", "cannot_tell", "bad_image"],
  grid: ["ticked", "cannot_tell", "bad_image"],
  label: ["cannot_tell", "bad_image"],
};
const KEYS = { s: "same", d: "different", n: "none", g: "new", c: "cannot_tell", b: "bad_image", Enter: "ticked", u: "undo" };
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442", "#999999", "#8b5cf6"];

function h(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made[name] = value;
    else if (name === "group") made.style.setProperty("--group", value);
    else made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null));
  return made;
}

const picture = ({ src, name }) => h("img", { src, alt: name, title: name });
const large = (image) => h("div", { class: "picture" }, picture(image));

function title({ kind, groups }, by) {
  if (kind === "grid") return `Tick those that do not belong to ${groups[0]}`;
  if (kind === "label") return by ? `Which ${by}?` : "Which group?";
  if (kind === "pair") return by ? `Same ${by}?` : "Same group?";
  return by ? `Which ${by}?` : "Which group?";
}

function pictures(question, answer, ticked) {
  const { kind, images, groups } = question;
  if (kind === "pair") return h("div", { class: "pictures pair" }, images.map(large));
  if (kind === "grid") return grid(question, ticked);
  if (kind === "label") return h("div", { class: "pictures" }, large(images[0]), labelForm(answer));
  const choices = groups.map((group, i) =>
    h("button", { type: "button", group: COLOURS[i % COLOURS.length], "data-answer": group, onclick: () => answer(group) },
      h("kbd", {}, String(i + 1)), h("span", {}, group), h("span", { class: "examples" }, picture(images[i + 1]))));
  return h("div", { class: "pictures choice" }, large(images[0]), h("div", { class: "offered" }, h("div", { class: "choices" }, choices)));
}

function grid({ images, groups }, ticked) {
  const tile = (image) => {
    const made = h("button", { type: "button", class: "tile picture", "aria-pressed": "false", "aria-label": image.name }, picture(image), h("span", { class: "cross" }, "×"));
    made.onclick = () => {
      ticked.has(image.id) ? ticked.delete(image.id) : ticked.add(image.id);
      made.setAttribute("aria-pressed", ticked.has(image.id));
    };
    return made;
  };
  const example = h("figure", { class: "example", group: COLOURS[0] }, picture(images[images.length - 1]), h("figcaption", {}, groups[0]));
  return h("div", { class: "pictures by-grid" }, example, h("div", { class: "grid" }, images.slice(0, -1).map(tile)));
}

function labelForm(answer) {
  const input = h("input", { "aria-label": "Name of the group" });
  const send = (event) => { event.preventDefault(); if (input.value.trim()) answer(input.value.trim()); };
  return h("form", { class: "label-form", onsubmit: send }, input, h("button", { type: "submit" }, "Answer"));
}

function render({ model, el }) {
  const root = el.attachShadow({ mode: "open" });
  const view = h("div", { id: "view-ask", tabindex: "0", role: "group", "aria-label": "Question" });
  root.append(h("style", {}, model.get("style_text")), view);
  let isWaiting = false;

  const send = (message) => {
    if (isWaiting) return; // one answer to each question, also after a double click
    isWaiting = true;
    model.send(message);
  };
  let answer = () => {};

  function show() {
    isWaiting = false;
    const question = model.get("question"), ticked = new Set();
    if (!question.kind) {
      view.replaceChildren(h("div", { class: "done" }, h("h1", {}, "No questions left.")));
      return;
    }
    answer = (text) => send({ id: question.id, answer: text, ticked: [...ticked] });
    const buttons = ANSWERS[question.kind].map((name) => {
      const key = Object.keys(KEYS).find((one) => KEYS[one] === name);
      const kind = ["same", "different", "ticked"].includes(name) ? "" : "quiet";
      return h("button", { type: "button", class: kind, "data-answer": name, onclick: () => answer(name) }, LABELS[name], h("kbd", {}, key === "Enter" ? "↵" : key));
    });
    const undo = h("button", { type: "button", class: "quiet", id: "undo", onclick: () => model.send({ undo: true }) }, "Undo", h("kbd", {}, "u"));
    const hadFocus = view.contains(root.activeElement);
    view.replaceChildren(h("h1", { id: "question" }, title(question, model.get("by"))), pictures(question, answer, ticked),
      h("p", { class: "note", role: "status" }), h("div", { class: "answers" }, buttons, undo));
    if (hadFocus) view.focus();
    report();
  }

  function report() {
    const { n_answers: n = 0, message = "", done, total } = model.get("status"), note = root.querySelector(".note");
    if (message && !message.startsWith("Training")) isWaiting = false; // an error: the question stays
    if (!note) return;
    const part = total ? ` ${done} of ${total}` : "";
    note.replaceChildren([`${n} answer${n === 1 ? "" : "s"}.`, message + part].join(" "));
    if (total) note.append(h("span", { class: "bar" }, h("i", { style: `width:${(100 * done) / total}%` })));
  }

  view.onkeydown = (event) => {
    if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && event.target.tagName === "BUTTON") return;
    const { kind, groups = [] } = model.get("question"), name = KEYS[event.key];
    if (kind === "choice" && groups[Number(event.key) - 1]) answer(groups[Number(event.key) - 1]);
    else if (name === "undo") model.send({ undo: true });
    else if (name && kind && ANSWERS[kind].includes(name)) answer(name);
    else return;
    event.preventDefault();
    event.stopPropagation(); // the notebook has shortcuts of its own
  };
  model.on("change:question", show);
  model.on("change:status", report);
  show();
  return () => { model.off("change:question", show); model.off("change:status", report); };
}

export default { render };

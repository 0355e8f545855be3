// Groups that arise while questions are answered: a new one, one found by its name, and the name of one.

import { api } from "/page/api.js";
import { $, isTyping } from "/page/dom.js";
import { ticked } from "/page/grid_question.js";
import { groupNamed, nameForm, newGroupForm } from "/page/group_forms.js";
import { order } from "/page/question.js";
import { t } from "/page/texts.js";

const STORE = "likewise-not-named"; // groups whose name was not wanted
const notNamed = new Set(JSON.parse(sessionStorage.getItem(STORE) ?? "[]"));

// The pictures of a question that can become a new group.
const candidates = ({ kind, images }) => {
  if (kind === "grid") return ticked();
  return kind === "pair" ? order(images).map((i) => images[i]) : [images[0]];
};

// `question()` and `seconds()`: the shown question, and for how long; `settled()`: earlier answers are saved;
// `setNote(text)` is shown below the question; `answered(text, nActions)`: it was answered by so many actions;
// `done(text, revert)` as in ask_review.js.
export function makeAskGroups(forms, { attempt, question, seconds, settled, setNote, answered, done, refill }) {
  const close = () => {
    const hadFocus = forms.contains(document.activeElement);
    forms.replaceChildren();
    if (hadFocus) $("main").focus();
  };

  // An open form about a name stays.
  const closeNewGroup = () => forms.firstElementChild?.id === "new-group-form" && close();

  function openNewGroup() {
    const { images, names } = question();
    const pictures = candidates(question()).map((id) => ({ id, name: names[images.indexOf(id)] }));
    if (!pictures.length) return setNote(t("Tick the pictures of the new group first."));
    forms.replaceChildren(newGroupForm(pictures, create, closeNewGroup));
    return forms.querySelector("input").focus();
  }

  // One picture of a pair in a group of its own: the two are different. Those of a grid are not in its group.
  const create = attempt(async (images, name) => {
    await settled();
    const asked = question();
    const isOnePair = asked.kind === "pair" && images.length === 1;
    if (isOnePair) await api.answer(asked, "different", seconds());
    if (asked.kind === "grid") await api.answer(asked, "ticked", seconds(), { ticked: ticked() });
    const known = name && groupNamed((await api.groups(1)).groups, name);
    await (known ? api.move(images, known.id) : api.createGroup(images, name));
    const text = known ? t("Placed in {group}", { group: name }) : t("New group {group}", { group: name }).trim();
    await answered(text, isOnePair || asked.kind === "grid" ? 2 : 1);
  });

  // The person typed the name of a group that was not offered.
  const place = attempt(async (group) => {
    await settled();
    await api.move(question().images.slice(0, 1), group.id);
    await answered(t("Placed in {group}", { group: group.name }), 1);
  });

  // Ask for the name of a group; null if there is none to name.
  function offerName(group) {
    const open = forms.firstElementChild;
    const isSame = open?.dataset.group === group?.id;
    if (isSame || open?.id === "new-group-form" || (open && isTyping(document.activeElement))) return;
    if (!group || notNamed.has(group.id)) {
      forms.replaceChildren();
      return;
    }
    const later = () => {
      sessionStorage.setItem(STORE, JSON.stringify([...notNamed.add(group.id)]));
      forms.replaceChildren();
      $("main").focus();
    };
    const save = attempt(async (name) => {
      const known = groupNamed((await api.groups(1)).groups, name, group.id); // two with one name are one group
      const { entry } = await api.changeGroup(group.id, known ? { merge_into: known.id } : { name });
      later();
      const text = known
        ? t("Merged {group} into {other}", { group: group.name, other: name })
        : t("Renamed to {group}", { group: name });
      done(text, () => api.undo(entry));
      await refill(true);
    });
    forms.replaceChildren(nameForm(group, save, later));
  }

  return { openNewGroup, closeNewGroup, place, offerName, reset: () => forms.replaceChildren() };
}

// The Ask view: one question at a time. An answer is on disk before the next question is shown.

import { api } from "/page/api.js";
import { $, h, isTyping } from "/page/dom.js";
import { goalView } from "/page/goal.js";
import { pressGridKey, ticked } from "/page/grid_question.js";
import { groupNamed, nameForm, newGroupForm } from "/page/group_forms.js";
import { answerFor, finishedView, nextGroups, isSame, order, preload, questionView, spoken } from "/page/question.js";
import { introduction } from "/page/intro.js";
import { conflictView, labelIssueView } from "/page/review.js";
import { swipes } from "/page/swipe.js";
import { entryText, t } from "/page/texts.js";
import { toast } from "/page/toast.js";

const view = $("view-ask");
const STORE = "likewise-ignored-conflicts";
const NOT_NAMED = "likewise-not-named"; // groups whose name was not wanted
const ignored = new Set(JSON.parse(sessionStorage.getItem(STORE) ?? "[]")); // ids of conflicting answers
const notNamed = new Set(JSON.parse(sessionStorage.getItem(NOT_NAMED) ?? "[]"));
const POSTPONED_FOR = 20; // answers

export function makeAskView({ showProblem, changed, openReview }) {
  let queue = [];
  let shownAt = 0;
  let busy = false;
  let turn = Promise.resolve(); // answers and undos run one after the other
  let note = "";
  let conflict = null;
  let labelIssues = [];
  let status = null;
  let nGroups = 0;
  const postponed = new Set(); // ids of label issues
  let nSincePostponed = 0; // answers
  // A form keeps what is typed while the question above it is drawn again.
  const [top, stage, forms] = ["review-box", "stage", "form-box"].map((name) => h("div", { class: name }));
  view.replaceChildren(top, stage, forms);

  const question = () => queue[0];
  const labelIssue = () => labelIssues.find((one) => !postponed.has(one.answer.id)) ?? null;

  // -- questions and answers --

  // With `keepsFirst` the shown question stays: after a reconnect a key press is meant for it.
  async function refill(keepsFirst = false) {
    const shown = question();
    try {
      const { questions } = await api.questions(4);
      showProblem("");
      if (busy || question() !== shown) return; // an answer brought newer questions meanwhile
      const first = shown && (questions.find((one) => isSame(one, shown)) ?? shown); // with the current names
      if (keepsFirst && shown?.isNext) return; // the person looks through the groups
      queue =
        keepsFirst && shown && questions.length
          ? [first, ...questions.filter((one) => !isSame(one, shown))]
          : questions;
    } catch (error) {
      showProblem(error.message);
    }
    show();
  }

  function answer(text, more = {}) {
    if (text === "new_group") return openNewGroup();
    if (text === "none" && question()?.kind === "choice") {
      const next = busy ? null : nextGroups(question());
      if (next) return showNext(next);
      if (question().isNext) return openNewGroup(); // it is in none of all groups
    }
    if (busy || !question()) return turn; // ignores keys until the next question is shown
    busy = true;
    turn = turn.then(() => sendAnswer(text, more));
    return turn;
  }

  async function sendAnswer(text, more) {
    stage.querySelector(`[data-answer="${CSS.escape(text)}"]`)?.classList.add("chosen");
    try {
      const reply = await api.answer(question(), text, (performance.now() - shownAt) / 1000, more);
      queue = reply.questions;
      note = reply.accepted ? "" : t("This contradicts earlier answers; please review them above.");
      conflict = reply.conflict ?? conflict;
      if (++nSincePostponed === POSTPONED_FOR) postponed.clear();
      closeNewGroup();
      showProblem("");
      show();
      changed();
    } catch (error) {
      showProblem(error.message);
      show();
    } finally {
      busy = false;
    }
  }

  function showNext(next) {
    queue[0] = next;
    show();
    return turn;
  }

  function undo() {
    busy = true;
    turn = turn.then(sendUndo);
    return turn;
  }

  async function sendUndo() {
    try {
      const undone = await api.undo();
      note = undone.entry ? t("Undone: {entry}.", { entry: entryText(undone.entry) }) : t("Nothing to undo.");
      if (undone.question) queue = [undone.question, ...queue.filter((one) => !isSame(one, undone.question))];
      conflict = null;
      closeNewGroup();
      show();
      changed();
    } catch (error) {
      showProblem(error.message);
    } finally {
      busy = false;
    }
    return note;
  }

  // -- groups --

  const closeNewGroup = () => {
    // an open form about a name stays
    if (forms.firstElementChild?.id !== "new-group-form") return;
    const hadFocus = forms.contains(document.activeElement);
    forms.replaceChildren();
    if (hadFocus) $("main").focus();
  };

  function openNewGroup() {
    if (busy || !question()) return turn;
    const { kind, images, names } = question();
    const ids = { pair: () => order(images).map((i) => images[i]), grid: ticked, choice: () => [images[0]] }[kind]();
    if (ids.length) {
      const pictures = ids.map((id) => ({ id, name: names[images.indexOf(id)] }));
      forms.replaceChildren(newGroupForm(pictures, create, closeNewGroup));
      forms.querySelector("input").focus();
    } else stage.querySelector(".note").textContent = t("Tick the pictures of the new group first.");
    return turn;
  }

  // One picture of a pair in a group of its own: the two are different. Those of a grid are not in its group.
  async function create(images, name) {
    await turn;
    try {
      const asked = question();
      const seconds = (performance.now() - shownAt) / 1000;
      const isOnePair = asked.kind === "pair" && images.length === 1;
      if (isOnePair) await api.answer(asked, "different", seconds);
      if (asked.kind === "grid") await api.answer(asked, "ticked", seconds, { ticked: ticked() });
      const known = name && groupNamed((await api.groups(1)).groups, name);
      await (known ? api.move(images, known.id) : api.createGroup(images, name));
      const text = known ? t("Placed in {group}", { group: name }) : t("New group {group}", { group: name }).trim();
      await afterChange(text, isOnePair || asked.kind === "grid" ? 2 : 1);
    } catch (error) {
      showProblem(error.message);
    }
  }

  // The person typed the name of a group that was not offered.
  async function place(group) {
    await turn;
    try {
      await api.move(question().images.slice(0, 1), group.id);
      await afterChange(t("Placed in {group}", { group: group.name }));
    } catch (error) {
      showProblem(error.message);
    }
  }

  // `nActions`: how many entries of the log one undo takes back.
  async function afterChange(text, nActions = 1) {
    closeNewGroup();
    const undoAll = async () => {
      for (let i = 0; i < nActions; i += 1) await undo();
    };
    toast(text, { undo: undoAll });
    $("main").focus();
    queue = [];
    changed();
    await refill();
  }

  function offerName(group) {
    const open = forms.firstElementChild;
    if (
      open?.id === "new-group-form" ||
      open?.dataset.group === group?.id ||
      (open && isTyping(document.activeElement))
    )
      return;
    if (!group || notNamed.has(group.id)) return void forms.replaceChildren();
    const close = () => {
      sessionStorage.setItem(NOT_NAMED, JSON.stringify([...notNamed.add(group.id)]));
      forms.replaceChildren();
      $("main").focus();
    };
    const save = attempt(async (name) => {
      const known = groupNamed((await api.groups(1)).groups, name, group.id); // two with one name are one group
      const { entry } = await api.changeGroup(group.id, known ? { merge_into: known.id } : { name });
      close();
      const text = known
        ? t("Merged {group} into {other}", { group: group.name, other: name })
        : t("Renamed to {group}", { group: name });
      done(text, () => api.undo(entry));
      await refill(true);
    });
    forms.replaceChildren(nameForm(group, save, close));
  }

  // -- the review above the question --

  // Run an action; an error is shown, and nothing else happens.
  const attempt =
    (action) =>
    (...values) =>
      action(...values).catch((error) => showProblem(error.message));

  // Show what was done, with a button that undoes it: revert() sends the request.
  function done(text, revert) {
    changed();
    toast(text, {
      undo: attempt(async () => {
        await revert();
        toast(t("Undone"));
        changed();
        await refill();
      }),
    });
  }

  const review = {
    retract: attempt(async (id) => {
      const { retracted_by: retraction } = await api.retract(id);
      conflict = null;
      labelIssues = labelIssues.filter((one) => one.answer.id !== id);
      done(t("Retracted."), () => api.retract(retraction));
      await refill();
    }),
    confirm: attempt(async (id) => {
      await api.confirm(id);
      await loadLabelIssues();
      done(t("Marked as correct."), () => api.undo());
    }),
    // A grid in which one tick was wrong: the same answer again with this tick changed.
    correctGrid: attempt(async ({ answer: entry, image }) => {
      const [images, representative] = [entry.images.slice(0, -1), entry.images.at(-1)];
      const wasTicked = entry.ticked.includes(image);
      const ticked = wasTicked ? entry.ticked.filter((one) => one !== image) : [...entry.ticked, image];
      const { retracted_by: retraction } = await api.retract(entry.id);
      const again = await api.answer({ kind: "grid", images, groups: [entry.group], representative }, "ticked", 0, {
        ticked,
      });
      labelIssues = labelIssues.filter((one) => one.answer.id !== entry.id);
      const { group } = entry.values;
      done(wasTicked ? t("Placed in {group}", { group }) : t("Removed from {group}", { group }), async () => {
        await api.undo(again.id);
        await api.retract(retraction);
      });
      await refill();
    }),
    newGroup: attempt(async (image) => {
      const made = await api.createGroup([image], "");
      conflict = made.conflicts[0] ?? null;
      labelIssues = [];
      done(t("New group created."), () => api.undo(made.entry));
      await refill();
    }),
    ignore() {
      sessionStorage.setItem(STORE, JSON.stringify([...ignored.add(conflict.answer.id)])); // survives a reload
      [conflict, note] = [null, ""];
      show();
      changed(); // there may be another conflict
    },
    later() {
      labelIssues.forEach((one) => postponed.add(one.answer.id));
      [nSincePostponed, note] = [0, t("Postponed for {n} answers.", { n: POSTPONED_FOR })];
      show();
    },
  };

  const loadLabelIssues = attempt(async () => {
    const before = labelIssue()?.answer.id;
    labelIssues = await api.labelIssues();
    if (labelIssue()?.answer.id !== before) show();
  });

  function setConflicts(conflicts) {
    const next = conflicts.find((one) => !ignored.has(one.answer.id)) ?? null;
    if (conflict?.answer.id === next?.answer.id) return;
    conflict = next;
    show();
  }

  function setStatus(newest) {
    const before = nGroups;
    [status, nGroups] = [newest, newest.n_groups];
    setConflicts(newest.conflicts);
    offerName(newest.unnamed);
    showTop();
    if (question()?.kind === "choice" && before > question().offered.length !== nGroups > question().offered.length)
      show();
  }

  // -- on the screen --

  function show() {
    const isFinding = document.activeElement?.id === "find-group";
    if (isFinding && stage.dataset.of === key(question())) return; // the person types
    shownAt = performance.now();
    const focused =
      stage.contains(document.activeElement) && document.activeElement.matches(":focus-visible")
        ? document.activeElement
        : null;
    showTop();
    stage.replaceChildren(
      ...(question() ? questionView(question(), note, { answer, undo, place }, nGroups) : [finishedView(undo)]),
    );
    stage.dataset.of = key(question());
    // The keyboard focus stays on the same button; after a click it is on the question.
    if (focused)
      (
        stage.querySelector(`[data-answer="${CSS.escape(focused.dataset.answer ?? "")}"], #${focused.id || "main"}`) ??
        $("main")
      ).focus();
    $("announcer").textContent = question() ? spoken(question(), note) : t("No questions left.");
    view.dataset.shown = Number(view.dataset.shown ?? 0) + 1;
    queue.slice(1, 3).forEach(preload);
  }

  const key = (asked) => (asked ? `${asked.kind} ${asked.images.join()}` : "");

  function showTop() {
    const focused = top.contains(document.activeElement) ? document.activeElement.id : "";
    const issue = labelIssue();
    const views = conflict
      ? [conflictView(conflict, review)]
      : issue
        ? [labelIssueView(issue, review)]
        : [introduction(showTop), ...goalView(status, { openReview, changed: showTop })];
    top.replaceChildren(...views.filter(Boolean));
    if (focused) (document.getElementById(focused) ?? $("main")).focus();
  }

  swipes(stage, {
    isOn: () => question()?.kind === "pair",
    left: () => answer("same"),
    right: () => answer("different"),
  });

  function pressKey(action, pressed) {
    if (!question()) return null;
    if (action === "zoom") return stage.querySelector(".picture, .grid .tile").click();
    if (action === "name") return forms.querySelector("#name-form input")?.focus();
    if (action === "find") return stage.querySelector("#find-group")?.focus();
    if (pressed === "escape" && question().isNext) return refill(); // back to the likeliest groups
    if (question().kind === "grid" && pressGridKey(stage, pressed)) return null;
    const text = answerFor(question(), action, pressed);
    return text ? answer(text) : false;
  }

  return {
    refill,
    enter: () => {
      // the note is about an earlier question
      note = "";
      return refill();
    },
    pressKey,
    undo,
    loadLabelIssues,
    setStatus,
    setConflicts,
    redraw: show,
    reset: () => {
      [queue, note, conflict, labelIssues, status] = [[], "", null, [], null];
      forms.replaceChildren();
      postponed.clear();
    },
  };
}

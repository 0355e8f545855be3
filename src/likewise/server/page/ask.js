// The Ask view: one question at a time. An answer is on disk before the next question is shown.

import { api } from "/page/api.js";
import { makeAskGroups } from "/page/ask_groups.js";
import { makeAnswerReview } from "/page/ask_review.js";
import { $, h } from "/page/dom.js";
import { goalView } from "/page/goal.js";
import { pressGridKey } from "/page/grid_question.js";
import { answerFor, finishedView, nextGroups, isSame, preload, questionView, spoken } from "/page/question.js";
import { introduction } from "/page/intro.js";
import { swipes } from "/page/swipe.js";
import { entryText, t } from "/page/texts.js";
import { toast } from "/page/toast.js";

const view = $("view-ask");
// Run an action; an error is shown, and nothing else happens.
const attempting =
  (showProblem) =>
  (action) =>
  (...values) =>
    action(...values).catch((error) => showProblem(error.message));

export function makeAskView({ showProblem, changed, openReview }) {
  let queue = [];
  let shownAt = 0;
  let busy = false;
  let turn = Promise.resolve(); // answers and undos run one after the other
  let note = "";
  let status = null;
  let nGroups = 0;
  // A form keeps what is typed while the question above it is drawn again.
  const [top, stage, forms] = ["review-box", "stage", "form-box"].map((name) => h("div", { class: name }));
  view.replaceChildren(top, stage, forms);

  const question = () => queue[0];
  const seconds = () => (performance.now() - shownAt) / 1000;
  const attempt = attempting(showProblem);

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
    if (text === "new_group" && question() && !busy) groups.openNewGroup();
    if (text === "new_group") return turn;
    if (text === "none" && question()?.kind === "choice") {
      const next = busy ? null : nextGroups(question());
      if (next) return showNext(next);
      if (question().isNext) return answer("new_group"); // it is in none of all groups
    }
    if (busy || !question()) return turn; // ignores keys until the next question is shown
    busy = true;
    turn = turn.then(() => sendAnswer(text, more));
    return turn;
  }

  async function sendAnswer(text, more) {
    stage.querySelector(`[data-answer="${CSS.escape(text)}"]`)?.classList.add("chosen");
    try {
      const reply = await api.answer(question(), text, seconds(), more);
      queue = reply.questions;
      note = reply.accepted ? "" : t("This contradicts earlier answers; please review them above.");
      review.answered(reply.conflict);
      groups.closeNewGroup();
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
      review.undone();
      groups.closeNewGroup();
      show();
      changed();
    } catch (error) {
      showProblem(error.message);
    } finally {
      busy = false;
    }
    return note;
  }

  // -- groups, and the review above the question --

  // Show what was done, with a button that undoes it: revert() sends the request.
  function done(text, revert) {
    changed();
    const undoIt = attempt(async () => {
      await revert();
      toast(t("Undone"));
      changed();
      await refill();
    });
    toast(text, { undo: undoIt });
  }

  // The question was answered in another way, by `nActions` actions, which are undone together.
  async function answered(text, nActions) {
    groups.closeNewGroup();
    const undoAll = async () => {
      for (let i = 0; i < nActions; i += 1) await undo();
    };
    toast(text, { undo: undoAll });
    $("main").focus();
    queue = [];
    changed();
    await refill();
  }

  const setNote = (text) => {
    stage.querySelector(".note").textContent = text;
  };
  const groups = makeAskGroups(forms, {
    ...{ attempt, question, seconds, setNote, answered, done, refill },
    settled: () => turn, // earlier answers are saved
  });
  const showWith = (text) => {
    note = text ?? note;
    show();
  };
  const review = makeAnswerReview({ attempt, done, show: showWith, refill, changed });

  function setStatus(newest) {
    const before = nGroups;
    [status, nGroups] = [newest, newest.n_groups];
    review.setConflicts(newest.conflicts);
    groups.offerName(newest.unnamed);
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
      ...(question()
        ? questionView(question(), note, { answer, undo, place: groups.place }, nGroups)
        : [finishedView(undo)]),
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
    const goal = goalView(status, { openReview, changed: showTop });
    const conflict = review.conflictView();
    const views = conflict ? [conflict] : [...goal, review.issueView() ?? introduction(showTop)];
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
    loadLabelIssues: review.loadLabelIssues,
    setStatus,
    setConflicts: review.setConflicts,
    redraw: show,
    reset: () => {
      [queue, note, status] = [[], "", null];
      groups.reset();
      review.reset();
    },
  };
}

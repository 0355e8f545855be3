// What is done to pictures and groups by hand: each action is one request, and its message has a button that undoes it.

import { api } from "/page/api.js";
import { t } from "/page/texts.js";
import { toast } from "/page/toast.js";

const MAX_MOVED = 5000; // pictures of one action

// `refresh` shows the groups again; `openReview` shows conflicts.
export function makeActions({ showProblem, changed, refresh, openReview }) {
  // Run an action; an error is shown, and nothing else happens.
  const attempt =
    (action) =>
    (...values) =>
      action(...values).catch((error) => showProblem(error.message));

  async function done(text, { entry, conflicts = [] }) {
    const message = conflicts.length ? t("{n} not moved: other answers contradict it.", { n: conflicts.length }) : text;
    toast(message, { undo: () => undo(entry), actions: conflicts.length ? [[t("Review"), openReview]] : [] });
    showProblem("");
    changed(conflicts[0]);
    await refresh();
  }

  const undo = attempt(async (entry) => {
    await api.undo(entry);
    toast(t("Undone"));
    changed();
    await refresh();
  });

  function checkNumber(images) {
    if (!images.length) throw new Error(t("Select pictures first."));
    if (images.length > MAX_MOVED)
      throw new Error(t("At most {n} pictures can be moved at a time; select fewer.", { n: MAX_MOVED }));
  }

  return {
    attempt,
    done,
    // `before` runs when the answers are saved, before the groups are shown again.
    move: attempt(async (images, group, before) => {
      checkNumber(images);
      const moved = await api.move(images, group.id);
      before();
      await done(t("Moved {n} to {group}", { n: images.length, group: group.name }), moved);
    }),
    // Returns the id of the new group.
    createGroup: attempt(async (images, before) => {
      checkNumber(images);
      const made = await api.createGroup(images, "");
      before();
      await done(t("Moved {n} to a new group", { n: images.length }), made);
      return made.id;
    }),
    change: attempt(async (id, values, text) => done(text, await api.changeGroup(id, values))),
  };
}

// Server-sent events: what others did, and what the worker does; reconnects when the connection is lost.

import { api, state } from "/page/api.js";
import { $, count, loadWaitingPictures } from "/page/dom.js";
import { changesText } from "/page/export.js";
import { t } from "/page/texts.js";

const RETRY = 2000; // milliseconds
const MIN_INTERVAL = 1000; // milliseconds between two updates of a view

export const announce = (text) => {
  $("activity").textContent = text;
};

// page: { views, current, open, showProblem, showStatus, showCriteria }
export function listen(page) {
  const { views, showProblem, showStatus } = page;
  const source = new EventSource("/api/events");
  const on = (name, act) => source.addEventListener(name, (event) => act(JSON.parse(event.data)));
  const onCurrent = (name, act) =>
    on(name, (event) => {
      // about the criterion that is shown
      if (!event.criterion || event.criterion === state.criterion) act(event);
    });

  // Changes by others are shown soon; several within the interval are one update.
  let timer = 0;
  const renew = () => {
    timer ||= setTimeout(() => {
      timer = 0;
      views[page.current()]?.renew?.();
    }, MIN_INTERVAL);
  };

  let isLost = false;
  source.onerror = () => {
    isLost = true;
    showProblem(
      t("Connection lost; saved answers are kept. Reconnecting… If the program has stopped, start it again."),
      "connection",
    );
    const isGivenUp = source.readyState === EventSource.CLOSED; // the browser does not retry
    if (isGivenUp) setTimeout(() => reconnect(page), RETRY);
  };
  source.onopen = () => {
    showStatus(); // for events before the connection
    if (isLost) resume(page).catch((error) => showProblem(error.message));
    if (isLost) loadWaitingPictures();
    isLost = false;
  };

  onCurrent("answers", () => {
    showStatus();
    renew();
  });
  onCurrent("groups", () => {
    // names, colours, merges
    showStatus();
    renew();
    if (page.current() === "map") views.map.refresh();
    if (page.current() === "ask") views.ask.refill(true);
  });
  onCurrent("training", () => announce(t("Training…")));
  onCurrent("trained", ({ n_answers, n_moved }) => {
    announce(
      n_answers
        ? t("Groups updated, {pictures} moved", { pictures: count(n_moved ?? 0, "picture") })
        : t("First groups are ready"),
    );
    showStatus();
    if (page.current() === "groups") views.groups.renew();
    if (page.current() === "map" || page.current() === "compare") views[page.current()].refresh();
  });
  on("embedding", ({ done, total }) => announce(t("Reading pictures: {done} of {total}", { done, total })));
  on("worker_exited", showStatus); // whose problem says why, and what to do
  on("problem", showStatus);
  on("images", (changes) => {
    announce(changesText(changes));
    showStatus();
    views.groups.markNew();
    if (page.current() !== "ask" && page.current() !== "groups") page.open(page.current());
  });
  on("folder", ({ message }) => {
    showProblem(message ?? "", "session");
    showStatus(); // an earlier request may still have the old state
    if (page.current() === "ask")
      views.ask.redraw(); // pictures may be available again
    else page.open(page.current());
  });
  on("criteria", page.showCriteria);
}

async function reconnect(page) {
  try {
    await api.status();
    listen(page);
  } catch (error) {
    page.showProblem(error.message);
    setTimeout(() => reconnect(page), RETRY);
  }
}

async function resume(page) {
  page.showProblem("");
  page.showProblem("", "connection");
  await page.showCriteria();
  if (page.current() === "ask") page.views.ask.refill(true);
  else page.open(page.current());
}

// The one place that talks to the server. What it says when it refuses is shown as it is.

export const state = {
  orientation: sessionStorage.getItem("likewise-by") ?? "", // of this tab: to reload it changes nothing
  who: localStorage.getItem("likewise-who") ?? "",
  client: crypto.getRandomValues(new Uint32Array(2)).join("-"),
};

export class Refused extends Error {}

async function call(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Refused("The program does not answer. What was acknowledged is kept; start it again, then go on here.");
  }
  const json = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(json.message ?? `The program answered with ${response.status}.`);
  return json;
}

const query = (values) => {
  const used = Object.entries({ orientation: state.orientation, ...values });
  return "?" + new URLSearchParams(used);
};
const meant = (values) => ({ orientation: state.orientation, ...values });

export const api = {
  questions: (n) => call("GET", "/api/questions" + query({ n, client: state.client })),
  answer: (question, answer, seconds) =>
    call("POST", "/api/answers", meant({ question, answer, seconds, who: state.who, client: state.client })),
  undo: () => call("POST", "/api/undo", meant(state.who ? { who: state.who } : {})),
  log: (search, offset = 0) => call("GET", "/api/answers" + query({ search, offset })),
  takeBack: (id) => call("DELETE", `/api/answers/${id}` + query({ who: state.who })),
  move: (images, group) => call("POST", "/api/moves", meant({ images, group, who: state.who })),
  split: (images, name) => call("POST", "/api/groups", meant({ images, name, who: state.who })),
  doubts: () => call("GET", "/api/suspects" + query({})),
  standBy: (id) => call("POST", `/api/suspects/${id}` + query({ who: state.who })),
  violations: () => call("GET", "/api/violations" + query({})),
  compare: (second) => call("GET", "/api/compare?" + new URLSearchParams({ first: state.orientation, second, limit: 4 })),
  folders: (how) => call("POST", "/api/folders", meant({ how })),
  rescan: () => call("POST", "/api/rescan"),
  groups: (limit = 60) => call("GET", "/api/groups" + query({ limit })),
  about: (id) => call("GET", `/api/images/${id}/about` + query({})),
  more: (key, offset) => call("GET", `/api/groups/${encodeURIComponent(key)}` + query({ offset })),
  changeGroup: (key, change) =>
    call("PATCH", `/api/groups/${encodeURIComponent(key)}`, meant({ ...change, who: state.who })),
  map: () => call("GET", "/api/map" + query({})),
  status: () => call("GET", "/api/status" + query({})),
  orientations: () => call("GET", "/api/orientations"),
  addOrientation: (name, n_clusters) => call("POST", "/api/orientations", { name, n_clusters }),
  exportAddress: (to) => "/api/export" + query({ to }),
};

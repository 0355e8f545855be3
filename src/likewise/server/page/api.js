// The HTTP API: one function for each request. Error messages of the server are shown unchanged.

export const state = {
  criterion: sessionStorage.getItem("likewise-by") ?? "", // per tab; survives a reload
  who: localStorage.getItem("likewise-who") ?? "",
  client: crypto.getRandomValues(new Uint32Array(2)).join("-"),
};

export class ApiError extends Error {}

async function send(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new ApiError("The program does not respond. Saved answers are kept; start it again to continue.");
  }
  const json = await response.json().catch(() => ({}));
  if (!response.ok) throw new ApiError(json.message ?? `The program returned error ${response.status}.`);
  return json;
}

const params = (values) => "?" + new URLSearchParams(values);
const query = (values) => params({ by: state.criterion, ...values });
const body = (values) => ({ criterion: state.criterion, ...values });
const groupPath = (id) => `/api/groups/${encodeURIComponent(id)}`;

export const api = {
  questions: (n) => send("GET", "/api/questions" + query({ n, client: state.client })),
  answer: (question, answer, seconds) =>
    send("POST", "/api/answers", body({ question, answer, seconds, who: state.who, client: state.client })),
  undo: () => send("POST", "/api/undo", body(state.who ? { who: state.who } : {})),
  answers: (search, offset = 0) => send("GET", "/api/answers" + query({ search, offset })),
  retract: (id) => send("DELETE", `/api/answers/${id}` + query({ who: state.who })),
  confirm: (id) => send("POST", `/api/answers/${id}/confirm` + query({ who: state.who })),
  labelIssues: () => send("GET", "/api/label_issues" + query({})),
  violations: () => send("GET", "/api/violations" + query({})),
  groups: (limit = 60) => send("GET", "/api/groups" + query({ limit })),
  group: (id, offset) => send("GET", groupPath(id) + query({ offset })),
  createGroup: (images, name) => send("POST", "/api/groups", body({ images, name, who: state.who })),
  changeGroup: (id, change) => send("PATCH", groupPath(id), body({ ...change, who: state.who })),
  move: (images, group) => send("POST", "/api/moves", body({ images, group, who: state.who })),
  map: () => send("GET", "/api/map" + query({})),
  compare: (second) => send("GET", "/api/compare" + params({ first: state.criterion, second, limit: 4 })),
  imageInfo: (id) => send("GET", `/api/images/${id}/info` + query({})),
  status: () => send("GET", "/api/status" + query({})),
  criteria: () => send("GET", "/api/criteria"),
  createCriterion: (name, n_clusters) => send("POST", "/api/criteria", { name, n_clusters }),
  exportFolders: (how) => send("POST", "/api/folders", body({ how })),
  exportPath: (to) => "/api/export" + query({ to }),
  rescan: () => send("POST", "/api/rescan"),
};

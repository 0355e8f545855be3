// The HTTP API: one function for each request.

import { send } from "/page/request.js";

export const state = {
  criterion: sessionStorage.getItem("likewise-by") ?? "", // per tab; survives a reload
  who: localStorage.getItem("likewise-who") ?? "",
  texts: {}, // the questions of this criterion in the person's words
  client: crypto.getRandomValues(new Uint32Array(2)).join("-"),
};

const params = (values) => "?" + new URLSearchParams(values);
const query = (values) => params({ by: state.criterion, ...values });
const body = (values) => ({ criterion: state.criterion, ...values });
const groupPath = (id) => `/api/groups/${encodeURIComponent(id)}`;

export const api = {
  questions: (n) => send("GET", "/api/questions" + query({ n, client: state.client })),
  answer: (question, answer, seconds, more = {}) =>
    send("POST", "/api/answers", body({ question, answer, seconds, who: state.who, client: state.client, ...more })),
  // The newest action, or the one that wrote `entry`.
  undo: (entry) =>
    send("POST", "/api/undo", body({ ...(state.who ? { who: state.who } : {}), ...(entry ? { entry } : {}) })),
  answers: (search, offset = 0) => send("GET", "/api/answers" + query({ search, offset })),
  retract: (id) => send("DELETE", `/api/answers/${id}` + query({ who: state.who })),
  confirm: (id) => send("POST", `/api/answers/${id}/confirm` + query({ who: state.who })),
  labelIssues: () => send("GET", "/api/label_issues" + query({})),
  violations: () => send("GET", "/api/violations" + query({})),
  groups: (limit = 60) => send("GET", "/api/groups" + query({ limit })),
  gallery: (values) => send("GET", "/api/gallery" + query(values)),
  images: (ids) => send("GET", "/api/images" + query({ ids: ids.join() })),
  createGroup: (images, name) => send("POST", "/api/groups", body({ images, name, who: state.who })),
  changeGroup: (id, change) => send("PATCH", groupPath(id), body({ ...change, who: state.who })),
  move: (images, group) => send("POST", "/api/moves", body({ images, group, who: state.who })),
  map: () => send("GET", "/api/map" + query({})),
  compare: (second) => send("GET", "/api/compare" + params({ first: state.criterion, second, limit: 4 })),
  imageInfo: (id) => send("GET", `/api/images/${id}/info` + query({})),
  status: () => send("GET", "/api/status" + query({})),
  criteria: () => send("GET", "/api/criteria"),
  createCriterion: (values) => send("POST", "/api/criteria", values),
  changeCriterion: (values) => send("PATCH", "/api/criteria", body(values)),
  exportFolders: (how, groups) => send("POST", "/api/folders", body({ how, groups })),
  exportPath: (to, groups = []) =>
    "/api/export" + query({ to }) + groups.map((one) => "&" + new URLSearchParams({ group: one })).join(""),
  access: () => send("GET", "/api/access"),
  skipped: () => send("GET", "/api/skipped"),
  rescan: () => send("POST", "/api/rescan"),
};

// One request of the HTTP API. Error messages of the server are shown unchanged.

import { groupName, language, t } from "/page/texts.js";

const NAMES = ["name", "group", "other"]; // fields that may have the name of a group
const UNNAMED = /"(group \d+|like this)"/;

export class ApiError extends Error {}

export async function send(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new ApiError(t("The program does not respond. Saved answers are kept; start it again to continue."));
  }
  const json = parse(await response.text().catch(() => ""));
  if (!response.ok)
    throw new ApiError(json.message ?? t("The program returned error {status}.", { status: response.status }));
  return json;
}

// The JSON of a response, with the names of unnamed groups in the person's language; {} if it is none.
function parse(text) {
  const hasUnnamed = language !== "en" && UNNAMED.test(text);
  try {
    return JSON.parse(
      text,
      hasUnnamed
        ? (key, value) => (NAMES.includes(key) && typeof value === "string" ? groupName(value) : value)
        : undefined,
    );
  } catch {
    return {};
  }
}

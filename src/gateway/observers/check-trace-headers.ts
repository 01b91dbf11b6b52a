import { headerProblem } from "../../hooks/header-problem.js";

/** @throws TypeError when no model server could get these headers, or they are not the host's to set. */
export function checkTraceHeaders(headers: unknown): Readonly<Record<string, string>> {
  if (typeof headers !== "object" || headers === null) {
    throw new TypeError('traceHeaders of an observer must return an object, such as { traceparent: "00-…" }.');
  }
  for (const [name, value] of Object.entries(headers)) {
    const problem = typeof value === "string" ? headerProblem(name, value) : "must be a text";
    if (problem !== undefined) throw new TypeError(`traceHeaders of an observer: ${JSON.stringify(name)} ${problem}.`);
  }
  return headers as Readonly<Record<string, string>>;
}

/** What the scenario in `consumer/` prints, whatever it was loaded by, and on whatever version of Node. */
export const expectedOfScenario = {
  adapters: ["function", "function"],
  routes: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"],
  fetch: 200,
  health: { status: "ok" },
  answered: [200, "hello"],
  streamed: [200, "text/event-stream", "hello", true],
  tooLarge: [413, "request_too_large"],
  unreachable: [502, "bad_gateway"],
  warnings: ["upstream_failed"],
};

import { requests } from "./in-process-bodies.mjs";
import { inProcessWorkloads } from "./in-process-workloads.mjs";

const plain = inProcessWorkloads.W1;
const small = { provider: "own", model: "small" };
const plenty = { day: 1e8, week: 1e8, month: 1e8, total: 1e8 };
const rates = { requestsPerMinute: 1e7, tokensPerMinute: 1e9, concurrent: 1000 };
const none = () => {};
const text = (kilobytes) => "The quick brown fox jumps over the lazy dog. ".repeat((kilobytes * 1024) / 45);

/** A call that is plain but for what is given. */
function row(name, given) {
  return { ...plain, ...given, name, to: "plain" };
}

/**
 * What a call costs beyond a plain one, one feature at a time. `prepare` is run once before the calls. A row that is `unused`
 * has something that its call does not use: it may cost nothing.
 */
export const stageRows = [
  { ...plain, name: "plain" },
  row("caps and rates of another key", {
    unused: true,
    keys: [{ key: "sk-other", id: "other", account: "bench", plan: "pro", credits: plenty, rates }],
  }),
  row("prepaid credits of another account", { unused: true, prepare: topUp("other") }),
  row("a second target, which is not tried", {
    unused: true,
    model: { upstream: [small, { provider: "busy", model: "small" }] },
  }),
  row("no store of responses", { unused: true, options: { responses: false } }),
  row("a plan without limits", { plan: { credits: { session: null, week: null, month: null } } }),
  row("caps of the key", { key: { credits: plenty } }),
  row("rates of the key", { key: { rates } }),
  row("rates of the plan", { plan: { rates } }),
  row("prepaid credits", { prepare: topUp("bench") }),
  row("a journal", { ledger: { historyEntries: 100 } }),
  row("thresholds", { options: { onThreshold: none } }),
  row("an observer", { options: { onRequestCompleted: none } }),
  row("a hook that says nothing", { options: { onRequest: none } }),
  row("a hook that gives tags", { options: { onRequest: () => ({ tags: { team: "red" } }) } }),
  row("a guard", { options: { guards: [{ name: "bench", answer: none }] } }),
  row("the cost in the usage", { options: { exposeCost: true } }),
  row("headers for browsers", { options: { cors: true }, sends: { origin: "https://app.example.com" } }),
  row("a trace", {
    options: { forwardTrace: true },
    sends: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
  }),
  row("a first target that is down", {
    options: { onWarning: none },
    model: { upstream: [{ provider: "busy", model: "small" }, small] },
  }),
  row("a request of 10 KB", { body: bodyOf(10), calls: 5000 }),
  row("a request of 200 KB", { body: bodyOf(200), calls: 600 }),
  row("a refusal", inProcessWorkloads.W6),
  row("a stream of 200 events", inProcessWorkloads.W2a),
  row("a response", inProcessWorkloads["W7 responses"]),
  { ...inProcessWorkloads["W7 responses"], name: "a response that is kept", body: keptBody(), to: "a response" },
  row("a message", inProcessWorkloads["W7 messages"]),
  row("by gateway.as()", inProcessWorkloads["W9 as"]),
  row("by gateway.handler", inProcessWorkloads["W9 handler"]),
];

function topUp(account) {
  return (gateway) => gateway.accounts.topUp(account, { id: "bench", credits: 1e6 });
}

function bodyOf(kilobytes) {
  return requests.chat({ messages: [{ role: "user", content: text(kilobytes) }] });
}

function keptBody() {
  return requests.responses({ store: true });
}

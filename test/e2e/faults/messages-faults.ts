import {
  eventStream,
  type FakeAnswer,
  hangAfterHeaders,
  hangBeforeHeaders,
  rawAnswer,
  resetBeforeHeaders,
  wholeAnswer,
} from "../../../src/testing.js";
import { frame, nativeEvents, nativeMessage } from "../../support/operations/messages/message-samples.js";
import { faults as chatFaults, type Failure, type Fault } from "./faults.js";

/** A way in which a server that speaks Messages fails. */
export interface MessagesFault extends Fault {
  /** Of the error that a client of Messages gets. Default: by the failure's status, or code. */
  errorType?: string;
}

/** An error as Anthropic's server sends it. */
function said(type: string, message = "Oops.") {
  return { type: "error", error: { type, message }, request_id: "req_upstream" };
}

const errorEvent = (type: string, message?: string) => `event: error\ndata: ${JSON.stringify(said(type, message))}\n\n`;

const broken: Failure = { status: 502, code: "bad_gateway", attempt: { outcome: "upstream_failed" } };
const answered = (status: number): Failure => ({ ...broken, attempt: { outcome: "upstream_failed", status } });
const late: Failure = {
  status: 504,
  code: "upstream_timeout",
  shouldRetry: "false",
  attempt: { outcome: "upstream_timeout" },
};
const refused = (code: string, status: number): Failure => ({
  status: 400,
  code,
  shouldRetry: "false",
  attempt: { outcome: "upstream_refused", status },
});
const full: Failure = {
  status: 429,
  code: "rate_limit_exceeded",
  retryAfter: "1",
  attempt: { outcome: "upstream_refused", status: 429 },
};
const atOnce = (status: number, type: string, headers: Record<string, string> = {}, message?: string): FakeAnswer =>
  wholeAnswer(said(type, message), { status, headers });
const html = "<html><body><h1>502 Bad Gateway</h1><p>nginx</p></body></html>";

const unreachable = chatFaults.whole.filter(({ baseURL }) => baseURL !== undefined);

const beforeTheAnswer: MessagesFault[] = [
  { name: "a reset", answer: resetBeforeHeaders(), failure: broken },
  { name: "silence before the headers", answer: hangBeforeHeaders(), failure: late, isSilent: true },
  {
    name: "429 with seconds",
    answer: atOnce(429, "rate_limit_error", { "retry-after": "7" }),
    failure: { ...full, retryAfter: "7" },
  },
  { name: "429 without a word", answer: wholeAnswer("", { status: 429 }), failure: full },
  {
    name: "429 that stays",
    answer: atOnce(429, "rate_limit_error", {}, "You have reached your specified API usage limits."),
    failure: { ...answered(429), shouldRetry: "false" },
  },
  {
    name: "400 of our balance",
    answer: atOnce(400, "invalid_request_error", {}, "Your credit balance is too low to access the Anthropic API."),
    failure: { ...answered(400), shouldRetry: "false" },
  },
  {
    name: "401: our key is refused",
    answer: atOnce(401, "authentication_error", {}, "invalid x-api-key"),
    failure: { ...answered(401), shouldRetry: "false" },
  },
  {
    name: "403: our key is refused",
    answer: atOnce(403, "permission_error"),
    failure: { ...answered(403), shouldRetry: "false" },
  },
  { name: "404: no such model", answer: atOnce(404, "not_found_error", {}, "model: x"), failure: answered(404) },
  { name: "500", answer: atOnce(500, "api_error"), failure: answered(500) },
  { name: "502 in HTML", answer: wholeAnswer(html, { status: 502 }), failure: answered(502) },
  {
    name: "529 with seconds",
    answer: atOnce(529, "overloaded_error", { "retry-after": "3" }, "Overloaded"),
    failure: { ...answered(529), retryAfter: "3" },
    errorType: "overloaded_error",
  },
  { name: "a redirect", answer: wholeAnswer("", { status: 307, headers: { location: "/x" } }), failure: answered(307) },
  { name: "bytes that are not HTTP", answer: rawAnswer(["SSH-2.0-OpenSSH_9.2\r\n\r\n"]), failure: broken },
  {
    name: "400: the client is at fault",
    answer: atOnce(400, "invalid_request_error", {}, "temperature: range: 0..1"),
    failure: refused("upstream_rejected", 400),
    isFinal: true,
  },
  {
    name: "400: the prompt is too long",
    answer: atOnce(400, "invalid_request_error", {}, "prompt is too long: 210000 tokens > 200000 maximum"),
    failure: refused("context_length_exceeded", 400),
    isFinal: true,
  },
];

const whole: MessagesFault[] = [
  ...unreachable,
  ...beforeTheAnswer,
  {
    name: "silence after the headers",
    answer: hangAfterHeaders({ headers: { "content-type": "application/json" } }),
    failure: { ...late, attempt: { ...late.attempt, status: 200 } },
    isSilent: true,
  },
  { name: "200 with an error", answer: wholeAnswer(said("api_error")), failure: answered(200) },
  {
    name: "200 with an error of capacity",
    answer: wholeAnswer(said("rate_limit_error")),
    failure: { ...full, attempt: { ...full.attempt, status: 200 } },
  },
  {
    name: "an answer that is cut",
    answer: rawAnswer([
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n${JSON.stringify(nativeMessage()).slice(0, 120)}`,
    ]),
    failure: answered(200),
  },
  {
    name: "garbage",
    answer: wholeAnswer("not { JSON", { headers: { "content-type": "application/json" } }),
    failure: answered(200),
  },
  { name: "200 in HTML", answer: wholeAnswer(html), failure: answered(200) },
  { name: "200 with nothing", answer: wholeAnswer(""), failure: answered(200) },
  { name: "a stream that was not asked for", answer: eventStream(nativeEvents().map(frame)), failure: answered(200) },
  { name: "a chat completion", answer: wholeAnswer(), failure: answered(200) },
];

const events = nativeEvents({ text: "Hello brave new world" }).map(frame);
/** Up to the second word. */
const begun = events.slice(0, 5);
const partOfTheAnswer: Pick<Failure, "status" | "text"> = { status: 200, text: "Hello brave" };
const half = (event = "") => event.slice(0, Math.floor(event.length / 2));

const stream: MessagesFault[] = [
  ...unreachable,
  ...beforeTheAnswer,
  {
    name: "silence after the headers",
    answer: hangAfterHeaders(),
    failure: { ...late, attempt: { ...late.attempt, status: 200 } },
    isSilent: true,
  },
  { name: "200 with an error", answer: wholeAnswer(said("api_error")), failure: answered(200) },
  {
    name: "an error as the first event",
    answer: eventStream([errorEvent("overloaded_error", "Overloaded")], { done: false }),
    failure: answered(200),
    errorType: "overloaded_error",
  },
  {
    name: "a rate limit as the first event",
    answer: eventStream([errorEvent("rate_limit_error")], { done: false }),
    failure: { ...full, attempt: { ...full.attempt, status: 200 } },
  },
  {
    name: "the client's fault as the first event",
    answer: eventStream([errorEvent("invalid_request_error", "messages.0: no")], { done: false }),
    failure: refused("upstream_rejected", 200),
    isFinal: true,
  },
  { name: "an end without an event", answer: eventStream([], { done: false }), failure: answered(200) },
  { name: "a cut before the first event", answer: eventStream([], { end: "cut" }), failure: answered(200) },
  {
    name: "a cut within the first event",
    answer: eventStream([half(events[0])], { end: "cut" }),
    failure: answered(200),
  },
  { name: "garbage", answer: eventStream(["data: not { JSON\n\n"]), failure: answered(200) },
  { name: "200 in HTML", answer: wholeAnswer(html), failure: answered(200) },
  { name: "chunks of a chat completion", answer: eventStream(), failure: answered(200) },
  {
    name: "an event larger than any",
    answer: eventStream([`event: message_start\ndata: "${"x".repeat(2 ** 20)}`], { end: "hang" }),
    failure: answered(200),
  },
  ...[
    { name: "a cut before the finish", answer: eventStream(begun, { end: "cut" }) },
    { name: "a cut within an event", answer: eventStream([...begun, half(events[5])], { end: "cut" }) },
    { name: "a reset before the finish", answer: rawStream(begun) },
    { name: "an end before the finish", answer: eventStream(begun, { done: false }) },
    { name: "an end of chat completions before the finish", answer: eventStream(begun, { done: true }) },
    { name: "garbage before the finish", answer: eventStream([...begun, "data: not { JSON\n\n"]) },
    { name: "an error before the finish", answer: eventStream([...begun, errorEvent("api_error")]) },
    { name: "an error without a name", answer: eventStream([...begun, said("api_error")]) },
    { name: "an end without a reason", answer: eventStream([...begun, frame({ type: "message_stop" })]) },
  ].map(({ name, answer }) => ({ name, answer, failure: { ...answered(200), ...partOfTheAnswer }, isFinal: true })),
  {
    name: "an overload before the finish",
    answer: eventStream([...begun, errorEvent("overloaded_error")]),
    failure: { ...answered(200), ...partOfTheAnswer },
    isFinal: true,
    errorType: "overloaded_error",
  },
  {
    name: "silence before the finish",
    answer: eventStream(begun, { end: "hang" }),
    failure: { ...late, ...partOfTheAnswer, attempt: { ...late.attempt, status: 200 } },
    isFinal: true,
    isSilent: true,
  },
];

/** A stream in pieces of a length that was not told, which stops in the middle of one. */
function rawStream(pieces: readonly string[]): FakeAnswer {
  const body = pieces.join("");
  const size = Buffer.byteLength(body);
  return rawAnswer([
    `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${size.toString(16)}\r\n${body}\r\nff\r\n`,
  ]);
}

/** Those of a server that speaks Messages. */
export const nativeFaults = { whole, stream };

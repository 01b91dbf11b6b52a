import { readFileSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import {
  chatAnswer,
  chatChunks,
  errorBody,
  eventStream,
  type FakeAnswer,
  type FakeUpstream,
  hangAfterHeaders,
  hangBeforeHeaders,
  rawAnswer,
  resetBeforeHeaders,
  sampleUsage,
  toEventBytes,
  wholeAnswer,
} from "../../../src/testing.js";
import { freePort } from "../../support/free-port.js";

/** What a client sees, and what it comes to, when this fault hits the only target, or every target. */
export interface Failure {
  status: number;
  /** Of the error object, in the body or in the last event. */
  code: string;
  /** Default: absent. */
  retryAfter?: string;
  /** `x-should-retry`. Default: absent. */
  shouldRetry?: "false";
  /** In micro-credits. Default: nothing. */
  charged?: number;
  /** The text that the client got before the error event. Default: none. */
  text?: string;
  /** Of the attempt, as the completed event tells. */
  attempt: { outcome: string; status?: number };
}

/** A way in which a model server fails. */
export interface Fault {
  name: string;
  /** What the server answers; absent when it cannot be reached at all. */
  answer?: FakeAnswer;
  /** Where the server is. Default: the fake upstream. */
  baseURL?: (upstream: FakeUpstream) => Promise<{ url: string; close?: () => Promise<void> }>;
  failure: Failure;
  /** The server says nothing: it is not waited for as long as others. */
  isSilent?: boolean;
  /** Another target is not asked: the fault is the client's, or part of the answer is out. Default: it is. */
  isFinal?: boolean;
}

/** The server did not answer. */
export const broken: Failure = { status: 502, code: "bad_gateway", attempt: { outcome: "upstream_failed" } };
/** It answered with this status, and failed. */
export const answered = (status: number): Failure => ({ ...broken, attempt: { outcome: "upstream_failed", status } });
/** It was not waited for any longer. */
export const late: Failure = {
  status: 504,
  code: "upstream_timeout",
  shouldRetry: "false",
  attempt: { outcome: "upstream_timeout" },
};
const full: Failure = {
  status: 429,
  code: "rate_limit_exceeded",
  retryAfter: "1",
  attempt: { outcome: "upstream_refused", status: 429 },
};

const overloaded = (headers: Record<string, string>): FakeAnswer =>
  wholeAnswer(errorBody("Slow down.", { type: "requests", code: "rate_limit_exceeded" }), { status: 429, headers });
export const html = "<html><body><h1>502 Bad Gateway</h1><p>nginx</p></body></html>";

const unreachable: Fault[] = [
  {
    name: "refused",
    baseURL: async () => ({ url: `http://127.0.0.1:${await freePort()}/v1` }),
    failure: broken,
  },
  { name: "a host without an address", baseURL: async () => ({ url: "http://nowhere.invalid/v1" }), failure: broken },
  {
    name: "a server that does not speak TLS",
    baseURL: async (upstream) => ({ url: upstream.url.replace("http:", "https:") }),
    failure: broken,
  },
  { name: "a certificate that nobody vouches for", baseURL: startSelfSigned, failure: broken },
];

const beforeTheAnswer: Fault[] = [
  { name: "a reset", answer: resetBeforeHeaders(), failure: broken },
  { name: "silence before the headers", answer: hangBeforeHeaders(), failure: late, isSilent: true },
  {
    name: "408",
    answer: wholeAnswer(errorBody("Too slow."), { status: 408 }),
    failure: { ...late, attempt: { ...late.attempt, status: 408 } },
  },
  { name: "429 without a word", answer: overloaded({}), failure: full },
  { name: "429 with seconds", answer: overloaded({ "retry-after": "7" }), failure: { ...full, retryAfter: "7" } },
  {
    name: "429 with a date",
    answer: overloaded({ "retry-after": new Date(Date.UTC(2026, 0, 1, 0, 0, 30)).toUTCString() }),
    failure: { ...full, retryAfter: "30" },
  },
  {
    name: "429 with a date in the past",
    answer: overloaded({ "retry-after": new Date(Date.UTC(2020, 0, 1)).toUTCString() }),
    failure: full,
  },
  {
    name: "429 with an absurd number",
    answer: overloaded({ "retry-after": "99999999999999999999" }),
    failure: { ...full, retryAfter: "60" },
  },
  { name: "429 with nonsense", answer: overloaded({ "retry-after": "soon" }), failure: full },
  {
    name: "429 because our quota is used up",
    answer: wholeAnswer(
      errorBody("You exceeded your quota.", { type: "insufficient_quota", code: "insufficient_quota" }),
      {
        status: 429,
      },
    ),
    failure: { ...answered(429), shouldRetry: "false" },
  },
  {
    name: "401: our key is refused",
    answer: wholeAnswer(errorBody("Incorrect API key.", { code: "invalid_api_key" }), { status: 401 }),
    failure: { ...answered(401), shouldRetry: "false" },
  },
  {
    name: "500",
    answer: wholeAnswer(errorBody("Oops.", { type: "server_error" }), { status: 500 }),
    failure: answered(500),
  },
  { name: "502 in HTML", answer: wholeAnswer(html, { status: 502 }), failure: answered(502) },
  {
    name: "503 with seconds",
    answer: wholeAnswer(errorBody("Loading."), { status: 503, headers: { "retry-after": "3" } }),
    failure: { ...answered(503), retryAfter: "3" },
  },
  {
    name: "a redirect",
    answer: wholeAnswer("", { status: 307, headers: { location: "http://127.0.0.1:1/v1/chat/completions" } }),
    failure: answered(307),
  },
  { name: "bytes that are not HTTP", answer: rawAnswer(["SSH-2.0-OpenSSH_9.2\r\n\r\n"]), failure: broken },
  {
    name: "400: the client is at fault",
    answer: wholeAnswer(errorBody("'temperature' must be at most 2.", { param: "temperature" }), { status: 400 }),
    failure: { status: 400, code: "upstream_rejected", attempt: { outcome: "upstream_refused", status: 400 } },
    isFinal: true,
  },
  {
    name: "400: the prompt is too long",
    answer: wholeAnswer(
      errorBody("This model's maximum context length is 10 tokens.", { code: "context_length_exceeded" }),
      {
        status: 400,
      },
    ),
    failure: { status: 400, code: "context_length_exceeded", attempt: { outcome: "upstream_refused", status: 400 } },
    isFinal: true,
  },
];

const whole: Fault[] = [
  ...unreachable,
  ...beforeTheAnswer,
  {
    name: "silence after the headers",
    answer: hangAfterHeaders({ headers: { "content-type": "application/json" } }),
    failure: { ...late, attempt: { ...late.attempt, status: 200 } },
    isSilent: true,
  },
  {
    name: "200 with an error",
    answer: wholeAnswer({ error: { message: "Oops.", type: "server_error" }, usage: sampleUsage }),
    failure: answered(200),
  },
  {
    name: "an answer that is cut",
    answer: rawAnswer([
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n${JSON.stringify(chatAnswer()).slice(0, 120)}`,
    ]),
    failure: answered(200),
  },
  {
    name: "garbage",
    answer: wholeAnswer("not { JSON", { headers: { "content-type": "application/json" } }),
    failure: answered(200),
  },
  { name: "200 in HTML", answer: wholeAnswer(html), failure: answered(200) },
];

const chunks = chatChunks("Hello brave new world");
const partOfTheAnswer: Pick<Failure, "status" | "text"> = { status: 200, text: "Hello brave" };

const stream: Fault[] = [
  ...unreachable,
  ...beforeTheAnswer,
  {
    name: "silence after the headers",
    answer: hangAfterHeaders(),
    failure: { ...late, attempt: { ...late.attempt, status: 200 } },
    isSilent: true,
  },
  {
    name: "200 with an error",
    answer: wholeAnswer({ error: { message: "Oops.", type: "server_error" } }),
    failure: answered(200),
  },
  {
    name: "an error as the first event",
    answer: eventStream([{ error: { message: "Overloaded.", type: "server_error" } }]),
    failure: answered(200),
  },
  {
    name: "a rate limit as the first event",
    answer: eventStream([{ error: { message: "Slow down.", type: "requests", code: "rate_limit_exceeded" } }]),
    failure: { ...full, attempt: { ...full.attempt, status: 200 } },
  },
  {
    name: "the client's fault as the first event",
    answer: eventStream([{ error: { message: "No.", type: "invalid_request_error", code: "invalid_prompt" } }]),
    failure: { status: 400, code: "invalid_prompt", attempt: { outcome: "upstream_refused", status: 200 } },
    isFinal: true,
  },
  { name: "an end without an event", answer: eventStream([], { done: false }), failure: answered(200) },
  { name: "a cut before the first event", answer: eventStream([], { end: "cut" }), failure: answered(200) },
  {
    name: "a cut within the first event",
    answer: eventStream([toEventBytes(chunks[0] ?? "").subarray(0, 40)], { end: "cut" }),
    failure: answered(200),
  },
  { name: "garbage", answer: eventStream(["data: not { JSON\n\n"]), failure: answered(200) },
  { name: "200 in HTML", answer: wholeAnswer(html), failure: answered(200) },
  {
    name: "a cut before the finish",
    answer: eventStream(chunks.slice(0, 3), { end: "cut" }),
    failure: { ...answered(200), ...partOfTheAnswer },
    isFinal: true,
  },
  {
    name: "a cut within an event",
    answer: eventStream([...chunks.slice(0, 3), toEventBytes(chunks[3] ?? "").subarray(0, 60)], { end: "cut" }),
    failure: { ...answered(200), ...partOfTheAnswer },
    isFinal: true,
  },
  {
    name: "an end before the finish",
    answer: eventStream(chunks.slice(0, 3), { done: true }),
    failure: { ...answered(200), ...partOfTheAnswer },
    isFinal: true,
  },
  {
    name: "silence before the finish",
    answer: eventStream(chunks.slice(0, 3), { end: "hang" }),
    failure: { ...late, ...partOfTheAnswer, attempt: { ...late.attempt, status: 200 } },
    isFinal: true,
    isSilent: true,
  },
  {
    name: "garbage before the finish",
    answer: eventStream([...chunks.slice(0, 3), "data: not { JSON\n\n"]),
    failure: { ...answered(200), ...partOfTheAnswer },
    isFinal: true,
  },
  {
    name: "an error before the finish",
    answer: eventStream([...chunks.slice(0, 3), { error: { message: "Oops.", type: "server_error" } }]),
    failure: { ...answered(200), ...partOfTheAnswer },
    isFinal: true,
  },
];

/** Those that do not depend on what is spoken: there is no response yet. */
export const earlyFaults: readonly Fault[] = [...unreachable, ...beforeTheAnswer];

export const faults = { whole, stream };

async function startSelfSigned(): Promise<{ url: string; close: () => Promise<void> }> {
  const fixture = (name: string) => readFileSync(new URL(`../../http/providers/fixtures/${name}`, import.meta.url));
  const server = createTlsServer({ key: fixture("tls-key.pem"), cert: fixture("tls-certificate.pem") }, (_req, res) =>
    res.end("{}"),
  );
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}/v1`,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

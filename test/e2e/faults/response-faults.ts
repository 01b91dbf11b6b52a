import type { Buffer } from "node:buffer";
import {
  chatAnswer,
  type EventStreamOptions,
  errorBody,
  eventStream,
  type FakeAnswer,
  hangAfterHeaders,
  rawAnswer,
  wholeAnswer,
} from "../../../src/testing.js";
import {
  chatServer,
  nativeResponse,
  nativeServer,
  type SampleServer,
} from "../../support/operations/responses/response-samples.js";
import { answered, type Fault, html, late } from "./faults.js";

const json = { headers: { "content-type": "application/json" } };
const silent = { ...late, attempt: { ...late.attempt, status: 200 } };
const failed = errorBody("Out of memory.", { type: "server_error" });

/** How a server fails that has begun a whole response. */
export function wholeFaults(kind: SampleServer): Fault[] {
  const body = JSON.stringify(kind === chatServer ? failed : { ...nativeResponse(), status: "failed", ...failed });
  const faults: [string, FakeAnswer][] = [
    ["an error with status 200", wholeAnswer(failed)],
    ["a response that failed", wholeAnswer(body, json)],
    ["a body that is cut", rawAnswer([`HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n${body.slice(0, 60)}`])],
    ["garbage", wholeAnswer("not { JSON", json)],
    ["HTML", wholeAnswer(html)],
    ["HTML that says it is JSON", wholeAnswer(html, json)],
    ["an empty body", wholeAnswer("", json)],
    ["null", wholeAnswer("null", json)],
    ["an empty object", wholeAnswer("{}", json)],
    ["events in place of a body", kind.stream()],
    ["a body without an end", endless('{"output":"')],
    ...(kind === chatServer
      ? ([["a finish that is an error", wholeAnswer(chatAnswer({ finishReason: "error" }))]] as [string, FakeAnswer][])
      : []),
    ["depth without an end", wholeAnswer(`{"output":${"[".repeat(50_000)}`, json)],
  ];
  return [
    ...faults.map(([name, answer]) => ({ name, answer, failure: answered(200) })),
    { name: "silence behind the head", answer: hangAfterHeaders(json), failure: silent, isSilent: true },
  ];
}

/** How a server fails before its stream has anything for the client. */
export function firstEventFaults(kind: SampleServer): Fault[] {
  const first = kind === chatServer ? '{"id":"chatcmpl-1","obj' : '{"type":"response.crea';
  const faults: [string, FakeAnswer][] = [
    ["an error with status 200", wholeAnswer(failed)],
    ["an error as the first event", eventStream([failed], { done: false })],
    ["a named error as the first event", eventStream(['event: error\ndata: {"message":"Out of memory."}\n\n'])],
    ["an end without an event", eventStream([], { done: false })],
    ["nothing but [DONE]", eventStream([], { done: true })],
    ["nothing but comments", eventStream([": hm\n\n", ": hm\n\n"], { done: false })],
    ["a cut before the first event", eventStream([], { end: "cut" })],
    ["a cut within the first event", eventStream([`data: ${first}`], { end: "cut" })],
    ["an end within the first event", eventStream([`data: ${first}`], { done: false })],
    ["garbage", eventStream(["data: not { JSON\n\n"])],
    ["HTML", wholeAnswer(html)],
    ["an empty body", wholeAnswer("", { headers: { "content-type": "text/event-stream" } })],
    ["an event without an end", endless('data: {"x":"')],
    ["a list in place of an event", eventStream(["data: []\n\n"])],
  ];
  return [
    ...faults.map(([name, answer]) => ({ name, answer, failure: answered(200) })),
    { name: "silence behind the head", answer: hangAfterHeaders(), failure: silent, isSilent: true },
  ];
}

/** What the client has read before these. */
export const partOfTheText = "Hello wide";

/** How a server fails whose client has part of the text. */
export function lateFaults(kind: SampleServer): Fault[] {
  const part = (options: EventStreamOptions, ...more: (string | object | Buffer)[]) => partly(kind, options, more);
  const pair = [
    { type: "error", sequence_number: 7, code: "server_error", message: "Out of memory.", param: null },
    { type: "response.failed", sequence_number: 8, response: { ...nativeResponse(), status: "failed", ...failed } },
  ];
  const faults: [string, FakeAnswer][] = [
    ["a cut", part({ end: "cut" })],
    ["an end", part({ done: false })],
    ["an end with [DONE]", part({ done: true })],
    ["a cut within an event", part({ end: "cut" }, 'data: {"type":"response.output')],
    ["garbage", part({ done: false }, "data: not { JSON\n\n")],
    ["an error", part({ done: false }, failed)],
    ...(kind === nativeServer
      ? ([
          ["both events of a failure", part({ done: false }, ...pair)],
          ["a failed response alone", part({ done: false }, pair[1] ?? "")],
          ["an end that holds no response", part({ done: false }, { type: "response.completed", sequence_number: 7 })],
        ] as [string, FakeAnswer][])
      : ["error", "insufficient_system_resource"].map((finish): [string, FakeAnswer] => [
          `a finish that is an error: ${finish}`,
          part({ done: true }, { choices: [{ index: 0, delta: {}, finish_reason: finish }] }),
        ])),
  ];
  const failure = { ...answered(200), status: 200, code: "server_error", text: partOfTheText };
  return [
    ...faults.map(([name, answer]) => ({ name, answer, failure, isFinal: true })),
    {
      name: "silence",
      answer: part({ end: "hang" }),
      failure: { ...failure, attempt: silent.attempt },
      isFinal: true,
      isSilent: true,
    },
  ];
}

/** A stream up to its second word, and what comes then. */
function partly(
  kind: SampleServer,
  options: EventStreamOptions,
  more: readonly (string | object | Buffer)[],
): FakeAnswer {
  const events = kind.events({ text: "Hello wide world" });
  const last = events.findLastIndex((event) => JSON.stringify(event).includes('" wide"'));
  return eventStream([...events.slice(0, last + 1), ...more] as Parameters<typeof eventStream>[0], options);
}

/** It is read no further than the gateway reads anything. */
function endless(begin: string): FakeAnswer {
  return async (_request, response) => {
    response.writeHead(200, { "content-type": begin.startsWith("data") ? "text/event-stream" : "application/json" });
    response.write(begin);
    while (!response.destroyed) {
      response.write("x".repeat(8192));
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
}

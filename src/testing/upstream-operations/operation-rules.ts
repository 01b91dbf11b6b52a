import { Buffer } from "node:buffer";
import {
  defaultOperations,
  type UpstreamCall,
  type UpstreamOperation,
  type UpstreamProvider,
} from "../../providers/upstream-provider.js";
import { errorBody } from "../chat-samples.js";
import { expect } from "../expect.js";
import { eventStream, toEventBytes, wholeAnswer } from "../fake-upstream/fake-responses.js";
import { type FakeUpstream, startFakeUpstream } from "../fake-upstream/fake-upstream.js";
import { createGate } from "../gate.js";
import type { AnyRunner } from "../test-runner.js";
import {
  type FormSample,
  formContentType,
  formEntries,
  type OperationSample,
  operationSamples,
  readForm,
  toFormBytes,
} from "./operation-samples.js";

interface Called {
  readonly operation: UpstreamOperation;
  readonly sample: OperationSample;
  readonly upstream: FakeUpstream;
  readonly provider: UpstreamProvider;
  readonly verbatim: boolean;
}

type Make = (baseURL: string, operation: UpstreamOperation) => UpstreamProvider | Promise<UpstreamProvider>;

interface OperationRulesOptions {
  readonly verbatim: boolean;
  /** `undefined`: those that the provider says it speaks. */
  readonly operations: readonly UpstreamOperation[] | undefined;
}

/** The tests of each operation but chat completions. */
export function defineOperationRules(it: AnyRunner["it"], make: Make, options: OperationRulesOptions): void {
  for (const [name, sample] of Object.entries(operationSamples)) {
    const operation = name as UpstreamOperation;
    if (options.operations?.includes(operation) === false) continue;
    const define = (title: string, test: (called: Called) => Promise<void>) =>
      it(title, async ({ skip }) => {
        const upstream = await startFakeUpstream();
        const provider = await make(upstream.url, operation);
        try {
          const isSpoken = (provider.operations ?? defaultOperations).includes(operation);
          if (options.operations !== undefined) expect(isSpoken).toBe(true);
          if (isSpoken) await test({ operation, sample, upstream, provider, verbatim: options.verbatim });
          else skip(`The provider does not speak ${operation}.`);
        } finally {
          await provider.close?.();
          await upstream.close();
        }
      });
    define(`sends a request of ${name}, and gives its answer`, answersWhole);
    define(`gives an error of ${name} like any other answer`, givesErrors);
    if (options.verbatim && sample.events !== undefined) {
      define(`gives each event of ${name} as soon as it is there`, streamsEvents);
    }
  }
}

async function answersWhole({ operation, sample, upstream, provider, verbatim }: Called): Promise<void> {
  const { answer: sent } = sample;
  const isSound = sent["bytes"] instanceof Uint8Array;
  const bytes = isSound ? (sent["bytes"] as Uint8Array) : Buffer.from(JSON.stringify(sent));
  const type = isSound ? String(sent["type"]) : "application/json";
  upstream.reply(wholeAnswer(bytes, { headers: { "content-type": type } }));
  const answer = await provider.call(callOf(operation, sample));
  const body = await readAll(answer.body);
  await expectRequest(upstream, sample, verbatim);
  expect(answer.status).toBe(200);
  expect(answer.headers["content-type"]).toMatch(new RegExp(`^${type}`));
  // In hexadecimal, a difference can be read.
  if (isSound || verbatim) expect(body.toString("hex")).toBe(Buffer.from(bytes).toString("hex"));
  else expect(JSON.parse(body.toString())).toMatchObject(sample.kept);
}

async function givesErrors({ operation, sample, upstream, provider, verbatim }: Called): Promise<void> {
  // Cohere's clients read the message at the top.
  const body = { message: "No.", ...errorBody("No.") };
  upstream.reply(wholeAnswer(body, { status: 429, headers: { "retry-after": "7" } }));
  const answer = await provider.call(callOf(operation, sample));
  expect(answer.status).toBe(429);
  expect(answer.headers["retry-after"]).toBe("7");
  const json: unknown = JSON.parse((await readAll(answer.body)).toString());
  if (verbatim) expect(json).toEqual(body);
  else expect(json).toMatchObject({ error: { message: "No." } });
}

async function streamsEvents({ operation, sample, upstream, provider }: Called): Promise<void> {
  const gate = createGate();
  const events = sample.events ?? [];
  upstream.reply(eventStream(events, { gate, done: false }));
  const calling = provider.call(callOf(operation, sample, true));
  gate.step();
  const answer = await calling;
  expect(answer.headers["content-type"]).toMatch(/^text\/event-stream/);
  const iterator = answer.body[Symbol.asyncIterator]();
  for (const event of events) {
    gate.step();
    const bytes = toEventBytes(event);
    expect((await readBytes(iterator, bytes.length)).toString()).toBe(bytes.toString());
  }
  gate.open();
  expect(await iterator.next()).toEqual({ done: true, value: undefined });
}

function callOf(
  operation: UpstreamOperation,
  { request, answer, headers }: OperationSample,
  stream = false,
): UpstreamCall {
  const bytes = answer["bytes"] instanceof Uint8Array;
  const asked = stream ? withStream(request) : request;
  const isForm = isFormSample(asked);
  return upstreamCall({
    endpoint: operation,
    body: isForm ? toFormBytes(asked) : Buffer.from(JSON.stringify(asked)),
    contentType: isForm ? formContentType : "application/json",
    expects: stream ? "events" : bytes ? "bytes" : "document",
    stream,
    ...(headers !== undefined && { headers }),
  });
}

function withStream(request: OperationSample["request"]): OperationSample["request"] {
  return isFormSample(request) ? [...request, ["stream", "true"]] : { ...request, stream: true };
}

function isFormSample(request: OperationSample["request"]): request is FormSample {
  return Array.isArray(request);
}

async function expectRequest(upstream: FakeUpstream, sample: OperationSample, verbatim: boolean): Promise<void> {
  const { method, headers, body } = upstream.lastRequest;
  expect(method).toBe("POST");
  expect(upstream.requests).toHaveLength(1);
  const { request } = sample;
  if (isFormSample(request)) {
    const came = await readForm(body, headers["content-type"]);
    // Another boundary and another order mean the same.
    if (verbatim) expect(came.sort()).toEqual(formEntries(request).sort());
    else for (const part of formEntries(request)) expect(came).toContainEqual(part);
    return;
  }
  const json: unknown = JSON.parse(body.toString());
  if (!verbatim) return expect(json).toMatchObject({ model: "sample-model" });
  expect(json).toEqual(request);
  expect(headers).toMatchObject({ ...sample.headers });
}

/** A call as the pipeline makes it; every field can be replaced. */
export function upstreamCall(fields: Partial<UpstreamCall> = {}): UpstreamCall {
  const stream = fields.stream ?? false;
  const request = { model: "sample-model", messages: [{ role: "user", content: "Hi" }], stream };
  return {
    endpoint: "chat/completions",
    model: "sample-model",
    body: Buffer.from(JSON.stringify(request)),
    stream,
    signal: new AbortController().signal,
    requestId: "req_test",
    ...fields,
  };
}

/** Everything that a body still has to give, in one piece. */
export async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Reads until `length` bytes are there, which must be a boundary between pieces. Leaves the iteration open. */
export async function readBytes(iterator: AsyncIterator<Uint8Array>, length: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for (let rest = length; rest > 0; ) {
    const result = await iterator.next();
    if (result.done) throw new Error(`The body ended ${rest} bytes too early.`);
    pieces.push(result.value);
    rest -= result.value.length;
  }
  return Buffer.concat(pieces);
}

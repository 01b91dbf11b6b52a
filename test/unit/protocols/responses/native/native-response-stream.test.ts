import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { badGateway } from "../../../../../src/errors/gateway-error.js";
import { StreamFault } from "../../../../../src/errors/upstream-fault.js";
import { guessTokens } from "../../../../../src/prices/usage-counts.js";
import type { NativeResponseContext } from "../../../../../src/protocols/responses/native-response.js";
import { NativeResponseStream } from "../../../../../src/protocols/responses/native-response-stream.js";
import { createEventReader } from "../../../../../src/wire/event-reader.js";

const context: NativeResponseContext = {
  model: "acme/small",
  responseId: "resp_own",
  createdAt: 1_763_000_000,
  previousResponseId: undefined,
  isStored: false,
  promptTokens: 7,
  outputCap: 1000,
  promptParam: "input",
  startedAt: 0,
  upstreamModel: "up-1",
};

const usage = { input_tokens: 30, output_tokens: 20, output_tokens_details: { reasoning_tokens: 5 }, total_tokens: 50 };
const item = { id: "msg_up", type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello" }] };
const response = (status: string, members: object = {}) => ({
  id: "resp_up",
  model: "up-1",
  status,
  output: [],
  ...members,
});

const itemTokens = guessTokens("Hello".length);

interface UpstreamEvent {
  type: string;
  [name: string]: unknown;
}

/** A recorded stream's shape. */
function recorded(end: UpstreamEvent): UpstreamEvent[] {
  const place = { item_id: "msg_up", output_index: 0, content_index: 0 };
  const events: UpstreamEvent[] = [
    { type: "response.created", response: response("in_progress") },
    { type: "response.in_progress", response: response("in_progress") },
    { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
    { type: "response.content_part.added", ...place, part: { type: "output_text", text: "" } },
    { type: "response.output_text.delta", ...place, delta: "Hel", obfuscation: "xY" },
    { type: "response.output_text.delta", ...place, delta: "lö" },
    { type: "response.output_text.done", ...place, text: "Helö" },
    { type: "response.output_item.done", output_index: 0, item },
    end,
  ];
  return events.map((event, index) => ({ ...event, sequence_number: index }));
}

const completed = { type: "response.completed", response: response("completed", { output: [item], usage }) };
const line = (event: UpstreamEvent) => ({ data: JSON.stringify(event), event: event.type });

function run(events: readonly UpstreamEvent[], stream = new NativeResponseStream(context)): string {
  const sent = events.map((event) => Buffer.from(stream.event(line(event)) ?? []).toString()).join("");
  return stream.progress.isComplete ? sent + Buffer.from(stream.end()).toString() : sent;
}

function dataOf(text: string): UpstreamEvent[] {
  const reader = createEventReader(1e6);
  return reader.read(Buffer.from(text)).map(({ data }) => JSON.parse(data) as UpstreamEvent);
}

function faultOf(run: () => unknown): StreamFault {
  try {
    run();
  } catch (error) {
    if (error instanceof StreamFault) return error;
    throw error;
  }
  throw new Error("There was no fault.");
}

describe("the stream of a server that speaks the API", () => {
  it("has our id and model wherever a response stands, and is the same byte for byte otherwise", () => {
    const stream = new NativeResponseStream(context);
    const events = recorded(completed);
    const expected = events
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join("")
      .replaceAll('{"id":"resp_up","model":"up-1"', '{"store":false,"id":"resp_own","model":"acme/small"');
    expect(run(events, stream)).toBe(expected);
    expect(stream.progress).toMatchObject({
      tokens: { input: 30, cachedInput: 0, output: 20, reasoning: 5 },
      isCounted: true,
      hasOutput: true,
      reasons: true,
      isComplete: true,
      isDone: true,
      seenOutput: guessTokens(6),
    });
  });

  it("holds the event that ends it back till its end: by then the response is kept", () => {
    const stream = new NativeResponseStream(context);
    const sent = recorded(completed).map((event) => Buffer.from(stream.event(line(event)) ?? []).toString());
    expect(sent.at(-1)).toBe("");
    expect(dataOf(Buffer.from(stream.end()).toString())).toMatchObject([{ type: "response.completed" }]);
  });

  it.each(["response.completed", "response.incomplete"])("is none where %s holds no response", (type) => {
    const stream = new NativeResponseStream(context);
    expect(faultOf(() => stream.event(line({ type, response: "x" })))).toMatchObject({ reason: "garbage" });
  });

  it("passes events on that it does not know, whatever they hold", () => {
    const name = fc.stringMatching(/^[a-z_.]{1,20}$/).filter((each) => each !== "error" && each !== "response.failed");
    const members = fc.dictionary(fc.stringMatching(/^x_[a-z]{1,5}$/), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 });
    fc.assert(
      fc.property(name, members, (type, extra) => {
        const data = JSON.stringify({ type: `response.${type}`, sequence_number: 3, ...extra }).replace(",", " , ");
        const sent = new NativeResponseStream(context).event({ data, event: undefined });
        expect(Buffer.from(sent ?? []).toString()).toBe(`event: response.${type}\ndata: ${data}\n\n`);
      }),
    );
  });

  it("may come without names, in lines, and with what ends a chat", () => {
    const stream = new NativeResponseStream(context);
    const sent = stream.event({ data: '{"type":"response.x",\n"a":1}', event: undefined });
    expect(Buffer.from(sent ?? []).toString()).toBe('event: response.x\ndata: {"type":"response.x", "a":1}\n\n');
    expect(stream.event({ data: "[DONE]", event: undefined })).toBeUndefined();
    expect(stream.event({ data: " ", event: undefined })).toBeUndefined();
  });

  it("is over with the event that ends it", () => {
    const stream = new NativeResponseStream(context);
    run(recorded(completed), stream);
    expect(stream.event(line({ type: "response.failed", response: response("failed") }))).toBeUndefined();
  });

  it("ends with a usage that clients can read, estimated where there is none", () => {
    const stream = new NativeResponseStream(context);
    const end = { type: "response.incomplete", response: response("incomplete") };
    const last = dataOf(run(recorded(end), stream)).at(-1);
    const { estimated, isComplete, tokens } = stream.progress;
    expect({ estimated, isComplete, tokens }).toMatchObject({
      estimated: true,
      isComplete: true,
      tokens: { input: 7, output: 4 },
    });
    expect(last).toMatchObject({
      response: {
        usage: {
          input_tokens: 7,
          input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
          output_tokens: 4,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 11,
        },
      },
    });
  });

  it("counts output that comes with the end alone", () => {
    const stream = new NativeResponseStream(context);
    run([completed], stream);
    expect(stream.progress).toMatchObject({ hasOutput: true, seenOutput: itemTokens });
  });

  it("counts output that comes without deltas", () => {
    const stream = new NativeResponseStream(context);
    expect(stream.progress.hasOutput).toBe(false);
    run(recorded(completed).slice(0, 4), stream);
    expect(stream.progress).toMatchObject({ hasOutput: false, seenOutput: 0 });
    run([{ type: "response.output_item.done", output_index: 3, item }], stream);
    expect(stream.progress).toMatchObject({ hasOutput: true, seenOutput: itemTokens, isDone: false });
  });

  it("has failed where it stops before its end", () => {
    const stream = new NativeResponseStream(context);
    run(recorded(completed).slice(0, -1), stream);
    expect(faultOf(() => stream.end()).reason).toBe("incomplete");
  });

  const error = { type: "server_error", code: "server_error", message: "Oops" };
  it.each<[string, { data: string; event: string | undefined }, unknown]>([
    [
      "a flat error",
      line({ type: "error", code: "server_error", message: "Oops" }),
      { code: "server_error", message: "Oops" },
    ],
    ["a nested error", line({ type: "error", error }), error],
    ["an error without a type", { data: JSON.stringify({ error }), event: undefined }, error],
    ["a name alone", { data: JSON.stringify({ message: "Oops" }), event: "error" }, { message: "Oops" }],
    ["a failed response", line({ type: "response.failed", response: response("failed", { error, usage }) }), error],
    [
      "a completed one that failed",
      line({ type: "response.completed", response: response("completed", { error }) }),
      error,
    ],
  ])("fails with %s", (_name, event, upstreamError) => {
    const stream = new NativeResponseStream(context);
    run(recorded(completed).slice(0, 5), stream);
    const cause = expect.objectContaining({ name: "UpstreamStatusError" });
    expect(() => stream.event(event)).toThrow(expect.objectContaining({ status: 502, cause }));
    expect(upstreamError).toMatchObject({ message: "Oops" });
    expect(stream.progress.isComplete).toBe(false);
  });

  it("knows the usage of a failed response", () => {
    const stream = new NativeResponseStream(context);
    const failed = line({ type: "response.failed", response: response("failed", { error, usage }) });
    expect(() => stream.event(failed)).toThrow(expect.objectContaining({ status: 502 }));
    expect(stream.progress).toMatchObject({ estimated: false, tokens: { input: 30, output: 20 } });
  });

  it.each(["nonsense", "[1]", '"x"'])("fails with %s", (data) => {
    expect(faultOf(() => new NativeResponseStream(context).event({ data, event: undefined })).reason).toBe("garbage");
  });

  it("tells the client of a failure in the two events that all clients understand, with the next numbers", () => {
    const stream = new NativeResponseStream(context);
    run(recorded(completed).slice(0, 5), stream);
    const events = dataOf(Buffer.from(stream.fault(badGateway("The model did not answer."))).toString());
    expect(events.map((event) => [event.type, event["sequence_number"]])).toEqual([
      ["error", 5],
      ["response.failed", 6],
    ]);
    expect(events[1]).toMatchObject({
      response: { id: "resp_own", model: "acme/small", status: "failed", output: [] },
    });
  });

  it("is kept open by an event, and by a comment before it begins", () => {
    const stream = new NativeResponseStream(context);
    expect(Buffer.from(stream.keepAlive()).toString()).toBe(": keep-alive\n\n");
    run(recorded(completed).slice(0, 3), stream);
    expect(dataOf(Buffer.from(stream.keepAlive()).toString())).toEqual([{ type: "keepalive", sequence_number: 2 }]);
  });
});

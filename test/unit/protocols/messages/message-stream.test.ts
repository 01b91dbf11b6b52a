import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { StreamFault } from "../../../../src/errors/upstream-fault.js";
import { MessageStream } from "../../../../src/protocols/messages/message-stream.js";
import { answerContext } from "../../../support/answer-context.js";

const open = () => new MessageStream(answerContext({ model: "acme/large", promptTokens: 7 }));

function passed(stream: MessageStream, event: string | undefined, data: string): string | undefined {
  const bytes = stream.event({ event, data });
  return bytes === undefined ? undefined : Buffer.from(bytes).toString();
}

/** As Anthropic sends them. */
const recorded: readonly [event: string, data: string][] = [
  [
    "message_start",
    '{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":30,"output_tokens":1,"service_tier":"standard"}}      }',
  ],
  [
    "content_block_start",
    '{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}',
  ],
  ["ping", '{"type": "ping"}'],
  [
    "content_block_delta",
    '{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"h\\u00e9"}    }',
  ],
  [
    "content_block_delta",
    '{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB="}}',
  ],
  ["content_block_stop", '{"type":"content_block_stop","index":0 }'],
  [
    "content_block_start",
    '{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}}',
  ],
  [
    "content_block_delta",
    '{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\\"n\\":12345678901234567890}"}}',
  ],
  ["content_block_stop", '{"type":"content_block_stop","index":1}'],
  ["new_event", '{"type":"new_event","x":1.0}'],
  [
    "message_delta",
    '{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89}}',
  ],
  ["message_stop", '{"type":"message_stop"}'],
];

describe("a stream of Messages", () => {
  it("passes byte for byte, but for the model", () => {
    const stream = open();
    for (const [event, data] of recorded) {
      const expected = data.replace('"claude-sonnet-4-5"', '"acme/large"');
      expect(passed(stream, event, data)).toBe(`event: ${event}\ndata: ${expected}\n\n`);
    }
    expect(Buffer.from(stream.end()).toString()).toBe("");
  });

  it("keeps an event in one line, however its data was written", () => {
    const data = '{\n"type":"content_block_stop",\n"index":0\n}';
    const stream = open();
    passed(stream, ...recorded[0]!);
    expect(passed(stream, undefined, data)).toBe(
      'event: content_block_stop\ndata: { "type":"content_block_stop", "index":0 }\n\n',
    );
  });

  it("is counted on the side", () => {
    const stream = open();
    const seen = recorded.map(([event, data]) => {
      passed(stream, event, data);
      const { tokens, isCounted, hasOutput, isComplete, isDone } = stream.progress;
      return { tokens, isCounted, hasOutput, isComplete, isDone };
    });
    expect(seen[0]).toMatchObject({
      isCounted: false,
      hasOutput: false,
      tokens: { input: 45, cachedInput: 30, cacheWrite: 5 },
    });
    expect(seen[3]).toMatchObject({ isCounted: false, hasOutput: true, isComplete: false });
    expect(seen[9]?.tokens.output).toBeGreaterThan(5);
    expect(seen[10]).toMatchObject({
      isCounted: true,
      isComplete: true,
      isDone: false,
      tokens: { input: 45, output: 89 },
    });
    expect(seen[11]).toMatchObject({ isDone: true });
    expect(stream.progress.reasons).toBe(true);
  });

  it("takes what a server says at last, and what another says at first", () => {
    const late = open();
    passed(
      late,
      "message_start",
      '{"type":"message_start","message":{"model":"x","usage":{"input_tokens":0,"output_tokens":0}}}',
    );
    passed(
      late,
      "message_delta",
      '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":12,"cache_read_input_tokens":3,"output_tokens":5}}',
    );
    expect(late.progress.tokens).toMatchObject({ input: 15, cachedInput: 3, output: 5 });
    const twice = open();
    passed(
      twice,
      "message_start",
      '{"type":"message_start","message":{"model":"x","usage":{"input_tokens":12,"cache_read_input_tokens":3,"output_tokens":1}}}',
    );
    passed(
      twice,
      "message_delta",
      '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":12,"cache_read_input_tokens":3,"output_tokens":5}}',
    );
    expect(twice.progress.tokens).toMatchObject({ input: 15, cachedInput: 3, output: 5 });
  });

  it("gets what clients fail without: the events' names, and counts", () => {
    const stream = open();
    const start = passed(stream, undefined, '{"type":"message_start","message":{"id":"m","model":"x","content":[]}}');
    expect(start).toMatch(/^event: message_start\n/);
    expect(JSON.parse(start?.split("data: ")[1] ?? "").message.usage).toMatchObject({
      input_tokens: 7,
      output_tokens: 0,
    });
    passed(
      stream,
      undefined,
      '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"123456789"}}',
    );
    const delta = passed(stream, undefined, '{"type":"message_delta","delta":{"stop_reason":"end_turn"}}');
    expect(JSON.parse(delta?.split("data: ")[1] ?? "")).toMatchObject({
      delta: { stop_reason: "end_turn" },
      usage: { output_tokens: 9 },
    });
    expect(stream.progress).toMatchObject({ isCounted: false, isComplete: true });
  });

  it("is an estimate where only its beginning was counted", () => {
    const stream = open();
    passed(stream, ...(recorded[0] as [string, string]));
    passed(stream, undefined, '{"type":"message_delta","delta":{"stop_reason":"end_turn"}}');
    expect(stream.progress).toMatchObject({ isCounted: false, isComplete: true, tokens: { input: 45 } });
  });

  it("ends with the last event, also where the server has left it out", () => {
    const stream = open();
    for (const index of [0, 10]) passed(stream, ...recorded[index]!);
    expect(Buffer.from(stream.end()).toString()).toBe('event: message_stop\ndata: {"type":"message_stop"}\n\n');
  });

  it("begins once, also where the server begins it twice", () => {
    const stream = open();
    passed(stream, ...recorded[0]!);
    const again = '{"type":"message_start","message":{"usage":{"input_tokens":20,"output_tokens":1}}}';
    expect(passed(stream, "message_start", again)).toBeUndefined();
    expect(stream.progress.tokens.input).toBe(55);
    expect(passed(stream, ...recorded[1]!)).toBeDefined();
  });

  it.each(recorded.slice(1).filter(([name]) => !/^(?:ping|new_event|message_stop)$/.test(name)))(
    "cannot begin with %s",
    (name, data) => {
      expect(() => open().event({ event: name, data })).toThrow(expect.objectContaining({ reason: "garbage" }));
    },
  );

  it("names each event by its type, however the server calls it", () => {
    const stream = open();
    const names = recorded.map(([, data], index) => passed(stream, ["message", undefined][index % 2], data));
    expect(names.map((text) => /^event: (.*)$/m.exec(text ?? "")?.[1])).toEqual(recorded.map(([name]) => name));
  });

  it("passes no event whose type cannot be a name", () => {
    for (const type of ["a\nb", "a\r", "", " ", "a\n\nevent: error"]) {
      expect(passed(open(), undefined, JSON.stringify({ type }))).toBeUndefined();
    }
  });

  it("lets nothing through behind the end", () => {
    const stream = open();
    for (const [event, data] of recorded) passed(stream, event, data);
    expect(passed(stream, "error", '{"type":"error","error":{"type":"api_error","message":"late"}}')).toBeUndefined();
    expect(passed(stream, undefined, "[DONE]")).toBeUndefined();
  });

  it.each([
    ["an error", "error", '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', "error"],
    ["an error without its name", undefined, '{"type":"error","error":{"type":"api_error","message":"x"}}', "error"],
    ["an error of OpenAI's", undefined, '{"error":{"message":"x"}}', "error"],
    ["what is no JSON", "content_block_delta", "{", "garbage"],
    ["what has no type", undefined, '{"choices":[]}', "garbage"],
    ["an end without a reason", "message_stop", '{"type":"message_stop"}', "incomplete"],
  ])("breaks off at %s", (_name, event, data, reason) => {
    const stream = open();
    const thrown = reason === "error" ? { name: "GatewayError" } : { name: "StreamFault", reason };
    expect(() => stream.event({ event, data })).toThrow(expect.objectContaining(thrown));
  });

  it("is not complete before its end", () => {
    const stream = open();
    passed(stream, ...recorded[0]!);
    expect(() => stream.end()).toThrow(StreamFault);
  });
});

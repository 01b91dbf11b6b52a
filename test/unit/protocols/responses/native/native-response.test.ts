import { describe, expect, it } from "vitest";
import {
  failureOf,
  type NativeResponseContext,
  toNativeResponse,
} from "../../../../../src/protocols/responses/native-response.js";
import { ReceivedResponse } from "../../../../../src/protocols/shared/received-response.js";
import { readUsage } from "../../../../../src/protocols/shared/usage-object.js";

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

const usage = {
  input_tokens: 30,
  input_tokens_details: { cached_tokens: 10 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 50,
};
const message = { id: "msg_up", type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi" }] };

function answerOf(text: string, others: Partial<NativeResponseContext> = {}) {
  const answer = toNativeResponse(new ReceivedResponse(Buffer.from(text)), { ...context, ...others });
  return answer === undefined ? undefined : { ...answer, text: Buffer.from(answer.body).toString() };
}

const responseOf = (members: object) =>
  JSON.stringify({ id: "resp_up", status: "completed", output: [message], ...members });

describe("a whole response of a server that speaks the API", () => {
  it("has our id, our model and no store, and is the same byte for byte otherwise", () => {
    const text = `{ "id":"resp_up" , "object":"response","model":"up-1","x":1.0,"big":12345678901234567890,
  "store":true,"status":"completed","output":[${JSON.stringify(message)}],"usage":${JSON.stringify(usage)},"t":"h\\u00e9" }`;
    expect(answerOf(text)).toEqual({
      body: expect.anything(),
      text: text
        .replace("resp_up", "resp_own")
        .replace("up-1", "acme/small")
        .replace('"store":true', '"store":false')
        .replace("{ ", "{")
        .replace(/ \}$/, "}"),
      tokens: { input: 30, cachedInput: 10, output: 20, reasoning: 5 },
      estimated: false,
      responseId: "resp_own",
      finishReason: "stop",
    });
  });

  it("says what the gateway keeps, and what it goes on from", () => {
    const answer = answerOf(responseOf({ usage, store: false, previous_response_id: null }), {
      isStored: true,
      previousResponseId: "resp_before",
    });
    expect(JSON.parse(answer?.text ?? "")).toMatchObject({ store: true, previous_response_id: "resp_before" });
  });

  it("has a usage, estimated where the server gave none", () => {
    const answer = answerOf(responseOf({ usage: null }));
    expect(answer).toMatchObject({ estimated: true, tokens: { input: 7, cachedInput: 0, reasoning: 0 } });
    expect(JSON.parse(answer?.text ?? "").usage).toEqual({
      input_tokens: 7,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: answer?.tokens.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 7 + (answer?.tokens.output ?? 0),
    });
  });

  it("has all that clients read of a usage", () => {
    const answer = answerOf(
      responseOf({ usage: { input_tokens: 3, output_tokens: 2, cost: 1, output_tokens_details: {} } }),
    );
    expect(JSON.parse(answer?.text ?? "").usage).toMatchObject({
      cost: 1,
      total_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
    });
    const hidden = answerOf(responseOf({ usage: { ...usage, cost: 1 } }), { dialect: { hiddenUsage: ["cost"] } });
    expect(JSON.parse(hidden?.text ?? "").usage).toEqual(usage);
  });

  it("may be incomplete", () => {
    expect(answerOf(responseOf({ status: "incomplete", usage }))).toMatchObject({ tokens: { output: 20 } });
  });

  it.each([
    "not json",
    "[]",
    "{}",
    '{"output":{}}',
    '{"output":[],"status":"in_progress"}',
    '{"output":[],"status":"failed"}',
  ])("is not %s", (text) => {
    expect(answerOf(text)).toBeUndefined();
  });

  it("that failed tells why", () => {
    const error = { code: "server_error", message: "x" };
    expect(failureOf({ status: "failed", error })).toEqual(error);
    expect(failureOf({ error })).toEqual(error);
    expect(failureOf({ status: "failed", error: null })).toEqual({ message: "", code: "server_error" });
    expect(failureOf({ status: "completed", error: null })).toBeUndefined();
  });
});

describe("the usage of a response", () => {
  it.each([
    [usage, { input: 30, cachedInput: 10, output: 20, reasoning: 5 }],
    [
      { input_tokens: 3, output_tokens: 2 },
      { input: 3, cachedInput: 0, output: 2, reasoning: 0 },
    ],
    [
      { input_tokens: 3, output_tokens: 2, total_tokens: 9 },
      { input: 3, cachedInput: 0, output: 6, reasoning: 0 },
    ],
    [
      { ...usage, input_tokens_details: { cached_tokens: 99 }, output_tokens_details: { reasoning_tokens: 99 } },
      { input: 30, cachedInput: 30, output: 20, reasoning: 20 },
    ],
    [
      { ...usage, input_tokens_details: null, output_tokens_details: null },
      { input: 30, cachedInput: 0, output: 20, reasoning: 0 },
    ],
    [{ input_tokens: 0, output_tokens: 0 }, undefined],
    [{ output_tokens: 2 }, undefined],
    [{ input_tokens: -1, output_tokens: 2 }, undefined],
    [{ input_tokens: 1e12, output_tokens: 2 }, undefined],
    [null, undefined],
  ])("%j is %j", (reported, tokens) => {
    expect(readUsage(reported)).toEqual(tokens);
  });
});

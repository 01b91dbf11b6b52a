import { afterEach, describe, expect, it } from "vitest";
import { meaningOfEnd } from "../../../../src/protocols/shared/received-response.js";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import {
  chatAnswer,
  chatChunks,
  eventStream,
  type FakeAnswer,
  startFakeUpstream,
  wholeAnswer,
} from "../../../../src/testing.js";
import { allSpoken, type Pair, type Spoken, startPair } from "./start-pair.js";

type Json = Record<string, unknown>;

let pair: Pair | undefined;
afterEach(async () => {
  await pair?.close();
  pair = undefined;
});

/** An answer of chat completions with that end; `undefined`: it has none. */
function ending(finish: string | undefined): FakeAnswer {
  return (request, response) => {
    const answer = chatAnswer({ content: "Hi" });
    const [choice] = answer.choices;
    const whole = wholeAnswer({ ...answer, choices: [{ ...choice, finish_reason: finish ?? null }] });
    const streamed = eventStream(chatChunks("Hi", { finishReason: finish ?? null }));
    return (request.json.stream ? streamed : whole)(request, response);
  };
}

const targets = { upstream: ["one", "two"].map((model) => ({ provider: "fake", model })) };

async function endOf(client: Spoken, response: Response, isStream: boolean): Promise<unknown> {
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const json: Json[] = isStream
    ? text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6)) as Json] : []))
    : [JSON.parse(text) as Json];
  if (client === "responses") {
    const last = (isStream ? json.at(-1)?.["response"] : json[0]) as Json;
    return (last["incomplete_details"] as Json | null)?.["reason"] ?? last["status"];
  }
  if (client === "messages") {
    const last = isStream ? (json.find(({ type }) => type === "message_delta")?.["delta"] as Json) : json[0];
    return last?.["stop_reason"];
  }
  const choices = json.flatMap((chunk) => (chunk["choices"] as Json[] | undefined) ?? []);
  return choices.map((choice) => choice["finish_reason"]).find((finish) => finish !== null);
}

describe.each(allSpoken)("the end of an answer of chat completions, for a client of %s,", (client) => {
  const [cut, filtered, done] = {
    "chat/completions": [undefined, undefined, undefined],
    messages: ["max_tokens", "refusal", "end_turn"],
    responses: ["max_output_tokens", "content_filter", "completed"],
  }[client] as [string?, string?, string?];

  it.each([
    ["length", cut],
    ["max_tokens", cut],
    ["MAX_TOKENS", cut],
    ["model_length", cut],
    ["model_context_window_exceeded", cut],
    ["SAFETY", filtered],
    ["MODEL_ARMOR", filtered],
    ["content-filter", filtered],
    ["sensitive", filtered],
    ["eos_token", done],
    ["END_TURN", done],
    ["what nobody knows", done],
  ])("%s means the same, whole and streamed", async (finish, expected = finish) => {
    pair = await startPair(client, "chat/completions");
    pair.server.reply(ending(finish));
    for (const stream of [false, true]) expect(await endOf(client, await pair.post({ stream }), stream)).toBe(expected);
  });

  const failures = ["error", "insufficient_system_resource", "network_error", "server_error", "MALFORMED_RESPONSE"];
  it.each([...failures, "TOO_MANY_TOOL_CALLS", "function_call_filter: MALFORMED_FUNCTION_CALL"])(
    "%s is another target's work, and is free",
    async (finish) => {
      pair = await startPair(client, "chat/completions", { model: targets });
      const { server, events } = pair;
      for (const stream of [false, true]) {
        server.reply((request, response) =>
          (request.json.model === "two" ? ending("stop") : failing(finish))(request, response),
        );
        await (await pair.post({ stream })).text();
        expect(events.at(-1)).toMatchObject({
          status: 200,
          endReason: "completed",
          attempts: [{ model: "one" }, { model: "two" }],
        });
        server.reply(failing(finish));
        const refused = await pair.post({ stream });
        expect([refused.status, await refused.text()]).toEqual([502, expect.stringContaining("did not answer")]);
        expect(events.at(-1)).toMatchObject({ chargedMicro: 0 });
      }
    },
  );

  it.each([false, true])("may be left out where the dialect says so, streamed: %s", async (stream) => {
    const server = await startFakeUpstream();
    server.reply(ending(undefined));
    const expected = { "chat/completions": "stop", messages: "end_turn", responses: "completed" }[client];
    try {
      for (const finishReason of ["optional", "required"] as const) {
        const odd = openAICompatible({ baseURL: server.url, apiKey: "k", dialect: { finishReason } });
        pair = await startPair(client, "chat/completions", { providers: { fake: odd } });
        const response = await pair.post({ stream });
        if (finishReason === "optional") {
          expect(await endOf(client, response, stream)).toBe(expected);
          expect(pair.events.at(-1)).toMatchObject({ usageSource: "provider", endReason: "completed" });
        } else {
          expect(await response.text()).toMatch(/"(bad_gateway|server_error|api_error)"/);
          expect(pair.events.at(-1)?.endReason).toBe("upstream_failed");
          // One document in place of a stream is held to the same.
          server.reply(wholeAnswer(withoutEnd));
          expect(await (await pair.post({ stream })).text()).toMatch(/"(bad_gateway|server_error|api_error)"/);
          server.reply(ending(undefined));
        }
        await pair.close();
      }
    } finally {
      await server.close();
    }
    pair = undefined;
  });
});

const [choiceWithEnd] = chatAnswer().choices;
const withoutEnd = { ...chatAnswer(), choices: [{ ...choiceWithEnd, finish_reason: null }] };

/** It gives up before it has said anything. */
function failing(finish: string): FakeAnswer {
  return (request, response) => {
    const [choice] = chatAnswer({ content: "" }).choices;
    const head = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
    const whole = wholeAnswer({ ...chatAnswer({ content: "" }), choices: [{ ...choice, finish_reason: finish }] });
    const streamed = eventStream([{ ...head, choices: [{ index: 0, delta: {}, finish_reason: finish }] }]);
    return (request.json.stream ? streamed : whole)(request, response);
  };
}

it.each([undefined, null, 5, "", "unknown", "toString", "__proto__"])("an end of %s has no meaning", (end) => {
  expect(meaningOfEnd(end)).toBeUndefined();
});

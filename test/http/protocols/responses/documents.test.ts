import { afterEach, describe, expect, it } from "vitest";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { type FakeUpstream, startFakeUpstream, wholeAnswer } from "../../../../src/testing.js";
import { startServer } from "../../../e2e/clients/start-server.js";
import { honest, nativeResponse, nativeServer } from "../../../support/operations/responses/response-samples.js";
import {
  parseEvents,
  refusalOf,
  requestText,
  withResponses,
} from "../../../support/operations/responses/responses-server.js";
import { smallModel } from "../../../support/test-gateway.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const secret = "vllm-prod-3.internal (key sk-upstream-secret)";

/** What a server may answer with a 200 although it is no response that has come to its end. */
const documents: readonly [string, object][] = [
  ["a validation error of its framework", { detail: [{ msg: `Failed at ${secret}` }] }],
  ["an error as a text", { error: `Failed at ${secret}` }],
  ["an empty object", {}],
  ["a list", { object: "list", data: [{ id: secret }] }],
  ["a response that waits", { ...nativeResponse(), status: "queued", instructions: secret }],
  ["a response that is under way", { ...nativeResponse(), status: "in_progress", instructions: secret }],
  ["a response without output", { ...nativeResponse(), output: null, instructions: secret }],
  ["a response of an unknown status", { ...nativeResponse(), status: "resting", instructions: secret }],
  ["a chat completion", { id: "x", object: "chat.completion", choices: [], secret }],
  ["a list of all", [secret]],
];

describe.each([
  ["whole", false],
  ["as a stream", true],
])("asked for a response %s, a native target that gives another document", (_name, stream) => {
  it.each(documents)("has failed: %s", (_document, json) =>
    withResponses(nativeServer, async (server) => {
      server.upstream.replyOnce(wholeAnswer(json));
      const response = await server.post({ stream });
      const text = `${JSON.stringify([...response.headers])}${await response.text()}`;
      expect(text).toMatch(/"error"/);
      expect(text).not.toContain("internal");
      expect(text).not.toContain("response.completed");
      await expect.poll(() => server.events).toHaveLength(1);
      expect(server.events[0]).toMatchObject({ chargedMicro: 0, endReason: "upstream_failed" });
      const id = /"id":"(resp_[^"]+)"/.exec(text)?.[1];
      if (id !== undefined) {
        const kept = await fetch(`${server.baseURL}/responses/${id}`, { headers: { authorization: "Bearer sk-pro" } });
        expect(await refusalOf(kept)).toMatchObject({ status: 404 });
      }
    })(),
  );
});

it("lets another target answer, and counts the failure against the first", async () => {
  const [first, second] = [await startFakeUpstream(), await startFakeUpstream()];
  first.reply(wholeAnswer({ detail: secret }));
  second.reply(honest(nativeServer));
  const provider = ({ url }: FakeUpstream) => openAICompatible({ baseURL: url, operations: ["responses"] });
  const upstream = ["first", "second"].map((name) => ({ provider: name, model: "m" }));
  const server = await startServer({
    models: [{ ...smallModel, upstream, breaker: { consecutiveFailures: 2 } }],
    providers: { first: provider(first), second: provider(second) },
  });
  closers.push(
    () => first.close(),
    () => second.close(),
    () => server.close(),
  );
  for (let call = 0; call < 3; call++) {
    const response = await fetch(`${server.baseURL}/responses`, {
      method: "POST",
      headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
      body: requestText({ stream: true }),
    });
    expect(parseEvents(await response.text()).at(-1)).toMatchObject({ name: "response.completed" });
  }
  // The breaker has opened: the third call does not try it any more.
  expect(first.requests).toHaveLength(2);
  expect(second.requests).toHaveLength(3);
});

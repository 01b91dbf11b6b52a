import { expect, it, onTestFinished } from "vitest";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import type { UpstreamCall, UpstreamProvider } from "../../../src/providers/upstream-provider.js";
import { chatAnswer, startFakeUpstream } from "../../../src/testing.js";
import { startTestGateway } from "../../support/test-gateway.js";
import { chatCall } from "../adapters/client.js";

const text = "Größe 大きさ ".repeat(8000);
const messages = [{ role: "user", content: text }];

async function open(provider: (url: string) => UpstreamProvider) {
  const upstream = await startFakeUpstream();
  const test = await startTestGateway({ providers: { fake: provider(upstream.url) } });
  onTestFinished(async () => {
    await test.close();
    await upstream.close();
  });
  const ask = (body: Record<string, unknown>) =>
    test.gateway.handler(new Request("http://gateway.test/v1/chat/completions", chatCall(body)));
  return { upstream, ask };
}

it("sends a long request as it was, but for its edits", async () => {
  const { upstream, ask } = await open((url) => openAICompatible({ baseURL: url, apiKey: "sk-upstream" }));
  for (const body of [{ messages }, { messages, stream: true }, { messages, max_tokens: 5, user: "a" }]) {
    const response = await ask(body);
    expect(response.status).toBe(200);
    await response.text();
    const sent = JSON.parse(upstream.lastRequest.body.toString());
    expect(sent).toMatchObject({ ...body, model: "upstream-small" });
    expect(upstream.lastRequest.headers["content-length"]).toBe(String(upstream.lastRequest.body.length));
  }
});

it("gives a host's own provider a long request in one piece, which it may spread and replace", async () => {
  const seen: UpstreamCall[] = [];
  const { ask } = await open(() => ({
    async call(call) {
      const spread = { ...call };
      seen.push(spread);
      expect(Object.keys(call)).toContain("body");
      expect(call.body).toBe(spread.body);
      call.body = Buffer.from("replaced");
      expect(Buffer.from(call.body).toString()).toBe("replaced");
      const body = Buffer.from(JSON.stringify(chatAnswer()));
      const pieces = (async function* () {
        yield body;
      })();
      return { status: 200, headers: { "content-type": "application/json" }, body: pieces };
    },
  }));
  expect((await ask({ messages })).status).toBe(200);
  expect(seen[0]?.body).toBeInstanceOf(Uint8Array);
  expect(JSON.parse(Buffer.from(seen[0]?.body ?? []).toString())).toMatchObject({ model: "upstream-small", messages });
});

import { expect, it, onTestFinished, vi } from "vitest";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import type { UpstreamProvider } from "../../../src/providers/upstream-provider.js";
import { readAll, upstreamCall } from "../../../src/testing/upstream-operations/operation-rules.js";
import { chatAnswer, errorBody, startFakeUpstream, wholeAnswer } from "../../../src/testing.js";
import { startTestGateway } from "../../support/test-gateway.js";
import { chatCall } from "../adapters/client.js";

async function open(wrap: (provider: UpstreamProvider) => UpstreamProvider) {
  const upstream = await startFakeUpstream();
  const provider = wrap(openAICompatible({ baseURL: upstream.url, apiKey: "sk-upstream" }));
  const test = await startTestGateway({ providers: { fake: provider } });
  onTestFinished(async () => {
    await test.close();
    await upstream.close();
  });
  const ask = () => test.gateway.handler(new Request("http://gateway.test/v1/chat/completions", chatCall()));
  return { upstream, provider, ask };
}

it("lets whoever wraps a provider spread the call and its answer", async () => {
  const seen: unknown[] = [];
  const { upstream, ask } = await open((inner) => ({
    ...inner,
    async call(call) {
      const spread = { ...call, requestId: "req_of_the_wrapper" };
      seen.push(spread.signal instanceof AbortSignal, spread.model, spread.stream);
      const answer = { ...(await inner.call(spread)) };
      seen.push(answer.status, answer.headers["x-from"]);
      return { ...answer, body: [await readAll(answer.body)] as unknown as typeof answer.body };
    },
  }));
  upstream.reply((_request, response) => {
    response.writeHead(200, { "content-type": "application/json", "x-from": "the upstream" });
    response.end(JSON.stringify(chatAnswer()));
  });
  expect((await ask()).status).toBe(200);
  expect(seen).toEqual([true, "upstream-small", false, 200, "the upstream"]);
});

it("calls what the host has put in the method's place since", async () => {
  const { upstream, provider, ask } = await open((inner) => inner);
  const spy = vi.spyOn(provider, "call");
  upstream.reply(wholeAnswer(chatAnswer()));
  expect((await ask()).status).toBe(200);
  expect(spy).toHaveBeenCalledOnce();
  spy.mockRestore();
  upstream.reply(wholeAnswer(chatAnswer()));
  expect((await ask()).status).toBe(200);
});

it("reads the headers of a refusal, which tell when to come again", async () => {
  const { upstream, ask } = await open((inner) => inner);
  upstream.reply(wholeAnswer(errorBody("slow down"), { status: 429, headers: { "retry-after": "7" } }));
  const response = await ask();
  expect([response.status, response.headers.get("retry-after")]).toEqual([429, "7"]);
});

it("ends the call by the signal where there is no notice, as a host's own call has none", async () => {
  const upstream = await startFakeUpstream();
  const provider = openAICompatible({ baseURL: upstream.url, apiKey: "sk-upstream" });
  onTestFinished(async () => {
    await provider.close?.();
    await upstream.close();
  });
  const controller = new AbortController();
  const call = provider.call(upstreamCall({ signal: controller.signal }));
  controller.abort();
  await expect(call).rejects.toMatchObject({ failure: "aborted" });
});

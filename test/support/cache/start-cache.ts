import { onTestFinished } from "vitest";
import { type CacheOptions, cached } from "../../../src/cache/cached.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import type { UpstreamProvider } from "../../../src/providers/upstream-provider.js";
import { chatAnswer, chatChunks, eventStream, ManualClock, wholeAnswer } from "../../../src/testing.js";
import { startTestGateway } from "../test-gateway.js";

/** A gateway whose provider keeps all responses. It closes with the test. @param options - its providers are wrapped. */
export async function startCache(options: Partial<GatewayOptions> = {}, cache: CacheOptions = {}) {
  const clock = new ManualClock(Date.UTC(2026, 0, 5, 12));
  const keeping = (provider: UpstreamProvider) => cached(provider, { mode: "always", ...cache });
  const given = Object.entries(options.providers ?? {}).map(([name, each]) => [name, keeping(each)]);
  const providers = options.providers && { providers: Object.fromEntries(given) };
  const test = await startTestGateway({ clock, ...options, ...providers });
  onTestFinished(() => test.close());
  /** For another gateway that calls the same upstream. */
  const provider = openAICompatible({ baseURL: test.upstream.url, apiKey: "sk-upstream-secret" });
  if (providers === undefined) await test.gateway.update({ providers: { fake: keeping(provider) } });
  test.upstream.reply((request, response) => {
    const sample = chatAnswer({ id: `chatcmpl-up-${test.upstream.requests.length}`, created: 1_700_000_000 });
    const answer = request.json.stream ? eventStream(chatChunks("Hello world")) : wholeAnswer(sample);
    return answer(request, response);
  });
  const post = async (body: Record<string, unknown> | string = {}, headers: object = {}, path = "chat/completions") => {
    const whole =
      typeof body === "string"
        ? body
        : JSON.stringify({ model: "acme/small", messages: [{ role: "user", content: "Hi" }], ...body });
    const response = await test.gateway.handler(
      new Request(`http://gateway.test/v1/${path}`, {
        method: "POST",
        headers: { authorization: "Bearer sk-pro", "content-type": "application/json", ...headers },
        body: whole,
      }),
    );
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      cached: response.headers.get("x-infergate-cache"),
    };
  };
  return { ...test, clock, post, provider, keeping };
}

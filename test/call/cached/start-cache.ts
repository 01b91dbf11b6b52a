import { onTestFinished } from "vitest";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { chatAnswer, chatChunks, eventStream, ManualClock, wholeAnswer } from "../../../src/testing.js";
import { startTestGateway } from "../../support/test-gateway.js";

/** A gateway that keeps all responses. It closes with the test. */
export async function startCache(options: Partial<GatewayOptions> = {}, cache: object = {}) {
  const clock = new ManualClock(Date.UTC(2026, 0, 5, 12));
  const test = await startTestGateway({ clock, cache: { mode: "always", ...cache }, ...options });
  onTestFinished(() => test.close());
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
  /** For another gateway that calls the same upstream. */
  const provider = openAICompatible({ baseURL: test.upstream.url, apiKey: "sk-upstream-secret" });
  return { ...test, clock, post, provider };
}

import { afterEach, describe, expect, it } from "vitest";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway | undefined;
afterEach(() => test?.close());

interface Refusal {
  readonly model?: string;
  readonly prompt?: unknown;
  readonly key?: string;
  readonly options?: Partial<GatewayOptions>;
  readonly expected: object;
}

const messages = [{ role: "user", content: "Hi" }];
const failingPlans = { find: () => Promise.reject(new Error("down")) };
const pennyPlans = memoryPlanStore({ pro: { models: ["acme/*"], credits: { session: 0 } } });

const refusals: Record<string, Refusal> = {
  "a model outside the plan": {
    model: "acme/large",
    key: "sk-basic",
    expected: { status: 403, errorCode: "model_not_allowed", model: "acme/large" },
  },
  "a model outside the key's own list": {
    model: "acme/large",
    key: "sk-narrow",
    expected: { status: 403, errorCode: "model_not_allowed", model: "acme/large" },
  },
  "a model that the catalog does not have": {
    model: "acme/none",
    expected: { status: 404, errorCode: "model_not_found", model: undefined },
  },
  "a model of another type": {
    model: "acme/embed",
    expected: { status: 400, errorCode: "invalid_value", model: "acme/embed" },
  },
  "a plan store that fails": {
    options: { plans: failingPlans },
    expected: { status: 503, errorCode: "service_unavailable", model: "acme/small" },
  },
  "a prompt that is too long": {
    prompt: [{ role: "user", content: "word ".repeat(300_000) }],
    expected: { status: 400, errorCode: "context_length_exceeded", model: "acme/small" },
  },
  "a hook that refuses": {
    options: {
      onRequest: () => {
        throw new Error("no");
      },
    },
    expected: { status: 503, errorCode: "service_unavailable", model: "acme/small" },
  },
  "credits that are used up": {
    options: { plans: pennyPlans },
    expected: { status: 429, errorCode: "session_limit_exceeded", model: "acme/small" },
  },
};

/** The same words in each protocol. */
const protocols: Record<string, (prompt: unknown) => object> = {
  "/v1/chat/completions": (messages) => ({ messages }),
  "/v1/responses": (input) => ({ input }),
  "/v1/messages": (messages) => ({ messages, max_tokens: 10 }),
};

describe("the event of a request that is refused after its body was read", () => {
  it.each(Object.entries(refusals))("has model and stream: %s", async (_, refusal) => {
    const { model: asked = "acme/small", prompt = messages, key = "sk-pro", options, expected } = refusal;
    test = await startTestGateway(options);
    for (const [path, toBody] of Object.entries(protocols)) {
      const { url, headers } = chatRequest({}, key);
      const event = test.nextEvent();
      const body = JSON.stringify({ model: asked, stream: true, ...toBody(prompt) });
      const response = await test.gateway.handler(new Request(new URL(path, url), { method: "POST", headers, body }));
      await response.text();
      const { status, errorCode, model, stream } = await event;
      expect({ path, status, errorCode, model, stream }).toEqual({ path, stream: true, ...expected });
    }
  });

  it("has the model of tokens that are not counted", async () => {
    test = await startTestGateway();
    const request = chatRequest({}, "sk-basic");
    const event = test.nextEvent();
    await test.gateway.handler(
      new Request(new URL("/v1/messages/count_tokens", request.url), {
        method: "POST",
        headers: request.headers,
        body: JSON.stringify({ model: "acme/large", messages }),
      }),
    );
    expect(await event).toMatchObject({ status: 403, model: "acme/large", stream: false });
  });
});

import { describe, expect, it, onTestFinished } from "vitest";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import type { Refusal } from "../../../src/hooks/refusal-messages.js";
import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { chatRequest, startTestGateway } from "../../support/test-gateway.js";

async function start(messages: GatewayOptions["messages"]) {
  const test = await startTestGateway({
    messages,
    plans: memoryPlanStore({
      pro: { models: ["acme/small"], credits: { month: 0 } },
      basic: { models: ["acme/*"], rates: { requestsPerMinute: 0 } },
    }),
  });
  onTestFinished(() => test.close());
  const refused = async (body: object, key: string) => {
    const response = await test.gateway.handler(chatRequest({ ...body }, key));
    const { error } = (await response.json()) as { error: { message: string; code: string; type: string } };
    return { status: response.status, again: response.headers.get("x-should-retry"), ...error };
  };
  return { ...test, refused };
}

describe("the words of a refusal", () => {
  it("are the host's, with the status, code and headers of the gateway's", async () => {
    const asked: Refusal[] = [];
    const { refused, gateway } = await start((refusal) => {
      asked.push(refusal);
      return `Sign up to go on: ${refusal.code}`;
    });
    const before = await (await start(undefined)).refused({}, "sk-pro");
    const after = await refused({}, "sk-pro");
    expect(after).toEqual({ ...before, message: "Sign up to go on: month_limit_exceeded" });
    expect(asked).toEqual([
      { code: before.code, status: 429, message: before.message, account: "acct_pro", plan: "pro", keyId: "key_pro" },
    ]);
    // Also where the same denial is repeated.
    expect(await refused({}, "sk-pro")).toEqual(after);
    expect(await refused({ model: "acme/large" }, "sk-pro")).toMatchObject({
      ...{ status: 403, code: "model_not_allowed", message: "Sign up to go on: model_not_allowed" },
    });
    expect(await refused({}, "sk-basic")).toMatchObject({
      status: 429,
      message: "Sign up to go on: rate_limit_exceeded",
    });
    const messages = await gateway.handler(
      new Request("http://gateway.test/v1/messages", {
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer sk-pro" },
        body: JSON.stringify({ model: "acme/small", max_tokens: 5, messages: [{ role: "user", content: "Hi" }] }),
      }),
    );
    expect(await messages.text()).toContain("Sign up to go on: month_limit_exceeded");
  });

  it("are the gateway's own where the host has none, and for the client's mistakes", async () => {
    const asked: string[] = [];
    const { refused, warnings } = await start(({ code }) => {
      asked.push(code);
      return undefined;
    });
    expect((await refused({}, "sk-pro")).message).toContain("Month usage quota exhausted");
    expect((await refused({ model: "acme/none" }, "sk-pro")).status).toBe(404);
    expect((await refused({ messages: 5 }, "sk-pro")).status).toBe(400);
    expect((await refused({}, "sk-wrong")).status).toBe(401);
    expect(asked).toEqual(["month_limit_exceeded"]);
    expect(warnings).toEqual([]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("down");
      },
    ],
    ["is async", async () => "late"],
    ["rejects", () => Promise.reject(new Error("down"))],
    ["gives a number", () => 5],
    ["gives nothing to read", () => ""],
    ["gives too much", () => "a".repeat(2_001)],
  ] as [string, () => unknown][])(
    "are the gateway's own, with a warning, where the host's function %s",
    async (_name, give) => {
      const { refused, warnings } = await start(give as GatewayOptions["messages"]);
      expect((await refused({}, "sk-pro")).message).toContain("Month usage quota exhausted");
      expect(warnings.map(({ code }) => code)).toEqual(["hook_failed"]);
    },
  );
});

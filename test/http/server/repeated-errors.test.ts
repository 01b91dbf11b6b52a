import { afterEach, describe, expect, it } from "vitest";
import { memoryAccountStore, memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { largeModel, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

const page = "https://app.example.com";
let test: TestGateway;
afterEach(() => test.close());

async function start(): Promise<void> {
  test = await startTestGateway({
    cors: { origins: [page] },
    models: [smallModel, largeModel],
    accounts: memoryAccountStore([
      { id: "acct_1", plan: "pro" },
      { id: "acct_2", plan: "pro", status: "suspended", message: "Pay your bill." },
      { id: "acct_3", plan: "pro", status: "suspended" },
    ]),
    keys: memoryKeyStore([
      { key: "sk-pro", id: "key_1", account: "acct_1" },
      { key: "sk-off", id: "key_2", account: "acct_1", enabled: false },
      { key: "sk-suspended", id: "key_3", account: "acct_2" },
      { key: "sk-silent", id: "key_4", account: "acct_3" },
    ]),
    plans: memoryPlanStore({ pro: { models: ["acme/small"], credits: { session: 0 } } }),
  });
}

interface Asked {
  readonly key?: string;
  readonly model?: string;
  readonly origin?: string;
  readonly operation?: "chat/completions" | "messages";
}

async function ask({ key, model = "acme/small", origin, operation = "chat/completions" }: Asked): Promise<Response> {
  const request = new Request(`http://gateway.test/v1/${operation}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key === undefined ? undefined : { authorization: `Bearer ${key}` }),
      ...(origin === undefined ? undefined : { origin }),
    },
    body: JSON.stringify({ model, max_tokens: 10, messages: [{ role: "user", content: "Hi" }] }),
  });
  return test.gateway.handler(request);
}

const refusals: [string, Asked, number, string][] = [
  ["no key", {}, 401, "invalid_api_key"],
  ["a malformed key", { key: "a b" }, 401, "invalid_api_key"],
  ["an unknown key", { key: "sk-none" }, 401, "invalid_api_key"],
  ["a disabled key", { key: "sk-off" }, 401, "api_key_disabled"],
  ["a suspended account", { key: "sk-suspended" }, 403, "account_suspended"],
  ["a model beyond the plan", { key: "sk-pro", model: "acme/large" }, 403, "model_not_allowed"],
  ["an unknown model", { key: "sk-pro", model: "acme/none" }, 404, "model_not_found"],
  ["an account without credits", { key: "sk-pro" }, 429, "session_limit_exceeded"],
];

describe("an error that many requests get", () => {
  it.each(refusals)("is the same each time, under the request's own id: %s", async (_name, asked, status, code) => {
    await start();
    for (const operation of ["chat/completions", "messages"] as const) {
      const responses = [await ask({ ...asked, operation }), await ask({ ...asked, operation })];
      const ids = responses.map(({ headers }) => headers.get("x-request-id"));
      expect(new Set(ids).size).toBe(2);
      // A second may have begun between them.
      const texts = await Promise.all(responses.map((response) => response.text()));
      const bodies = texts.map((text) => JSON.parse(text.replace(/reset at \S+/, "reset")) as Record<string, unknown>);
      for (const [index, body] of bodies.entries()) {
        expect(responses[index]?.status).toBe(status);
        expect(body).toMatchObject({ error: { code } });
        expect(body["request_id"]).toBe(operation === "messages" ? ids[index] : undefined);
      }
      expect({ ...bodies[0], request_id: null }).toEqual({ ...bodies[1], request_id: null });
    }
  });

  it.each(refusals)("shows no header of another client's response: %s", async (_name, asked) => {
    await start();
    const first = await ask(asked);
    const ofPage = await ask({ ...asked, origin: page });
    const last = await ask(asked);
    expect(ofPage.headers.get("access-control-allow-origin")).toBe(page);
    expect(first.headers.get("access-control-allow-origin")).toBeNull();
    expect(last.headers.get("access-control-allow-origin")).toBeNull();
    const names = (response: Response) => [...response.headers.keys()];
    expect(names(last)).toEqual(names(first));
  });

  it("names the model and the words of the client that it is for", async () => {
    await start();
    const messageOf = async (asked: Asked) =>
      ((await (await ask(asked)).json()) as { error: { message: string } }).error.message;
    for (let times = 0; times < 2; times++) {
      expect(await messageOf({ key: "sk-pro", model: "acme/one" })).toContain("'acme/one'");
      expect(await messageOf({ key: "sk-pro", model: "acme/other" })).toContain("'acme/other'");
      expect(await messageOf({ key: "sk-suspended" })).toBe("Pay your bill.");
      expect(await messageOf({ key: "sk-silent" })).toContain("suspended");
    }
  });
});

import { expect, it } from "vitest";
import type { ApiKeySource } from "../../../../src/providers/api-keys.js";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { readAll, upstreamCall } from "../../../../src/testing/upstream-operations/operation-rules.js";
import { type FakeAnswer, honestChat, startFakeUpstream, wholeAnswer } from "../../../../src/testing.js";
import { describeTransports } from "../../../support/providers/provider-harness.js";
import { chatRequest, startTestGateway } from "../../../support/test-gateway.js";

const keys = ["sk-first-0123456789", "sk-second-0123456789", "sk-third-0123456789", "sk-fourth-0123456789"] as const;

/** Answers some keys with a refusal. */
function refusing(refused: readonly string[], status: number, headers: Record<string, string> = {}): FakeAnswer {
  const honest = honestChat();
  const refusal = wholeAnswer({ error: { message: "No." } }, { status, headers });
  return (request, response) => {
    const key = request.headers.authorization?.replace("Bearer ", "") ?? "";
    return refused.includes(key) ? refusal(request, response) : honest(request, response);
  };
}

describeTransports("several keys", (harness) => {
  const used = () => harness.upstream.requests.map(({ headers }) => headers.authorization?.replace("Bearer ", ""));
  const callOnce = async (provider: ReturnType<typeof harness.provider>, model = "small"): Promise<number> => {
    const answer = await provider.call(upstreamCall({ model }));
    await readAll(answer.body);
    return answer.status;
  };

  it.each([
    ["list", keys.slice(0, 3)],
    ["function", () => keys.slice(0, 3)],
    ["async function", async () => keys.slice(0, 3)],
  ] as [string, readonly string[] | ApiKeySource][])("of a %s share the calls", async (_name, apiKey) => {
    const provider = harness.provider({ apiKey });
    for (let count = 0; count < 6; count++) expect(await callOnce(provider)).toBe(200);
    expect(used()).toEqual([...keys.slice(0, 3), ...keys.slice(0, 3)]);
  });

  it.each([
    [429, { "retry-after": "60" }],
    [429, {}],
    [401, {}],
    [402, {}],
    [403, {}],
  ])("one that gets a %i rests, and its call goes out with the next", async (status, headers) => {
    harness.upstream.reply(refusing([keys[0]], status, headers));
    const provider = harness.provider({ apiKey: keys.slice(0, 2) });
    for (let count = 0; count < 3; count++) expect(await callOnce(provider)).toBe(200);
    expect(used()).toEqual([keys[0], keys[1], keys[1], keys[1]]);
  });

  it("rest for one model at a time", async () => {
    harness.upstream.reply(refusing([keys[0]], 429));
    const provider = harness.provider({ apiKey: keys.slice(0, 2) });
    expect(await callOnce(provider)).toBe(200);
    expect(await callOnce(provider, "large")).toBe(200);
    expect(used()).toEqual([keys[0], keys[1], keys[0], keys[1]]);
  });

  it("that all rest are tried no more than one at a time, and pass the response on", async () => {
    harness.upstream.reply(refusing(keys, 429, { "retry-after": "30" }));
    const provider = harness.provider({ apiKey: keys.slice(0, 2) });
    expect(await callOnce(provider)).toBe(429);
    expect(used()).toHaveLength(2);
    expect(await callOnce(provider)).toBe(429);
    expect(used()).toHaveLength(3);
  });

  it("are not all used up by one request", async () => {
    harness.upstream.reply(refusing(keys, 403));
    expect(await callOnce(harness.provider({ apiKey: keys }))).toBe(403);
    expect(used()).toEqual(keys.slice(0, 3));
  });

  it.each([400, 404, 500, 503])("do not help against a %i", async (status) => {
    harness.upstream.reply(refusing(keys, status));
    expect(await callOnce(harness.provider({ apiKey: keys }))).toBe(status);
    expect(used()).toEqual([keys[0]]);
  });

  it.each([
    [400, { message: "Billing hard limit has been reached", type: "x", code: "billing_hard_limit_reached" }],
    [400, { type: "invalid_request_error", message: "Your credit balance is too low to access the API." }],
    [412, { message: "Account acme is suspended, possibly due to reaching the monthly spending limit." }],
    [500, { message: "no", code: "insufficient_user_quota" }],
  ])("one whose account is out of money by the body of a %i rests, too", async (status, error) => {
    const honest = honestChat();
    harness.upstream.reply((request, response) =>
      (request.headers.authorization === `Bearer ${keys[0]}` ? wholeAnswer({ error }, { status }) : honest)(
        request,
        response,
      ),
    );
    const provider = harness.provider({ apiKey: keys.slice(0, 2) });
    for (let count = 0; count < 3; count++) expect(await callOnce(provider)).toBe(200);
    expect(used()).toEqual([keys[0], keys[1], keys[1], keys[1]]);
  });

  it("give the body of an error on as it is, however long", async () => {
    const message = "no".repeat(100_000);
    harness.upstream.reply(wholeAnswer({ error: { message } }, { status: 400 }));
    const { body } = await harness.provider({ apiKey: keys }).call(upstreamCall({ model: "small" }));
    expect(JSON.parse(Buffer.from(await readAll(body)).toString())).toEqual({ error: { message } });
  });

  it("are all kept from clients", async () => {
    const apiKey = keys.map((key) => key.replace("sk-", "plain words "));
    expect(harness.provider({ apiKey }).secrets?.().keys).toEqual(apiKey);
    const provider = harness.provider({ apiKey: () => apiKey });
    await callOnce(provider);
    expect(provider.secrets?.().keys).toEqual(apiKey);
    const many = Array.from({ length: 60 }, (_, index) => `many-${index}`);
    const large = harness.provider({ apiKey: () => many });
    await callOnce(large);
    expect(large.secrets?.().keys).toEqual(many);
  });

  it("that a function gives must be some, and fit into a header", async () => {
    for (const wrong of [[], ["good", "line\nbreak"], [7]]) {
      const provider = harness.provider({ apiKey: (() => wrong) as never });
      await expect(provider.call(upstreamCall())).rejects.toMatchObject({ failure: "unreachable" });
    }
    expect(harness.upstream.requests).toEqual([]);
  });
});

it.each([
  [[], "must hold 1 to 100 keys"],
  [["a", ""], "must not hold an empty key"],
  [["a", "a"], "must not hold a key twice"],
  [["a", ["b"]], "must not be nested"],
  [["a", "secret\nbreak"], "does not fit into a header"],
])("a list of %j is refused", (apiKey, problem) => {
  const make = () => openAICompatible({ baseURL: "http://localhost/v1", apiKey: apiKey as string[] });
  expect(make).toThrow(problem);
  expect(make).not.toThrow("secret");
});

it("a request at one key's limit is served by another, as one attempt", async () => {
  const upstream = await startFakeUpstream();
  upstream.reply(refusing([keys[0]], 429, { "retry-after": "60" }));
  const fake = openAICompatible({ baseURL: upstream.url, apiKey: keys.slice(0, 2) });
  const { gateway, events, close } = await startTestGateway({ providers: { fake } });
  const response = await gateway.handler(chatRequest());
  expect(response.status).toBe(200);
  await response.text();
  expect(events).toMatchObject([{ attempts: [{ status: 200, outcome: "completed" }] }]);
  expect(upstream.requests).toHaveLength(2);
  await close();
  await upstream.close();
});

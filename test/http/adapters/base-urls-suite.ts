import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { APICallError, generateText, type LanguageModel } from "ai";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Adapter, type HostedGateway, hostAnswers, type Place, startHosted } from "../../support/adapters/host.js";
import { authorized, chatCall } from "./client.js";

const messages = [{ role: "user" as const, content: "Hi" }];
const ask = { model: "acme/small", messages };
const asBrowser = { headers: { accept: "text/html" } };

/** What a client gets to know whose base URL has one `/v1` too few or too many. */
export function describeBaseURLs(adapter: Adapter, place: Place): void {
  describe("a base URL", () => {
    let test: HostedGateway;
    beforeAll(async () => {
      test = await startHosted(adapter, place);
    });
    afterAll(() => test.close());
    const { prefix } = place;
    const base = (end: string) => (test.host.origin ?? "http://gateway.test") + prefix + end;
    /** Without a server, the host is called. */
    const hostFetch: typeof fetch = async (input, init) => {
      const { pathname, search } = new URL(input instanceof Request ? input.url : input);
      return test.host.fetch(pathname + search, { ...init, duplex: "half" } as RequestInit & { duplex: "half" });
    };
    const openai = (end: string) =>
      new OpenAI({ baseURL: base(end), apiKey: "sk-pro", fetch: hostFetch, maxRetries: 0 });
    const anthropic = (end: string) =>
      new Anthropic({ baseURL: base(end), apiKey: "sk-pro", fetch: hostFetch, maxRetries: 0 });
    const failureOf = (call: () => PromiseLike<unknown>) =>
      Promise.resolve(call()).then(undefined, (error: unknown) => error);

    const tooMany = (path: string) =>
      `The base URL has one "/v1" too many: take it off the end. This request belongs to ${prefix}${path}.`;
    const tooFew = `The base URL lacks "/v1": it must end in "${prefix}/v1".`;

    it("of the OpenAI SDK with two /v1 is told", async () => {
      const client = openai("/v1/v1");
      const calls: [() => PromiseLike<unknown>, string][] = [
        [() => client.chat.completions.create(ask), "/v1/chat/completions"],
        [() => client.chat.completions.create({ ...ask, stream: true }), "/v1/chat/completions"],
        [() => client.responses.create({ model: "acme/small", input: "Hi" }), "/v1/responses"],
        [() => client.responses.retrieve("resp_1"), "/v1/responses/resp_1"],
        [() => client.embeddings.create({ model: "acme/embed", input: "Hi" }), "/v1/embeddings"],
        [() => client.models.list(), "/v1/models"],
        [() => client.models.retrieve("small"), "/v1/models/small"],
      ];
      for (const [call, path] of calls) {
        const error = await failureOf(call);
        expect(error).toBeInstanceOf(OpenAI.NotFoundError);
        expect(error).toMatchObject({
          status: 404,
          code: "unknown_url",
          message: expect.stringContaining(tooMany(path)),
        });
      }
    });

    it("of the Anthropic SDK that ends in /v1 is told, in Anthropic's shape", async () => {
      const client = anthropic("/v1");
      const calls: [() => PromiseLike<unknown>, string][] = [
        [() => client.messages.create({ ...ask, max_tokens: 5 }), "/v1/messages"],
        [() => client.messages.countTokens(ask), "/v1/messages/count_tokens"],
        [() => client.models.list(), "/v1/models"],
      ];
      for (const [call, path] of calls) {
        const error = await failureOf(call);
        expect(error).toBeInstanceOf(Anthropic.NotFoundError);
        expect(error).toMatchObject({
          requestID: expect.stringMatching(/^req_/),
          error: { type: "error", error: { type: "not_found_error", code: "unknown_url" } },
        });
        expect((error as Error).message).toContain(JSON.stringify(tooMany(path)).slice(1, -1));
      }
    });

    it("with two /v1 is told, whatever is encoded in the path", async () => {
      const response = await test.host.fetch(`${prefix}/v1/v1/models/acme%2Fsmall%20%22`, { headers: authorized });
      expect([response.status, await response.text()]).toEqual([
        404,
        expect.stringContaining(`belongs to ${prefix}/v1/models/acme`),
      ]);
    });

    it("without /v1 is told below a prefix", async () => {
      if (prefix === "") return;
      const client = openai("");
      const calls = [
        () => client.chat.completions.create(ask),
        () => client.responses.create({ model: "acme/small", input: "Hi" }),
        () => client.embeddings.create({ model: "acme/embed", input: "Hi" }),
        () => client.models.list(),
        () => client.models.retrieve("small"),
        // Routers decode it.
        () => client.models.retrieve("acme/small"),
        () => client.models.retrieve('ö %"'),
      ];
      for (const call of calls) {
        const error = await failureOf(call);
        expect(error).toMatchObject({ status: 404, code: "unknown_url", message: expect.stringContaining(tooFew) });
      }
      const models: [LanguageModel, string][] = [
        [createAnthropic({ baseURL: base(""), apiKey: "sk-pro", fetch: hostFetch })("acme/small"), "not_found_error"],
        [createAnthropic({ baseURL: base(""), authToken: "own", fetch: hostFetch })("acme/small"), "not_found_error"],
        [
          createOpenAICompatible({ name: "acme", baseURL: base(""), apiKey: "sk-pro", fetch: hostFetch })("acme/small"),
          "unknown_url",
        ],
      ];
      for (const [model, word] of models) {
        const error = await failureOf(() => generateText({ model, prompt: "Hi" }));
        expect(APICallError.isInstance(error) && [error.statusCode, error.message]).toEqual([
          404,
          expect.stringContaining(tooFew),
        ]);
        expect((error as APICallError).responseBody).toContain(`"${word}"`);
      }
    });

    it("that is told calls no model and reads no key", async () => {
      const before = test.upstream.requests.length;
      for (const headers of [authorized, {}]) {
        const response = await test.host.fetch(`${prefix}/v1/v1/chat/completions`, chatCall({}, { headers }));
        expect([response.status, response.headers.get("content-type")]).toEqual([404, "application/json"]);
      }
      expect(test.upstream.requests.length).toBe(before);
    });

    it("that is right is served, whatever else is told", async () => {
      expect((await openai("/v1").models.list()).data.length).toBe(4);
      expect(await anthropic("").messages.countTokens(ask)).toEqual({ input_tokens: expect.any(Number) });
    });

    it("takes no path from the app", async () => {
      if (!adapter.passesOn) return;
      const jwt = { authorization: "Bearer eyJhbGciOiJIUzI1NiJ9.e30.x", "content-type": "application/json" };
      const own: [string, RequestInit][] = [
        ["/messages", { method: "POST", headers: jwt, body: "{}" }],
        ["/models", { headers: jwt }],
        ["/models", asBrowser],
        ["/responses/5", asBrowser],
        ["/chat/completions", { method: "POST", body: "{}", headers: { "content-type": "application/json" } }],
        ["/messages", { headers: { "x-api-key": "sk-pro" } }],
        ["/other", { headers: authorized }],
        ["/v1/v1/other", { headers: authorized }],
        ["/v1/v1", { headers: authorized }],
      ];
      for (const [path, init] of own) {
        const response = await test.host.fetch(prefix + path, init);
        expect([path, response.status, await response.text()]).toEqual([path, 404, hostAnswers.notFound]);
      }
      if (prefix !== "") return;
      const response = await test.host.fetch("/messages", {
        method: "POST",
        headers: { "anthropic-version": "2023-06-01" },
      });
      expect([response.status, await response.text()]).toEqual([404, hostAnswers.notFound]);
    });
  });
}

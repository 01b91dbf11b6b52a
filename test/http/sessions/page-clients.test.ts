import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ClientServer, startServer } from "../../e2e/clients/start-server.js";

/** What a browser adds to the requests of the host's own pages. */
const byBrowser = { cookie: "session=s1", "sec-fetch-site": "same-origin" };
const ask = { model: "acme/small", messages: [{ role: "user" as const, content: "Hello!" }] };

describe("an SDK in a page of the host's own app", () => {
  let server: ClientServer;
  beforeEach(async () => {
    server = await startServer({
      identify: (request) =>
        request.header("cookie") === "session=s1" && { account: "acct_browser", plan: "basic", anchor: null },
    });
  });
  afterEach(() => server.close());
  const sources = () => server.events.map(({ source, account }) => `${source} ${account}`);

  it("is the OpenAI SDK that sends no key", async () => {
    const client = new OpenAI({
      baseURL: server.baseURL,
      apiKey: "unused",
      dangerouslyAllowBrowser: true,
      defaultHeaders: { Authorization: null, ...byBrowser },
    });
    const answer = await client.chat.completions.create(ask);
    expect(answer.choices[0]?.message.content).toBe("Hello world");
    let text = "";
    for await (const chunk of await client.chat.completions.create({ ...ask, stream: true })) {
      text += chunk.choices[0]?.delta.content ?? "";
    }
    expect(text).toBe("Hello world");
    await server.checkBooks();
    expect(sources()).toEqual(["session acct_browser", "session acct_browser"]);
  });

  it("is not the OpenAI SDK that sends the key which it insists on", async () => {
    const client = new OpenAI({ baseURL: server.baseURL, apiKey: "unused", defaultHeaders: byBrowser, maxRetries: 0 });
    await expect(client.chat.completions.create(ask)).rejects.toThrow(OpenAI.AuthenticationError);
  });

  it("is the AI SDK without a key", async () => {
    const acme = createOpenAICompatible({ name: "acme", baseURL: server.baseURL, headers: byBrowser });
    expect((await generateText({ model: acme("acme/small"), prompt: "Hello!" })).text).toBe("Hello world");
    expect(await streamText({ model: acme("acme/small"), prompt: "Hello!" }).text).toBe("Hello world");
    await server.checkBooks();
    expect(sources()).toEqual(["session acct_browser", "session acct_browser"]);
  });

  it("is refused once in a page of another app, and not retried", async () => {
    const headers = { ...byBrowser, "sec-fetch-site": "same-site", Authorization: null };
    const client = new OpenAI({ baseURL: server.baseURL, apiKey: "unused", defaultHeaders: headers });
    const failed = client.chat.completions.create(ask);
    await expect(failed).rejects.toThrow(OpenAI.PermissionDeniedError);
    await expect(failed).rejects.toMatchObject({ code: "cross_site_request" });
    expect(server.attempts()).toBe(1);
  });
});

import { rm, symlink } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatChunks, createGate, eventStream, type FakeUpstream, startFakeUpstream } from "../../../src/testing.js";
import { chromiumPath, launchChromium } from "../browser/support/chromium.js";
import { exampleFolder, NextApp } from "./next-app.js";

let upstream: FakeUpstream;
let app: NextApp | undefined;
let origin: string;
let client: OpenAI;

beforeAll(async () => {
  upstream = await startFakeUpstream();
  app = new NextApp(exampleFolder("next"), {
    UPSTREAM_BASE_URL: upstream.url,
    UPSTREAM_API_KEY: "sk-upstream",
    UPSTREAM_MODEL: "up",
  });
  await app.build();
  await app.start();
  origin = app.origin;
  client = new OpenAI({ baseURL: `${origin}/api/ai/v1`, apiKey: "sk-demo" });
}, 300_000);

afterAll(async () => {
  await app?.stop();
  await upstream.close();
});

const question = { model: "acme/small", messages: [{ role: "user" as const, content: "Hello!" }] };

it("answers whole, with the stock's headers", async () => {
  const { data, response } = await client.chat.completions.create(question).withResponse();
  expect(data.choices[0]?.message.content).toBe("Hello world");
  expect(response.headers.get("x-ratelimit-limit-session")).toBe("100");
});

it("streams each event before the next one is there", async () => {
  const gate = createGate();
  upstream.replyOnce(eventStream(chatChunks("Hello wide world"), { gate }));
  gate.step(2);
  const words: string[] = [];
  for await (const chunk of await client.chat.completions.create({ ...question, stream: true })) {
    words.push(chunk.choices[0]?.delta.content ?? "");
    if (words.length < 4) gate.step();
    else gate.open();
  }
  expect(words).toEqual(["", "Hello", " wide", " world", ""]);
});

it("reads a form with a file to its end, with a length and in chunks, and refuses what is none", async () => {
  const file = Buffer.alloc(3 * 1024 * 1024, "a sound, ");
  const opening = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.ogg"\r\n\r\n';
  const ending = '\r\n--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nacme/none\r\n--b--\r\n';
  const form = Buffer.concat([Buffer.from(opening), file, Buffer.from(ending)]);
  const send = async (body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>) => {
    const response = await fetch(`${origin}/api/ai/v1/audio/transcriptions`, {
      method: "POST",
      headers: { authorization: "Bearer sk-demo", "content-type": "multipart/form-data; boundary=b" },
      ...{ body, duplex: "half" },
    });
    const { error } = (await response.json()) as { error: { code: string } };
    return [response.status, error.code];
  };
  // The model stands behind the file.
  expect(await send(new Uint8Array(form))).toEqual([404, "model_not_found"]);
  const chunks = Array.from({ length: 50 }, (_, at) =>
    form.subarray((at * form.length) / 50, ((at + 1) * form.length) / 50),
  );
  expect(await send(ReadableStream.from(chunks) as ReadableStream<Uint8Array>)).toEqual([404, "model_not_found"]);
  expect(await send(new Uint8Array(form.subarray(0, -4)))).toEqual([400, "invalid_form"]);
});

it("stops the upstream when the client leaves", async () => {
  const gate = createGate();
  upstream.replyOnce(eventStream(chatChunks("Hello wide world"), { gate }));
  gate.step(2);
  for await (const _chunk of await client.chat.completions.create({ ...question, stream: true })) break;
  expect(await upstream.lastRequest.closed).toBe("broken");
});

it("lists and retrieves models", async () => {
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual(["acme/small"]);
  expect(await client.models.retrieve("acme/small")).toMatchObject({ id: "acme/small" });
});

it("answers HEAD, OPTIONS, wrong keys and unknown paths", async () => {
  const status = async (method: string, path: string, key = "sk-demo") =>
    (await fetch(`${origin}/api/ai${path}`, { method, headers: { authorization: `Bearer ${key}` } })).status;
  expect(await status("GET", "/healthz")).toBe(200);
  expect(await status("HEAD", "/v1/models")).toBe(200);
  expect(await status("OPTIONS", "/v1/chat/completions")).toBe(204);
  expect(await status("GET", "/v1/models", "sk-wrong")).toBe(401);
  expect(await status("GET", "/v1/nope")).toBe(404);
  expect(await status("GET", "/v1/models/acme%2Fnone")).toBe(404);
});

it("identifies a guest by cookies() of next/headers, until the cookie is gone", async () => {
  const call = (headers: Record<string, string>) =>
    fetch(`${origin}/api/ai/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin", ...headers },
      body: JSON.stringify(question),
    });
  const guest = await fetch(`${origin}/api/guest`, { method: "POST" });
  const [cookie = ""] = (guest.headers.get("set-cookie") ?? "").split(";");
  expect(cookie).toMatch(/^guest=guest_/);

  const served = await call({ cookie });
  expect(served.status).toBe(200);
  expect(served.headers.get("x-ratelimit-limit-session")).toBe("1");
  expect(served.headers.get("cache-control")).toBe("no-store");
  expect((await call({})).status).toBe(401);
  expect((await call({ cookie: `${cookie}x` })).status).toBe(401);
  expect((await call({ cookie, authorization: "Bearer sk-wrong" })).status).toBe(401);
  expect((await call({ cookie, "sec-fetch-site": "cross-site" })).status).toBe(403);
  const usage = await fetch(`${origin}/api/ai/v1/usage`, { headers: { cookie } });
  expect(await usage.json()).toMatchObject({ plan: "guest" });

  const left = await fetch(`${origin}/api/guest`, { method: "DELETE", headers: { cookie } });
  expect(left.headers.get("set-cookie")).toMatch(/^guest=;/);
});

it.skipIf(chromiumPath === undefined)(
  "shows the account page to a guest, who makes a key there and calls with it",
  async () => {
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      const problems: string[] = [];
      page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
      page.on("pageerror", ({ message }) => problems.push(message));
      await page.request.post(`${origin}/api/guest`);
      await page.goto(`${origin}/account`);
      await page.getByText("Plan guest").waitFor();
      await page.getByRole("meter", { name: "This session" }).waitFor();
      await page.getByRole("navigation").getByRole("link", { name: "API keys" }).click();
      await page.getByRole("button", { name: "New key" }).click();
      await page.getByLabel("Name").fill("Laptop");
      await page.getByRole("button", { name: "Make key" }).click();
      const secret = await page.locator("dialog code").first().textContent();
      await page.getByRole("button", { name: "I have kept it" }).click();
      const response = await fetch(`${origin}/api/ai/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
      expect(response.status).toBe(200);
      await page.goto(`${origin}/account#models`);
      await page.getByLabel("Message").fill("Hello!");
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByText("Hello world").waitFor();
      await page.getByText(/^Cost /).waitFor();
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
    }
  },
);

it("leaves the app's own pages alone", async () => {
  expect(await (await fetch(origin)).text()).toContain("An app like yours");
});

/** The packages of examples/next, in an app whose one route runs in the edge runtime. */
describe("in Next.js' edge runtime", () => {
  const folder = fileURLToPath(new URL("edge-app", import.meta.url));
  let edge: NextApp | undefined;
  let edgeClient: OpenAI;

  beforeAll(async () => {
    await rm(`${folder}/node_modules`, { force: true });
    await symlink(`${exampleFolder("next")}/node_modules`, `${folder}/node_modules`);
    edge = new NextApp(folder, { UPSTREAM_BASE_URL: upstream.url, UPSTREAM_API_KEY: "sk-upstream" });
    await edge.build();
    await edge.start();
    edgeClient = new OpenAI({ baseURL: `${edge.origin}/api/v1`, apiKey: "sk-demo", maxRetries: 0 });
  }, 300_000);
  afterAll(async () => {
    await edge?.stop();
    await rm(`${folder}/node_modules`, { force: true });
  });

  it("answers whole and streamed, for one account's credits", async () => {
    const { data, response } = await edgeClient.chat.completions.create(question).withResponse();
    expect(data.choices[0]?.message.content).toBe("Hello world");
    expect(response.headers.get("x-ratelimit-limit-session")).toBe("100");
    const words: string[] = [];
    for await (const chunk of await edgeClient.chat.completions.create({ ...question, stream: true })) {
      words.push(chunk.choices[0]?.delta.content ?? "");
    }
    expect(words.join("")).toBe("Hello world");
    const usage = await fetch(`${edge?.origin}/api/v1/usage`, { headers: { authorization: "Bearer sk-demo" } });
    const { windows } = (await usage.json()) as { windows: { session: { used: number } } };
    expect(windows.session.used).toBeGreaterThan(0);
  });

  it("refuses wrong keys, bytes that are no text, and what is no form, and reads a form that is one", async () => {
    await expect(edgeClient.withOptions({ apiKey: "sk-wrong" }).models.list()).rejects.toMatchObject({ status: 401 });
    const post = async (path: string, type: string, body: Uint8Array<ArrayBuffer> | string) => {
      const headers = { authorization: "Bearer sk-demo", "content-type": type };
      const response = await fetch(`${edge?.origin}/api/v1/${path}`, { method: "POST", headers, body });
      const { error } = (await response.json()) as { error: { code: string } };
      return [response.status, error.code];
    };
    expect(await post("chat/completions", "application/json", Uint8Array.of(0x7b, 0xff))).toEqual([
      400,
      "invalid_json",
    ]);
    const file = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.ogg"\r\n\r\na sound\r\n';
    const form = `${file}--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nacme/none\r\n--b--\r\n`;
    const sent = await post("audio/transcriptions", "multipart/form-data; boundary=b", form);
    expect(sent).toEqual([404, "model_not_found"]);
    const cut = await post("audio/transcriptions", "multipart/form-data; boundary=b", form.slice(0, -4));
    expect(cut).toEqual([400, "invalid_form"]);
  });
});

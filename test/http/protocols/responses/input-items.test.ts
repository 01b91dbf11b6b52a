import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { KeptResponse, ResponseStore } from "../../../../src/responses/response-store.js";
import { memoryResponseStore } from "../../../../src/stores/memory/memory-response-store.js";
import { ManualClock } from "../../../../src/testing.js";
import { chatServer } from "../../../support/operations/responses/response-samples.js";
import {
  type ResponsesServer,
  refusalOf,
  withResponses,
} from "../../../support/operations/responses/responses-server.js";
import { startTestGateway } from "../../../support/test-gateway.js";

const items = (count: number, length = 1) =>
  Array.from({ length: count }, (_, index) => {
    const id = `item_${index}`;
    return { id, json: JSON.stringify({ id, type: "message", role: "user", content: "x".repeat(length) }) };
  });

function kept(id: string, input: KeptResponse["input"], account = "acct_pro"): KeptResponse {
  const response = JSON.stringify({ id, object: "response", output: [] });
  return { id, account, createdAt: 1, previousResponseId: undefined, response, input, output: [] };
}

const get = ({ baseURL }: ResponsesServer, path: string, init: RequestInit = {}) =>
  fetch(`${baseURL}/responses/${path}`, { headers: { authorization: "Bearer sk-pro" }, ...init });

interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

/** A store whose pages the gateway makes itself. */
function plain(store: ResponseStore): ResponseStore {
  const { measureChain: _chain, measureItems: _items, findInput: _input, ...rest } = store;
  return rest;
}

const memory = () => memoryResponseStore();

describe.each([
  ["gives pages", memory],
  ["does not know of pages", () => plain(memory())],
])("the input items of a store that %s", (_name, make) => {
  const responses = make();

  it(
    "come twenty at a time, the last one first, and as many as are asked for",
    withResponses(
      chatServer,
      async (server) => {
        await responses.put(kept("resp_1", items(45)));
        const page = async (query: string) => (await (await get(server, `resp_1/input_items${query}`)).json()) as Page;
        const ids = ({ data }: Page) => data.map(({ id }) => Number(id.slice("item_".length)));
        const first = await page("");
        expect(ids(first)).toEqual(Array.from({ length: 20 }, (_, index) => 44 - index));
        expect(first).toMatchObject({ object: "list", first_id: "item_44", last_id: "item_25", has_more: true });
        expect(ids(await page("?limit=2&order=asc"))).toEqual([0, 1]);
        expect(ids(await page("?limit=3&order=asc&after=item_1"))).toEqual([2, 3, 4]);
        expect(ids(await page("?limit=3&order=desc&after=item_2&include[]=x"))).toEqual([1, 0]);
        expect(await page("?limit=100&order=asc")).toMatchObject({ first_id: "item_0", has_more: false });
        expect(await page("?after=item_0")).toMatchObject({ data: [], first_id: null, last_id: null, has_more: false });
        const client = new OpenAI({ apiKey: "sk-pro", baseURL: server.baseURL, maxRetries: 0 });
        const found: string[] = [];
        for await (const item of client.responses.inputItems.list("resp_1", { limit: 7, order: "asc" })) {
          found.push(item.id ?? "");
        }
        expect(found).toEqual(items(45).map(({ id }) => id));
      },
      { responses },
    ),
  );

  it.each([
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=ten", "limit"],
    ["limit=", "limit"],
    ["order=up", "order"],
    ["after=item_99", "after"],
    ["after=", "after"],
  ])("are refused for ?%s", async (query, param) => {
    await withResponses(
      chatServer,
      async (server) => {
        await responses.put(kept("resp_1", items(3)));
        expect(await refusalOf(await get(server, `resp_1/input_items?${query}`))).toMatchObject({ status: 400, param });
        expect((await get(server, `resp_2/input_items?${query}`)).status).toBe(query.startsWith("after") ? 404 : 400);
      },
      { responses },
    )();
  });
});

describe("what is read of kept responses", () => {
  const mebibyte = 2 ** 20;

  async function start(options: { responses: ResponseStore; maxPendingBodyBytes: number }) {
    const test = await startTestGateway({ maxBodyBytes: mebibyte, ...options });
    const read = (path: string, key = "sk-pro", method = "GET") =>
      test.gateway.handler(
        new Request(`http://gateway.test/v1/responses/${path}`, {
          method,
          headers: { authorization: `Bearer ${key}` },
        }),
      );
    return { ...test, read };
  }

  it("counts as bodies that wait do, until its client has taken it or has left", async () => {
    const responses = memoryResponseStore();
    const { read, close } = await start({ responses, maxPendingBodyBytes: 4 * mebibyte });
    await responses.put(kept("resp_1", items(4, 120_000)));
    await responses.put(kept("resp_2", items(4, 120_000), "acct_basic"));
    // An account has a quarter of it: one of these at a time.
    const first = await read("resp_1/input_items");
    const second = await read("resp_1/input_items");
    const third = await read("resp_1/input_items");
    expect([first.status, second.status, third.status]).toEqual([200, 200, 429]);
    expect(third.headers.get("retry-after")).toBe("2");
    expect(third.headers.get("connection")).toBeNull();
    expect((await read("resp_2/input_items", "sk-basic")).status).toBe(200);
    expect(((await second.json()) as Page).data).toHaveLength(4);
    expect((await read("resp_1/input_items")).status).toBe(200);
    await first.body?.cancel();
    expect((await read("resp_1/input_items")).status).toBe(200);
    // What is refused, short or has no body takes no room.
    for (const path of ["resp_1/input_items?limit=0", "resp_9/input_items", "resp_9"]) await read(path);
    await close();
  });

  it("is written piece by piece, as it is taken", async () => {
    const responses = memoryResponseStore();
    const { read, close } = await start({ responses, maxPendingBodyBytes: 16 * mebibyte });
    const text = JSON.stringify({ id: "resp_1", object: "response", text: "é".repeat(700_000) });
    await responses.put({ ...kept("resp_1", []), response: text });
    const reader = (await read("resp_1")).body?.getReader();
    const pieces: Uint8Array[] = [];
    for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read())
      pieces.push(piece.value);
    expect(Buffer.concat(pieces).toString()).toBe(text);
    expect(pieces.length).toBeGreaterThan(8);
    for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(192 * 1024);
    expect(await (await read("resp_1", "sk-pro", "HEAD")).text()).toBe("");
    await close();
  });

  it("is read 200 times at once, and 20 times a second", async () => {
    const clock = new ManualClock(1_800_000_000_000);
    const responses = memoryResponseStore({ clock });
    const test = await startTestGateway({ responses, clock });
    await responses.put(kept("resp_1", items(2)));
    const read = async (key: string) =>
      (
        await test.gateway.handler(
          new Request("http://gateway.test/v1/responses/resp_1", { headers: { authorization: `Bearer ${key}` } }),
        )
      ).status;
    for (let count = 0; count < 200; count++) expect(await read("sk-pro")).toBe(200);
    expect(await read("sk-pro")).toBe(429);
    expect(await read("sk-basic")).toBe(404);
    clock.advance(1000);
    for (let count = 0; count < 20; count++) expect(await read("sk-pro")).toBe(200);
    expect(await read("sk-pro")).toBe(429);
    await test.close();
  });
});

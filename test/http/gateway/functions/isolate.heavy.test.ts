import { afterEach, describe, expect, it, vi } from "vitest";
import { createGateway } from "../../../../src/gateway/create-gateway.js";
import type { Gateway } from "../../../../src/gateway/gateway.js";
import { windowLimits } from "../../../../src/ledger/calendar.js";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryRequestLog } from "../../../../src/stores/memory/memory-request-log.js";
import { memoryResponseStore } from "../../../../src/stores/memory/memory-response-store.js";
import {
  memoryAccountStore,
  memoryKeyStore,
  memoryModelStore,
  memoryPlanStore,
} from "../../../../src/stores/memory/memory-stores.js";
import { chatAnswer, chatChunks } from "../../../../src/testing.js";
import { Random } from "../../../e2e/processes/spending/random.js";
import { journalOf } from "../../../support/journal-of.js";
import { chatRequest, smallModel } from "../../../support/test-gateway.js";
import { FakeIsolate } from "./fake-isolate.js";

const count = 200;
const width = 40;
/** Of the second and third, requests begin to write lines of others, and end. */
const seeds = process.env["RUN_SEED"] === undefined ? [20_261_128, 1, 5] : [Number(process.env["RUN_SEED"])];

let isolate: FakeIsolate | undefined;
afterEach(() => isolate?.close());

/** A gateway, all of whose stores and upstreams are those of the isolate. */
function setUp(isIsolate: boolean, seed = 1) {
  const random = new Random(seed);
  const worker = new FakeIsolate(random);
  isolate = worker;
  const ledger = memoryCreditLedger();
  const log = memoryRequestLog();
  const plans = memoryPlanStore({ pro: { models: ["acme/*"], credits: { session: 100, week: null, month: null } } });
  const gateway = createGateway({
    isolate: isIsolate,
    models: [],
    modelStore: worker.remote(memoryModelStore([{ ...smallModel, id: "acme/small" }])),
    keys: worker.remote(memoryKeyStore([{ key: "sk-pro", id: "key_pro", account: "acct", plan: "pro" }])),
    accounts: worker.remote(memoryAccountStore([{ id: "acct", plan: "pro" }])),
    plans: worker.remote({ find: (id: string) => plans.find(id) }),
    ledger: worker.remote({ ...ledger }),
    responses: worker.remote(memoryResponseStore()),
    requestLog: worker.remote(log),
    providers: { fake: openAICompatible({ baseURL: "http://up.test/v1", fetch: (_, init) => respond(worker, init) }) },
    secret: "the same in all isolates: 0123456789",
    requestId: (request) => request.header("x-call"),
    cacheTtlMs: 0,
    onRequestCompleted: () => worker.io(() => {}),
    onWarning: () => {},
  });
  return { worker, random, ledger, log, gateway };
}

/** Of an upstream, whole or as a stream, each piece of which is an operation. */
function respond(worker: FakeIsolate, init: RequestInit | undefined): Promise<Response> {
  const { stream } = JSON.parse(new TextDecoder().decode(init?.body as Uint8Array)) as { stream?: boolean };
  if (stream !== true) return worker.io(() => Response.json(chatAnswer()));
  const pieces = [...chatChunks().map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), "data: [DONE]\n\n"];
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) =>
        worker.io(() => {
          const piece = pieces.shift();
          if (piece === undefined) controller.close();
          else controller.enqueue(new TextEncoder().encode(piece));
        }),
    },
    { highWaterMark: 0 },
  );
  return worker.io(() => new Response(body, { headers: { "content-type": "text/event-stream" } }));
}

/** Sends 200 requests, 40 at a time, a third of which end in the middle. @returns those that went on to their end. */
async function run({ worker, random, gateway }: ReturnType<typeof setUp>) {
  const ends = new Map<string, string>();
  const endings = Array.from({ length: count }, (_, index) =>
    // The first of each forty ends as the others wait.
    index % width === 0 ? 0 : random.oneIn(3) ? random.below(8) : undefined,
  );
  const lasting = endings.flatMap((ending, index) => (ending === undefined ? [`call-${index}`] : []));
  for (let first = 0; first < count; first += width) {
    const these = endings.slice(first, first + width);
    these.forEach((ending, offset) => {
      const id = `call-${first + offset}`;
      void worker.request(ending, () => callOf(gateway, id, random.oneIn(2))).then((end) => ends.set(id, end));
    });
    await worker.drive(() => lasting.every((id) => ends.has(id) || Number(id.slice(5)) >= first + width));
  }
  return { ends: lasting.map((id) => [id, ends.get(id)]), lasting };
}

/** What becomes of a request and its work. */
async function callOf(gateway: Gateway, id: string, stream: boolean): Promise<string> {
  const request = new Request(chatRequest({ stream, max_tokens: 100 }));
  request.headers.set("x-call", id);
  const works: Promise<unknown>[] = [];
  const response = await gateway.handler(request, { waitUntil: (work) => void works.push(work) });
  const text = await response.text();
  await Promise.all(works);
  return `${response.status} ${text.includes(" world") ? "whole" : text}`;
}

describe("a gateway whose requests end in the middle", () => {
  it.each(seeds)("lets all others come to their end in an isolate, and is exact (seed %i)", async (seed) => {
    const test = setUp(true, seed);
    const { ends, lasting } = await run(test);
    expect(lasting.length).toBeGreaterThan(100);
    expect(lasting.length).toBeLessThan(150);
    expect(ends).toEqual(lasting.map((id) => [id, "200 whole"]));

    const lines = new Map((await test.log.list({ limit: 1_000 })).requests.map((line) => [line.requestId, line]));
    const journal = await journalOf(test.ledger, "acct");
    const charges = new Map(journal.map(({ id, amountMicro }) => [id, amountMicro]));
    expect(lasting.map((id) => [id, charges.get(lines.get(id)?.callId ?? "")])).toEqual(lasting.map((id) => [id, 39]));

    // What the others held ends with their leases.
    vi.setSystemTime(Date.now() + 900_001);
    let swept = -1;
    void test.worker.request(undefined, async () => {
      swept = await test.gateway.sweep();
    });
    await test.worker.drive(() => swept >= 0);
    expect(swept).toBeGreaterThan(0);
    const credits = { session: 100e6, week: null, month: null };
    const limits = windowLimits({ credits, sessionMs: 18_000_000, now: Date.now() });
    const { session } = (await test.ledger.balance("acct", limits)).windows;
    const booked = (await journalOf(test.ledger, "acct")).reduce((sum, { amountMicro }) => sum + amountMicro, 0);
    expect([session.usedMicro, session.heldMicro]).toEqual([booked, 0]);
  });

  it("keeps others waiting where it does not know that it is in one", async () => {
    const { ends } = await run(setUp(false));
    expect(ends.filter(([, end]) => end !== "200 whole").length).toBeGreaterThan(10);
  });
});

import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { seed } from "../../../examples/demo/open-stores.js";
import { createGateway } from "../../../src/gateway/create-gateway.js";
import type { Gateway } from "../../../src/gateway/gateway.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import {
  chatChunks,
  eventStream,
  type FakeUpstream,
  hangBeforeHeaders,
  startFakeUpstream,
  wholeAnswer,
} from "../../../src/testing.js";
import { chatRequest } from "../../support/test-gateway.js";
import { type BackEnd, describeBackEnds } from "./back-ends.js";
import { type Books, readBooks } from "./books.js";
import { chatModel } from "./chat-model.js";
import type { Crumb } from "./crumb.js";
import { type DeathPoint, deathPoints } from "./death-points.js";
import { GatewayProcess } from "./gateway-process.js";

/** The shortest there is: what a dead process held is free after so long. */
const leaseMs = 1_000;

/** Three calls hold more than this, two of them less: what all of them held would refuse the next call. */
const credits = 0.0022;

/** How many processes live and die at once. */
const parallel = 5;

/** Each process has three calls under way when it is killed, one of them at the point named. */
export function describeCrashes({ crashes }: { crashes: number }): void {
  let upstream: FakeUpstream;

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    const answers = {
      whole: wholeAnswer(),
      waiting: hangBeforeHeaders(),
      streaming: eventStream(chatChunks("The quick brown fox").slice(0, 4), { end: "hang" }),
    };
    upstream.reply((request, response) => answers[request.json.user as keyof typeof answers](request, response));
  });
  afterAll(async () => {
    await upstream?.close();
  });

  describeBackEnds("A gateway's process that is killed", (backEnd) => {
    it(`leaves books that balance, and its stock within a lease: ${crashes} times`, {
      timeout: 1_200_000,
    }, async () => {
      const { stores } = backEnd();
      const survivor = createGateway({
        models: [chatModel],
        keys: stores.keys,
        plans: stores.plans,
        ledger: stores.ledger,
        providers: { fake: openAICompatible({ baseURL: upstream.url }) },
      });
      const deaths = inRandomOrder(crashes);
      const seen = new Set<string>();
      const dieOn = async () => {
        for (let death = deaths.pop(); death !== undefined; death = deaths.pop()) {
          for (const outcome of await dieOnce(death, backEnd(), survivor)) seen.add(outcome);
        }
      };
      await Promise.all(Array.from({ length: parallel }, dieOn));
      // What the deaths are there for has come up. Whether what was just sent arrives is a matter of luck, which a few deaths need
      // not have.
      const outcomes = crashes > 50 ? ["nothing", "checkpoint", "settled"] : ["nothing"];
      expect([...seen]).toEqual(expect.arrayContaining(outcomes));
      await survivor.close();
    });
  });

  async function dieOnce(death: Death, { environment, stores }: BackEnd, survivor: Gateway): Promise<string[]> {
    const name = `${death.point}, ${death.serial}`;
    const [account, key] = [`crash-${death.serial}`, `sk-crash-${death.serial}`];
    await seed(stores, { key, account }, { id: "crash", models: ["acme/*"], credits: { session: credits } });
    const gateway = await GatewayProcess.start(environment, upstream.url, leaseMs);
    try {
      const read = async (user: string) => {
        const response = await gateway.call(key, { user, stream: user === "streaming" });
        await response.body?.getReader().read();
      };
      // Neither is ever answered to the end.
      const waiting = read("waiting").catch(() => {});
      await read("streaming");
      await gateway.dieAt(death.point, death.count);
      await read(death.point === "in the middle of a stream" ? "streaming" : "whole").catch(() => {});
      await Promise.all([waiting, gateway.ended]);
    } finally {
      await gateway.kill();
    }
    expect([name, gateway.signal]).toEqual([name, "SIGKILL"]);
    const traces = traceCalls(gateway.crumbs);

    // For a lease, and no longer: the process has been dead since before this wait.
    await pause(leaseMs);
    expect([name, (await readBooks(stores, account)).held]).toEqual([name, 0]);
    // The credits are there for others, and as this writes, what has expired enters the journal.
    const next = await survivor.handler(chatRequest({ user: "whole" }, key));
    expect([name, next.status, await next.text()]).toMatchObject([name, 200, expect.any(String)]);

    const books = await readBooks(stores, account);
    expect([name, books.held]).toEqual([name, 0]);
    expect([name, books.used]).toEqual([name, books.booked]);
    const own = next.headers.get("x-request-id") ?? "";
    expect([...books.charges.keys()].filter((id) => id !== own && !traces.has(id))).toEqual([]);
    return [...traces].map(([id, trace]) => verifyCall(`${name}, ${id}`, id, trace, books));
  }
}

interface Death {
  point: DeathPoint;
  /** Of the event loop's turns between sending and death, or of renewals before it. */
  count: number;
  serial: number;
}

function inRandomOrder(crashes: number): Death[] {
  const deaths = Array.from({ length: crashes }, (_, serial) => {
    const point = deathPoints[serial % deathPoints.length] as DeathPoint;
    const most = point === "in the middle of a stream" ? 2 : 6;
    return { point, count: 1 + Math.floor(Math.random() * most), serial };
  });
  return deaths
    .map((death) => ({ death, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ death }) => death);
}

type Trace = Partial<Record<Crumb["step"], number>>;

/** The last that is known of each call's steps. */
function traceCalls(crumbs: readonly Crumb[]): Map<string, Trace> {
  const traces = new Map<string, Trace>();
  for (const { id, step, micro } of crumbs) traces.set(id, { ...traces.get(id), [step]: micro });
  return traces;
}

/** @returns what has become of it. */
function verifyCall(name: string, id: string, trace: Trace, { journal, charges }: Books): string {
  const charge = charges.get(id) ?? 0;
  const entries = journal.filter((entry) => entry.id === id).map(({ kind, amountMicro }) => [kind, amountMicro]);
  const possible: number[] = [];
  if (trace.settled !== undefined) {
    possible.push(trace.settled);
  } else {
    // Nothing was answered to it: it has taken effect, or it has not.
    possible.push(trace.renewed ?? 0);
    if (trace.renewing !== undefined) possible.push(trace.renewing);
    if (trace.settling !== undefined) possible.push(trace.settling);
  }
  expect([name, possible.includes(charge)], JSON.stringify({ trace, entries })).toEqual([name, true]);
  if (charge === 0) return "nothing";
  return entries[0]?.[0] === "checkpoint" ? "checkpoint" : "settled";
}

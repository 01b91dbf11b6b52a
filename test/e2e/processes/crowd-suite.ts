import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { seed } from "../../../examples/demo/open-stores.js";
import {
  chatAnswer,
  chatChunks,
  eventStream,
  type FakeUpstream,
  startFakeUpstream,
  wholeAnswer,
} from "../../../src/testing.js";
import { type BackEnd, describeBackEnds } from "./back-ends.js";
import { readBooks } from "./books.js";
import { GatewayProcess } from "./gateway-process.js";

/** What becomes of a call: some come to less than their hold, and some to nothing. */
const fates = ["whole", "whole", "streamed", "streamed", "cut", "failed", "left"] as const;
type Fate = (typeof fates)[number];

/** What a call can cost at most, and what is held for it, in micro-credits: 100 tokens of output, and the prompt. */
const mostMicro = 1_100;

/** As long as a reservation is held that a gateway gave up waiting for. */
const leaseMs = 10_000;

/** For a machine that has other things to do. */
const timeout = 600_000;

export interface Crowd {
  processes: number;
  /** Calls in flight in each process. */
  parallel: number;
  /** The credits of the account's session: what all of them use up. */
  credits: number;
}

/** Many processes spend from one account until nothing is left; then its books must balance. */
export function describeCrowd({ processes, parallel, credits }: Crowd): void {
  let upstream: FakeUpstream;

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    upstream.reply((request, response) => {
      const [fate, tokens] = (request.json.user as string).split(" ") as [Fate, string];
      const usage = { prompt_tokens: 9, completion_tokens: Number(tokens), total_tokens: 9 + Number(tokens) };
      const chunks = chatChunks("The quick brown fox", { usage });
      const answers = {
        whole: wholeAnswer(chatAnswer({ usage })),
        streamed: eventStream(chunks),
        cut: eventStream(chunks.slice(0, 3), { end: "cut" }),
        left: eventStream(chunks.slice(0, 3), { end: "hang" }),
        failed: wholeAnswer("<html>", { status: 500 }),
      };
      return answers[fate](request, response);
    });
  });
  afterAll(async () => {
    await upstream?.close();
  });

  describeBackEnds(`${processes} gateway processes`, (backEnd) => {
    it("let an account overspend by less than one request, and account for every micro-credit", {
      timeout,
    }, async () => {
      const { environment, stores } = backEnd();
      const plan = { id: "crowd", models: ["acme/*"], credits: { session: credits } };
      await seed(stores, { key: "sk-crowd", account: "crowd" }, plan);
      const starts = Array.from({ length: processes }, () => GatewayProcess.start(environment, upstream.url, leaseMs));
      const gateways = await Promise.all(starts);
      try {
        await spendAll(gateways, parallel);
        const charges = await Promise.all(gateways.map((gateway) => gateway.end()));
        await verify({ environment, stores }, charges, credits * 1e6);
      } finally {
        await Promise.all(gateways.map((gateway) => gateway.kill()));
      }
    });
  });
}

async function spendAll(gateways: readonly GatewayProcess[], parallel: number): Promise<void> {
  let calls = 0;
  const spend = async (gateway: GatewayProcess) => {
    for (let refusals = 0; ; ) {
      const outcome = await call(gateway, fates[calls % fates.length] as Fate, 1 + ((calls++ * 37) % 100));
      if (outcome === "used up") return;
      refusals = outcome === "refused" ? refusals + 1 : 0;
      // To poll without pauses would use up the machine, and a store that is late would not catch up.
      if (refusals > 0) await pause(Math.min(1_000, 25 * 2 ** refusals) * (0.5 + Math.random() / 2));
    }
  };
  await Promise.all(gateways.flatMap((gateway) => Array.from({ length: parallel }, () => spend(gateway))));
}

async function call(gateway: GatewayProcess, fate: Fate, tokens: number): Promise<"answered" | "refused" | "used up"> {
  const leaving = new AbortController();
  const body = { user: `${fate} ${tokens}`, stream: !["whole", "failed"].includes(fate) };
  const response = await gateway.call("sk-crowd", body, leaving.signal);
  if (response.status === 429) {
    await response.text();
    // What is only held by others is there again in a moment.
    return response.headers.get("x-should-retry") === "false" ? "used up" : "refused";
  }
  if (response.status === 503 || response.status === 408) {
    // On a busy machine neither the store nor this process is always in time: the call is refused, and the books must
    // balance all the same.
    await response.text();
    return "refused";
  }
  if (fate === "failed") expect(response.status).toBe(502);
  else expect(response.status).toBe(200);
  if (fate === "left") {
    const reader = response.body?.getReader();
    await reader?.read();
    leaving.abort();
    await reader?.closed.catch(() => {});
  } else {
    await response.text();
  }
  return "answered";
}

async function verify({ stores }: BackEnd, charges: [string, number][][], limit: number): Promise<void> {
  if ((await readBooks(stores, "crowd")).held > 0) await pause(leaseMs);
  const { used, booked: folded, held, journal, charges: booked } = await readBooks(stores, "crowd");
  const heard = charges.flat().filter(([, micro]) => micro > 0);
  console.info(`${booked.size} of ${charges.flat().length} calls were charged, ${used} of ${limit} micro-credits.`);
  expect(held).toBe(0);
  expect(used).toBeGreaterThanOrEqual(limit);
  expect(used).toBeLessThan(limit + mostMicro);
  expect(folded).toBe(used);
  // By request: the charges that the hooks got are those in the journal, and each is there once.
  expect(new Map(heard)).toEqual(booked);
  expect(heard).toHaveLength(booked.size);
  expect(sum(heard.map(([, micro]) => micro))).toBe(used);
  const ends = journal.filter(({ kind }) => kind === "charge");
  expect(new Set(ends.map(({ id }) => id)).size).toBe(ends.length);
  for (const own of charges) expect(own.some(([, micro]) => micro > 0)).toBe(true);
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { type BackEnd, describeBackEnds } from "../back-ends.js";
import { allTerms } from "./account-terms.js";
import { auditAll } from "./accountant.js";
import { type Trace, traceSteps } from "./call-trace.js";
import { Random } from "./random.js";
import { type SpenderArguments, SpenderProcess } from "./spender-process.js";
import type { SpendingStep } from "./spending-step.js";

/** The shortest lease that there is. */
const shortLeaseMs = 1_000;
const timeout = 3_600_000;

const seed = Number(process.env["SPENDING_SEED"] ?? Date.now() % 1_000_000_000);

interface Suite {
  budget: number;
  cold: number;
  tasks: number;
}

/** Many processes at once, each with many calls, on a few hot accounts and many cold ones. */
export function describeSpending({ processes, calls, ...suite }: Suite & { processes: number; calls: number }): void {
  describeFiles(`${processes} spending processes`, (newFile, backEnd) => {
    it(`keep to all limits, and account for every micro-credit (seed ${seed})`, { timeout }, async () => {
      const settings = { ...suite, calls, leaseMs: 60_000, lotMs: 500 };
      const endowment = await endow(backEnd(), suite);
      const spenders = await Promise.all(
        Array.from({ length: processes }, (_, index) =>
          SpenderProcess.start(backEnd().environment, {
            ...settings,
            ...{ file: newFile(), seed: seed + index, name: `p${index}` },
          }),
        ),
      );
      for (const spender of spenders) spender.begin();
      const ends = await Promise.all(spenders.map((spender) => spender.end()));
      expect(ends.map(({ code }) => code)).toEqual(spenders.map(() => 0));
      const trace = traceSteps([...endowment, ...ends.flatMap(({ steps }) => steps)]);
      await verify(`${processes} processes`, backEnd(), suite, trace, 2 * settings.lotMs);
      // Windows, caps and rates have denied calls. Which of them, is a matter of luck.
      const [windows, rates] = [
        ["session", "week", "month"],
        ["requests", "tokens", "concurrent"],
      ];
      for (const kinds of [windows, ["cap"], rates]) {
        expect(kinds.filter((kind) => trace.denials.has(kind))).not.toEqual([]);
      }
    });
  });
}

/** One process after the other is killed while it spends. */
export function describeKilledSpenders({ kills, lotMs, ...suite }: Suite & { kills: number; lotMs: number }): void {
  describeFiles("A spending process that is killed", (newFile, backEnd) => {
    it(`leaves books that balance, and nothing held: ${kills} times (seed ${seed})`, { timeout }, async () => {
      const random = new Random(seed);
      const { environment } = backEnd();
      const settings = { ...suite, calls: null, leaseMs: shortLeaseMs, lotMs };
      const start = (index: number) => {
        const own = { file: newFile(), seed: seed + index, name: `k${index}` };
        return SpenderProcess.start(environment, { ...settings, ...own });
      };
      const steps = await endow(backEnd(), suite);
      let next = start(0);
      for (let index = 1; index <= kills; index++) {
        const spender = await next;
        spender.begin();
        // The next one gets ready meanwhile.
        if (index < kills) next = start(index);
        await spender.spending();
        await pause(random.below(200));
        spender.kill();
        const end = await spender.end();
        expect(end.code).toBe("SIGKILL");
        steps.push(...end.steps);
      }
      const trace = traceSteps(steps);
      const cut = [...trace.calls.values()].filter(({ lease, isSettled }) => lease !== undefined && !isSettled);
      expect(cut.length).toBeGreaterThan(0);
      console.info(`${cut.length} calls were open when their process was killed.`);
      await verify(`${kills} kills`, backEnd(), suite, trace, Math.max(shortLeaseMs, 2 * lotMs));
    });
  });
}

/** The store's server is killed while processes spend. They repeat what it did not answer. */
export function describeCrashingServers({
  crashes,
  processes,
  ...suite
}: Suite & { crashes: number; processes: number }): void {
  describeFiles("A server that is killed", (newFile, backEnd) => {
    it(`loses and repeats nothing: ${crashes} times (seed ${seed})`, { timeout }, async ({ skip }) => {
      const { crash, environment } = backEnd();
      if (crash === undefined) return skip("This store has no server.");
      const random = new Random(seed);
      const settings: Omit<SpenderArguments, "file" | "seed" | "name"> = {
        ...suite,
        ...{ calls: null, leaseMs: 10_000, lotMs: 5_000 },
      };
      const endowment = await endow(backEnd(), suite);
      const spenders = await Promise.all(
        Array.from({ length: processes }, (_, index) =>
          SpenderProcess.start(environment, { ...settings, file: newFile(), seed: seed + index, name: `s${index}` }),
        ),
      );
      for (const spender of spenders) spender.begin();
      for (let index = 0; index < crashes; index++) {
        await pause(300 + random.below(700));
        await crash();
      }
      await pause(300);
      for (const spender of spenders) spender.finish();
      const ends = await Promise.all(spenders.map((spender) => spender.end()));
      expect(ends.map(({ code }) => code)).toEqual(spenders.map(() => 0));
      const trace = traceSteps([...endowment, ...ends.flatMap(({ steps }) => steps)]);
      // A reservation whose answer was lost holds until its lease ends.
      const waitMs = Math.max(settings.leaseMs, 2 * settings.lotMs);
      await verify(`${crashes} crashes of the server`, backEnd(), suite, trace, waitMs);
    });
  });
}

/** Prepaid credits to begin with. */
async function endow({ stores }: BackEnd, { budget, cold }: Suite): Promise<SpendingStep[]> {
  const hot = allTerms(budget, cold).filter(({ kind, isToppedUp }) => isToppedUp && kind !== "cold");
  const topUps = hot.map(async ({ account }) => {
    const of = { id: `endowment-${account}`, account };
    await stores.ledger.topUp?.({ ...of, amountMicro: 1_000 });
    return { ...of, at: Date.now(), step: "topped up", micro: 1_000 } as const;
  });
  return Promise.all(topUps);
}

function describeFiles(name: string, body: (newFile: () => string, backEnd: () => BackEnd) => void): void {
  describeBackEnds(name, (backEnd) => {
    const folder = mkdtempSync(join(tmpdir(), "infergate-spending-"));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    let files = 0;
    body(() => join(folder, `${files++}.jsonl`), backEnd);
  });
}

/** @param waitMs - until no lease and no lot of the processes can be open any more. */
async function verify(name: string, { stores }: BackEnd, suite: Suite, trace: Trace, waitMs: number): Promise<void> {
  await pause(waitMs);
  const seen = await auditAll(stores.ledger, allTerms(suite.budget, suite.cold), trace);
  console.info(`${name}: ${JSON.stringify(seen)}`);
  // Where processes die young, what they have done is a matter of luck.
  if (seen.calls > 200) expect(Math.min(seen.prepaidCalls, seen.charged)).toBeGreaterThan(0);
}

import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createGateway } from "../../../../src/gateway/create-gateway.js";
import { hashKey } from "../../../../src/index.js";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import {
  chatAnswer,
  chatChunks,
  eventStream,
  type FakeAnswer,
  type FakeUpstream,
  startFakeUpstream,
  toEventBytes,
  wholeAnswer,
} from "../../../../src/testing.js";
import { type BackEnd, describeBackEnds } from "../back-ends.js";
import { chatModel, costedModel } from "../chat-model.js";
import type { Crumb } from "../crumb.js";
import { GatewayProcess } from "../gateway-process.js";
import { Random } from "../spending/random.js";
import { type Noted, type Served, verifyAccount, verifyBudgets } from "./agree.js";

const leaseMs = 1_000;
const seed = Number(process.env["RUN_SEED"] ?? Date.now() % 1_000_000_000);
const accounts = ["run-a", "run-b", "run-c"];
const members = ["m1", "m2"];

/** Calls through two processes, one of which is killed now and then with calls under way. */
export function describeRun({ calls, callsPerKill }: { calls: number; callsPerKill: number }): void {
  // A call costs about 500 micro-credits, more than accounts get. The first member, who makes three of four calls, comes
  // to the border of the budget before the account's credits are used up; the other one does not.
  const memberCredits = (0.3 * calls * 500) / 1_000_000 / accounts.length;
  let upstream: FakeUpstream;
  const served: Served[] = [];

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    const random = new Random(seed + 1);
    upstream.reply((request, response) => {
      const { user, stream } = request.json;
      // As few input tokens as are held for the prompt, so that no budget is overdrawn.
      const { input, output } = { input: 1 + random.below(8), output: 1 + random.below(90) };
      served[Number(user)] = { input, output };
      const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
      if (!stream) return wholeAnswer(chatAnswer({ usage }))(request, response);
      // Some last until what they have sent is reported to the store, so that a kill leaves a checkpoint.
      const chunks = chatChunks("One two three", { usage });
      return (random.oneIn(50) ? slowStream(chunks) : eventStream(chunks))(request, response);
    });
  });
  afterAll(() => upstream?.close());

  describeBackEnds("Two gateways' processes", (backEnd) => {
    it(`leave five books that agree: ${calls} calls with kills (seed ${seed})`, { timeout: 3_600_000 }, async () => {
      const { stores, environment } = backEnd();
      const gateway = createGateway({
        ...{ models: [chatModel, costedModel], keys: stores.keys, plans: stores.plans, ledger: stores.ledger },
        providers: { fake: openAICompatible({ baseURL: upstream.url }) },
      });
      await putKeys(backEnd(), memberCredits);
      const random = new Random(seed);
      const start = () => GatewayProcess.start(environment, upstream.url, leaseMs);
      const running = [await start(), await start()];
      const crumbs: Crumb[] = [];
      const idOf = new Map<string, number>();
      let serial = 0;
      let [killing, kills, refused] = [Promise.resolve(), 0, 0];
      const killOne = async () => {
        const place = kills++ % 2;
        const dead = running[place] as GatewayProcess;
        const next = await start();
        running[place] = next;
        await dead.kill();
        crumbs.push(...dead.crumbs);
      };
      const callOn = async () => {
        while (serial < calls) {
          const user = serial++;
          const account = random.of(accounts);
          if (user % callsPerKill === callsPerKill - 1) {
            killing = killing.then(killOne);
            await killing;
          }
          if (random.oneIn(40)) await gateway.accounts.topUp(account, { id: `top-${user}`, credits: 0.01 });
          if (random.oneIn(120)) await gateway.accounts.deduct(account, { id: `deduct-${user}`, credits: 0.002 });
          const body = { user: String(user), stream: random.oneIn(2), model: random.of(["acme/small", "acme/costed"]) };
          const process = random.of(running);
          const member = random.oneIn(4) ? members[1] : members[0];
          const done = process.call(`sk-${account}-${member}`, body).then(async (response) => {
            const answer = await response.text();
            if (answer.includes("budget_exceeded")) refused++;
            if (response.ok) idOf.set(response.headers.get("x-request-id") ?? "", user);
          });
          await done.catch(() => {});
        }
      };
      await Promise.all(Array.from({ length: 8 }, callOn));
      for (const process of running) {
        await process.end();
        crumbs.push(...process.crumbs);
      }
      await pause(leaseMs);
      const noted = note(crumbs, new Map([...idOf].map(([id, user]) => [id, served[user] as Served])));
      const journal = [];
      for (const account of accounts) {
        const calls = await verifyAccount(backEnd(), gateway, account, noted);
        await verifyBudgets(gateway, account, calls, members);
        journal.push(...calls);
      }
      const ids = new Set(journal.map(({ id }) => id));
      expect([...noted.settled].filter(([id, micro]) => micro > 0 && !ids.has(id))).toEqual([]);
      // Calls and tokens that the upstream has counted are those of the journal.
      const whole = [...idOf].filter(([id]) => noted.settled.has(id)).map(([id, user]) => [id, served[user]] as const);
      const tokens = new Map(journal.filter(({ kind }) => kind === "charge").map(({ id, tags }) => [id, tags]));
      const inJournal = whole.map(([id]) => [
        id,
        { input: tokens.get(id)?.["input"], output: tokens.get(id)?.["output"] },
      ]);
      expect(inJournal).toEqual(whole);
      // In a short run, whether a kill cuts a call off is a matter of luck.
      const checkpoints = journal.filter(({ kind }) => kind === "checkpoint").length;
      if (calls > 1_000) expect([noted.open.size, checkpoints, refused]).not.toContain(0);
      console.info(
        `${noted.settled.size} calls ended, ${noted.open.size} were cut off (${checkpoints} with a checkpoint), ` +
          `${whole.length} were read whole, ${refused} were over a member's budget.`,
      );
      await gateway.close();
    });
  });
}

function slowStream(chunks: readonly object[]): FakeAnswer {
  return async (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const chunk of chunks) {
      response.write(toEventBytes(chunk));
      await pause(leaseMs / 4);
    }
    response.end("data: [DONE]\n\n");
  };
}

async function putKeys({ stores }: BackEnd, memberCredits: number): Promise<void> {
  await stores.plans.put({
    ...{ id: "run", models: ["acme/*"], credits: { session: 0.02 } },
    budgets: [{ tag: "member", credits: { month: memberCredits } }],
  });
  for (const account of accounts) {
    await stores.ledger.topUp?.({ id: `endow-${account}`, account, amountMicro: 100_000 });
    for (const member of members) {
      const key = `sk-${account}-${member}`;
      const hash = hashKey(key);
      const of = { id: `key_${account}_${member}`, hash, hint: "sk-…", account, plan: "run", createdAt: Date.now() };
      await stores.keys.insert({ ...of, tags: { member } });
    }
  }
}

/** What a store has confirmed is final. Of the rest, each amount that was sent may have taken effect, or none. */
function note(crumbs: readonly Crumb[], served: ReadonlyMap<string, Served>): Noted {
  const [settled, open] = [new Map<string, number>(), new Map<string, Set<number>>()];
  for (const { id, step, micro } of crumbs) {
    if (step === "settled") settled.set(id, micro);
    else if (step === "reserving" || step === "reserved") open.set(id, open.get(id) ?? new Set([0]));
    else if (step !== "denied") open.get(id)?.add(micro);
    if (step === "denied") open.delete(id);
  }
  for (const id of settled.keys()) open.delete(id);
  return { settled, open, served };
}

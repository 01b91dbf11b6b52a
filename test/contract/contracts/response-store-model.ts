import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../../src/ledger/calendar.js";
import type { KeptItem, KeptResponse, ResponseStore } from "../../../src/responses/response-store.js";
import { start, unique } from "../../../src/testing/credit-ledger-fixture.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";

// Random histories of some 30 steps, told to the store and to a list of what was put: each step must answer the same, and
// what both accounts can find is compared in the end. FC_RUNS raises the number of histories.

const ttlMs = 30 * 86_400_000;
const ids = ["r0", "r1", "r2", "r3"] as const;
const itemIds = ["i0", "i1", "i2", "i3"] as const;
const accounts = ["a", "b"] as const;

interface Put {
  readonly kept: KeptResponse;
  readonly at: number;
}

/** What is kept, in the order in which it was put: the plainest store there can be. */
class Model {
  #puts: Put[] = [];
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  put(kept: KeptResponse): void {
    this.#drop(kept.account, kept.id);
    this.#puts.push({ kept, at: this.#clock.now() });
  }

  find(account: string, id: string): KeptResponse | undefined {
    return this.#alive(account).find((kept) => kept.id === id);
  }

  findChain(account: string, id: string, most: number): KeptResponse[] | undefined {
    const chain: KeptResponse[] = [];
    for (let next: string | undefined = id; next !== undefined; ) {
      const kept = this.find(account, next);
      if (kept === undefined || chain.length === most) return undefined;
      chain.unshift(kept);
      next = kept.previousResponseId;
    }
    return chain;
  }

  findItems(account: string, wanted: readonly string[]): Map<string, string> {
    const items = this.#alive(account).flatMap(({ input, output }) => [...input, ...output]);
    return new Map(items.filter(({ id }) => wanted.includes(id)).map(({ id, json }) => [id, json]));
  }

  delete(account: string, id: string): boolean {
    const found = this.find(account, id) !== undefined;
    this.#drop(account, id);
    return found;
  }

  forget(account: string): void {
    this.#puts = this.#puts.filter(({ kept }) => kept.account !== account);
  }

  #drop(account: string, id: string): void {
    this.#puts = this.#puts.filter(({ kept }) => kept.account !== account || kept.id !== id);
  }

  #alive(account: string): KeptResponse[] {
    const after = this.#clock.now() - ttlMs;
    return this.#puts.filter(({ kept, at }) => kept.account === account && at > after).map(({ kept }) => kept);
  }
}

const someItems = fc.array(fc.constantFrom(...itemIds), { maxLength: 3 });
const step = fc.record({
  account: fc.constantFrom(...accounts),
  id: fc.constantFrom(...ids),
  previous: fc.option(fc.constantFrom(...ids), { nil: undefined }),
  input: someItems,
  output: someItems,
  most: fc.integer({ min: 0, max: 5 }),
  advanceMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5 }), fc.constant(ttlMs / 3), fc.constant(ttlMs)),
  /** Which of the stores that share their data. */
  through: fc.nat(),
  operation: fc.oneof(
    { weight: 6, arbitrary: fc.constant("put" as const) },
    { weight: 2, arbitrary: fc.constant("findChain" as const) },
    { weight: 1, arbitrary: fc.constantFrom("find", "findItems", "delete", "advance") },
    { weight: 1, arbitrary: fc.constantFrom("delete", "forget", "advance") },
  ),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** @param make - makes stores that share their data, as processes do, and that take their time from the clock. */
export function describeResponseStoreModel(
  name: string,
  make: (clock: Clock) => readonly [ResponseStore, ...ResponseStore[]],
  { runs = 100 }: { runs?: number } = {},
): void {
  describe(`${name}, compared with a list of what was put`, () => {
    it("answers the same", { timeout: 120_000 }, async () => {
      const numRuns = Number(process.env["FC_RUNS"] ?? runs);
      const history = fc.array(step, { minLength: 20, maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(history, (steps) => follow(steps, make)),
        { numRuns },
      );
    });
  });
}

async function follow(steps: readonly Step[], make: (clock: Clock) => readonly [ResponseStore, ...ResponseStore[]]) {
  const clock = new ManualClock(start);
  const stores = make(clock);
  const model = new Model(clock);
  const scope = unique("model");
  for (const [serial, each] of steps.entries()) {
    const store = stores[each.through % stores.length] ?? stores[0];
    const account = `${scope}-${each.account}`;
    if (each.operation === "advance") clock.advance(each.advanceMs);
    else expect(await perform(store, account, each, serial)).toEqual(await perform(model, account, each, serial));
  }
  for (const account of accounts.map((each) => `${scope}-${each}`)) {
    for (const id of ids) expect(await stores[0].find(account, id)).toEqual(model.find(account, id));
    expect(await stores[0].findItems(account, itemIds)).toEqual(model.findItems(account, itemIds));
    await stores[0].forget(account);
  }
}

async function perform(store: ResponseStore | Model, account: string, each: Step, serial: number): Promise<unknown> {
  const { operation, id, previous, most } = each;
  switch (operation) {
    case "put": {
      const items = (wanted: readonly string[], kind: string): KeptItem[] =>
        wanted.map((itemId, index) => ({ id: itemId, json: `"${serial} ${kind} ${index}"` }));
      return await store.put({
        ...{ id, account, createdAt: serial, previousResponseId: previous, response: `"${serial}"` },
        input: items(each.input, "in"),
        output: items(each.output, "out"),
      });
    }
    case "find":
      return await store.find(account, id);
    case "findChain":
      return await store.findChain(account, id, most);
    case "findItems":
      return await store.findItems(account, each.input);
    case "delete":
      return await store.delete(account, id);
    case "forget":
      return await store.forget(account);
    case "advance":
      return undefined;
  }
}

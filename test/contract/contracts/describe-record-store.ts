import { describe, expect, it } from "vitest";
import { type KeptRecord, ownedId, type RecordData, type RecordStore } from "../../../src/records/record-store.js";
import { unique } from "../../../src/testing/credit-ledger-fixture.js";
import { eventually } from "../../../src/testing/expect.js";

const record = (more: Partial<RecordData> = {}): RecordData => ({
  id: unique("record"),
  owner: "",
  alias: null,
  text: '{ "a" : 1 }',
  ...more,
});
const kept = ({ id, text }: RecordData, usedAt: number | null = null): KeptRecord => ({ id, text, usedAt });
const byId = (records: readonly KeptRecord[]) => records.toSorted((one, other) => (one.id < other.id ? -1 : 1));

/** Ends of ids that databases order and compare in ways of their own. */
const oddEnds = ["", " ", "%", "'", "10", "9", "A", "Z", "_", "a", "z", "\u00df", "\u00e4", "\uffee", "\u{1f600}"];

/**
 * Defines the tests that every {@link RecordStore} must pass.
 *
 * @param make - makes two stores that share their records, as two processes do. They need not be empty: names are unique.
 */
export function describeRecordStore(
  name: string,
  make: () => Promise<readonly [RecordStore, RecordStore]> | readonly [RecordStore, RecordStore],
): void {
  describe(`${name}: the record store contract`, () => {
    describeReads(make);
    describeConditions(make);
    describeLists(make);
    describeUses(make);
    describeNotices(make);
  });
}

type Make = Parameters<typeof describeRecordStore>[1];

function describeReads(make: Make): void {
  it("keeps texts letter by letter, whatever is in them, for all to read", async () => {
    const [store, other] = await make();
    for (const text of ['{ "b": 1, "a": "\\u0000 \\ud83d größer \u{1f600} \u2028 $1 %s \\\\ \'" }', "", "{", "5"]) {
      const one = record({ text });
      expect(await store.put("model", one)).toBe("put");
      for (const each of [store, other]) expect(await each.get("model", "id", [one.id])).toEqual([kept(one)]);
    }
  });

  it("reads those that there are of many names, once each, and tells kinds apart", async () => {
    const [store, other] = await make();
    const ends = oddEnds.map((end) => record({ id: unique("odd") + end, text: JSON.stringify(end) }));
    for (const each of ends) await store.put("plan", each);
    const names = ends.map(({ id }) => id);
    const found = await other.get("plan", "id", [...names, "none", `${names[0]} `, (names[9] ?? "").toUpperCase()]);
    expect(byId(found)).toEqual(byId(ends.map((each) => kept(each))));
    expect(await other.get("model", "id", names)).toEqual([]);
    expect(await other.get("plan", "alias", names)).toEqual([]);
    expect(await other.get("plan", "id", ["", "__proto__", "' OR '1'='1", "%"])).toEqual([]);
  });

  it("finds a record by its alias, as it is written, until it is gone", async () => {
    const [store, other] = await make();
    const [owner, alias] = [unique("owner"), unique("alias")];
    const key = record({ owner, alias });
    await store.put("key", key);
    expect(await other.get("key", "alias", [alias, "none"])).toEqual([kept(key)]);
    for (const wrong of [alias.toUpperCase(), `${alias} `, key.id, owner]) {
      expect(await other.get("key", "alias", [wrong])).toEqual([]);
    }
    expect(await other.get("key", "id", [alias])).toEqual([]);
    expect(await store.clear("key", owner)).toEqual([alias]);
    expect(await other.get("key", "alias", [alias])).toEqual([]);
    expect(await store.put("key", record({ alias }), { expected: null })).toBe("put");
  });

  it("keeps names as long as there are", async () => {
    const [store, other] = await make();
    const owner = unique("owner").padEnd(128, "\uffee");
    const budget = record({ id: ownedId(owner, `${"t".repeat(64)}=${"\uffee".repeat(256)}`), owner });
    await store.put("budget", budget);
    expect(await other.get("budget", "id", [budget.id])).toEqual([kept(budget)]);
    expect(await other.list("budget", { owner, after: "", limit: 9 })).toEqual([kept(budget)]);
    const plan = record({ id: unique("plan").padEnd(256, "\uffee"), text: "x".repeat(300_000) });
    await store.put("plan", plan);
    expect(await other.get("plan", "id", [plan.id])).toEqual([kept(plan)]);
  });
}

function describeConditions(make: Make): void {
  it("puts only over what is expected, and says so", async () => {
    const [store, other] = await make();
    const one = record({ text: "1" });
    expect(await store.put("plan", one, { expected: "1" })).toBe("unexpected");
    expect(await other.get("plan", "id", [one.id])).toEqual([]);
    expect(await store.put("plan", one, { expected: null })).toBe("put");
    expect(await other.put("plan", { ...one, text: "2" }, { expected: null })).toBe("unexpected");
    expect(await other.put("plan", { ...one, text: "2" }, { expected: "1 " })).toBe("unexpected");
    expect(await other.put("plan", { ...one, text: "2" }, { expected: "" })).toBe("unexpected");
    expect(await store.get("plan", "id", [one.id])).toEqual([kept(one)]);
    expect(await other.put("plan", { ...one, text: "2" }, { expected: "1" })).toBe("put");
    expect(await other.put("plan", { ...one, text: "3" }, { expected: undefined })).toBe("put");
    expect(await store.get("plan", "id", [one.id])).toEqual([kept({ ...one, text: "3" })]);
  });

  it("gives no alias of another record away", async () => {
    const [store, other] = await make();
    const key = record({ owner: unique("owner"), alias: unique("alias") });
    await store.put("key", key, { expected: null });
    const thief = record({ owner: unique("owner"), alias: key.alias });
    expect(await other.put("key", thief, { expected: null })).toBe("unexpected");
    expect(await other.put("key", thief)).toBe("unexpected");
    expect(await other.get("key", "id", [thief.id])).toEqual([]);
    const honest = record({ owner: thief.owner, alias: unique("alias") });
    await other.put("key", honest);
    expect(await other.put("key", { ...honest, alias: key.alias }, { expected: honest.text })).toBe("unexpected");
    expect(await other.put("key", { ...honest, alias: key.alias })).toBe("unexpected");
    await other.clear("key", honest.owner);
    expect(await other.list("key", { owner: thief.owner, after: "", limit: 9 })).toEqual([]);
    expect(await store.get("key", "alias", [key.alias ?? ""])).toEqual([kept(key)]);
  });

  it("removes what is expected, once, and nothing else", async () => {
    const [store, other] = await make();
    const [one, twin] = [record({ text: "1" }), record({ text: "1" })];
    for (const each of [one, twin]) await store.put("model", each);
    expect(await other.remove("model", one.id, "2")).toBe(false);
    expect(await other.remove("model", one.id, "1")).toBe(true);
    expect(await store.remove("model", one.id, "1")).toBe(false);
    expect(await store.remove("model", one.id)).toBe(false);
    expect(await store.get("model", "id", [one.id, twin.id])).toEqual([kept(twin)]);
    expect(await store.remove("model", twin.id)).toBe(true);
    expect(await other.put("model", one, { expected: null })).toBe("put");
  });

  it("lets one of many win that expect the same", async () => {
    const stores = await make();
    for (let round = 0; round < 5; round++) {
      const one = record({ owner: unique("owner"), alias: unique("alias") });
      const put = (expected: string | null) =>
        Promise.all(
          Array.from({ length: 12 }, (_, index) =>
            stores[index % 2]?.put("key", { ...one, text: `${expected}-${index}` }, { expected }),
          ),
        );
      const made = await put(null);
      expect(made.filter((outcome) => outcome === "put")).toHaveLength(1);
      const [found] = await stores[0].get("key", "id", [one.id]);
      expect(found?.text).toBe(`null-${made.indexOf("put")}`);
      const changed = await put(found?.text ?? "");
      expect(changed.filter((outcome) => outcome === "put")).toHaveLength(1);
    }
  });

  it("makes no record more than there may be", async () => {
    const [store, other] = await make();
    const plans = await countOf(store);
    const most = plans + 1;
    const one = record({ text: "1" });
    expect(await store.put("plan", one, { most })).toBe("put");
    for (const expected of [undefined, null]) {
      expect(await other.put("plan", record(), { most, expected })).toBe("full");
      expect(await other.put("plan", { ...one, text: "2" }, { most, expected: expected ?? "1" })).toBe(
        expected === undefined ? "put" : "unexpected",
      );
    }
    expect(await store.put("plan", { ...one, text: "3" }, { most: 0 })).toBe("put");
    expect(await store.put("plan", { ...one, text: "4" }, { most: 0, expected: null })).toBe("unexpected");
    expect(await countOf(other)).toBe(most);
  });

  async function countOf(store: RecordStore): Promise<number> {
    return (await store.list("plan", { owner: "", after: "", limit: 100_000 })).length;
  }
}

function describeLists(make: Make): void {
  it("lists an owner's records in one order, page by page, and no other's", async () => {
    const [store, other] = await make();
    const owner = unique("owner");
    const all = oddEnds.map((end) => record({ id: ownedId(owner, `x${end}`), owner, text: JSON.stringify(end) }));
    const others = ["", "0", "\u0001", "\uffee"].map((end) => `${owner}${end}`).slice(1);
    for (const each of [...all.toReversed(), ...others.map((own) => record({ id: ownedId(own, "x"), owner: own }))]) {
      await store.put("budget", each);
    }
    const order = (await store.list("budget", { owner, after: "", limit: 1000 })).map(({ id }) => id);
    for (const limit of [1, 2, 7, 1000]) {
      const listed: KeptRecord[] = [];
      for (let after = ""; ; after = listed.at(-1)?.id ?? "") {
        const page = await other.list("budget", { owner, after, limit });
        expect(page.length).toBeLessThanOrEqual(limit);
        listed.push(...page);
        // A store that gives the same page again must not hang.
        expect(listed.length).toBeLessThanOrEqual(all.length);
        if (page.length < limit) break;
      }
      expect(byId(listed)).toEqual(byId(all.map((each) => kept(each))));
      expect(listed.map(({ id }) => id)).toEqual(order);
    }
  });

  it("lists a record with its new owner once that has changed", async () => {
    const [store, other] = await make();
    const [from, to] = [unique("owner"), unique("owner")];
    const key = record({ owner: from, alias: unique("alias") });
    await store.put("key", key);
    await other.put("key", { ...key, owner: to, text: "2" }, { expected: key.text });
    expect(await store.list("key", { owner: from, after: "", limit: 9 })).toEqual([]);
    expect(await store.clear("key", from)).toEqual([]);
    expect(await store.list("key", { owner: to, after: "", limit: 9 })).toEqual([kept({ ...key, text: "2" })]);
    expect(await store.get("key", "alias", [key.alias ?? ""])).toHaveLength(1);
  });

  it("clears all records of an owner, and of no other, however many", async () => {
    const [store, other] = await make();
    const [owner, neighbour] = [unique("owner"), unique("owner")];
    const keys = Array.from({ length: 450 }, () => record({ owner, alias: unique("alias") }));
    const stays = record({ owner: neighbour, alias: unique("alias") });
    await Promise.all([...keys, stays].map((key) => store.put("key", key)));
    expect(await other.list("key", { owner, after: "", limit: 1000 })).toHaveLength(450);
    const gone = await other.clear("key", owner);
    expect(gone.toSorted()).toEqual(keys.map(({ alias }) => alias).toSorted());
    expect(await store.clear("key", owner)).toEqual([]);
    expect(await store.list("key", { owner, after: "", limit: 1000 })).toEqual([]);
    expect(await store.get("key", "id", [stays.id])).toEqual([kept(stays)]);
    const budget = record({ id: ownedId(owner, "t="), owner });
    await store.put("budget", budget);
    expect(await other.clear("budget", owner)).toEqual([]);
    expect(await store.get("budget", "id", [budget.id])).toEqual([]);
  });
}

function describeUses(make: Make): void {
  it("keeps the latest use of each record that is there, and changes nothing else", async () => {
    const [store, other] = await make();
    const owner = unique("owner");
    const keys = Array.from({ length: 250 }, () => record({ owner, alias: unique("alias") }));
    await Promise.all(keys.map((key) => store.put("key", key)));
    const [key = record()] = keys;
    await store.touch("key", []);
    const late = record({ owner: unique("owner"), alias: unique("alias") });
    await store.touch("key", [{ id: late.id, at: 5 }]);
    await store.put("key", late);
    expect(await other.get("key", "id", [late.id])).toEqual([kept(late)]);
    for (const at of [9_999, 10_000, 9_998]) {
      await store.touch("key", [{ id: key.id, at }]);
      await other.touch("key", [
        { id: unique("gone"), at },
        { id: key.id, at: at - 1 },
      ]);
    }
    expect(await other.get("key", "id", [key.id])).toEqual([kept(key, 10_000)]);
    await Promise.all(
      [3, 9, 2, 7].map((at, index) =>
        (index % 2 === 0 ? store : other).touch(
          "key",
          (index > 1 ? keys : keys.toReversed()).map(({ id }) => ({ id, at: 20_000 + at })),
        ),
      ),
    );
    const listed = await store.list("key", { owner, after: "", limit: 1000 });
    expect(listed).toHaveLength(250);
    for (const { usedAt } of listed) expect(usedAt).toBe(20_009);
    await other.put("key", { ...key, text: "2" }, { expected: key.text });
    expect(await store.get("key", "alias", [key.alias ?? ""])).toEqual([kept({ ...key, text: "2" }, 20_009)]);
    await store.clear("key", owner);
    await store.put("key", key);
    expect(await other.get("key", "id", [key.id])).toEqual([kept(key)]);
  });
}

function describeNotices(make: Make): void {
  it("tells of every change by any process, by the name that the kind is told by, and of no use", async ({ skip }) => {
    const [store, other] = await make();
    if (!store.subscribe) return skip("The store has no notices.");
    const [owner, alias] = [unique("owner"), unique("alias")];
    const heard: Record<"key" | "budget" | "plan", string[]> = { key: [], budget: [], plan: [] };
    const unheard: string[] = [];
    const endAtOnce = await store.subscribe("key", (name) => unheard.push(name));
    const ends = [
      await store.subscribe("key", () => {
        throw new Error("an error of a subscriber");
      }),
      ...(await Promise.all(
        (["key", "budget", "plan"] as const).map((kind) => store.subscribe?.(kind, (name) => heard[kind].push(name))),
      )),
    ];
    await endAtOnce();
    const isHeard = async (kind: keyof typeof heard, name: string, change: Promise<unknown>) => {
      expect(await change).not.toBe("unexpected");
      await eventually(() => expect(heard[kind]).toContain(name));
      heard[kind].length = 0;
    };
    const key = record({ owner, alias });
    const budget = record({ id: ownedId(owner, "t="), owner });
    const plan = record();
    for (const writer of [store, other]) {
      await isHeard("key", alias, writer.put("key", key, { expected: null }));
      await writer.touch("key", [{ id: key.id, at: 5 }]);
      await isHeard("budget", owner, writer.put("budget", budget));
      expect(heard.key).toEqual([]);
      await isHeard("key", alias, writer.put("key", { ...key, text: "2" }, { expected: key.text }));
      await isHeard("key", alias, writer.remove("key", key.id));
      await isHeard("key", alias, writer.put("key", key));
      await isHeard("key", alias, writer.clear("key", owner));
      await isHeard("budget", owner, writer.remove("budget", budget.id));
      await isHeard("budget", owner, writer.put("budget", budget));
      await isHeard("budget", owner, writer.clear("budget", owner));
      await isHeard("plan", plan.id, writer.put("plan", plan));
      await isHeard("plan", plan.id, writer.remove("plan", plan.id));
    }
    expect(unheard).toEqual([]);
    for (const end of ends) await end?.();
  });
}

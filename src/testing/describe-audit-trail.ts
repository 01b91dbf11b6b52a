import type { AuditEntry, AuditLimits, AuditQuery, AuditTrail } from "../audit/audit-trail.js";
import { unique } from "./credit-ledger-fixture.js";
import { expect } from "./expect.js";
import { type TestRunner, testRunnerOf } from "./test-runner.js";

type MakeTrails = (limits?: AuditLimits) => Promise<readonly [AuditTrail, AuditTrail]>;
type Runner = ReturnType<typeof testRunnerOf>;

const dayMs = 86_400_000;
let made = 0;

/** Ids in the order in which they are made, as those of the gateway are. */
function newEntry(members: Partial<AuditEntry> = {}): AuditEntry {
  const id = `audit_${String(++made).padStart(8, "0")}`;
  return { id, at: Date.now(), action: "keys.create", outcome: "done", ...members };
}

const fullEntry = (): AuditEntry =>
  newEntry({
    by: "o'neill/100%_\\größer \u{1f600}",
    note: 'He "paid";\nthen größer \u{1f600}',
    account: unique("account"),
    key: "key_1'\"\\",
    plan: "pro",
    model: "acme/small",
    budget: "members",
    given: { name: "a\0b\ud83d", models: ["*"], credits: { day: 0.1 }, enabled: false, nothing: null },
    before: JSON.parse('{"name":"laptop","tags":{"__proto__":"1","constructor":"2"}}'),
    after: { balanceMicro: Number.MAX_SAFE_INTEGER },
    cut: ["given.metadata"],
  });

/**
 * Defines the tests that every {@link AuditTrail} must pass.
 *
 * @param make - makes two trails that share their data, as two processes do, and have no entries yet.
 * @param runner - default: see {@link TestRunner}.
 */
export function describeAuditTrail(name: string, make: MakeTrails, runner?: TestRunner): void {
  const defined = testRunnerOf(runner);
  defined.describe(`${name}: the audit trail contract`, () => {
    describeEntries(defined, make);
    describeFilters(defined, make);
    describePages(defined, make);
    describeLimits(defined, make);
  });
}

/** All that a query finds, page by page. */
async function readAll(trail: AuditTrail, query: AuditQuery): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await trail.list({ ...query, ...(cursor !== undefined && { cursor }) });
    ids.push(...page.entries.map(({ id }) => id));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return ids;
}

function describeEntries({ it }: Runner, make: MakeTrails): void {
  it("gives back what was kept, from everywhere", async () => {
    const trails = await make();
    const [few, full] = [newEntry({ at: Date.now() - 1 }), fullEntry()];
    await trails[0].append(few);
    await trails[1].append(full);
    const expected = JSON.parse(JSON.stringify([full, few]));
    for (const trail of trails) {
      const page = await trail.list();
      expect(page).toEqual({ entries: expected });
      expect(JSON.stringify(page.entries.map(({ given }) => given))).toBe(JSON.stringify([full.given, few.given]));
    }
  });

  it("keeps an entry once, as it was first", async () => {
    const [trail, other] = await make();
    const entry = fullEntry();
    await trail.append(entry);
    await other.append({ ...entry, note: "later" });
    expect((await other.list()).entries).toMatchObject([{ id: entry.id, note: entry.note ?? "" }]);
    expect((await other.list({ account: entry.account })).entries).toHaveLength(1);
  });

  it("keeps what was given, whatever becomes of the caller's objects", async () => {
    const [trail] = await make();
    const given = { name: "laptop" };
    await trail.append(newEntry({ given }));
    given.name = "other";
    expect((await trail.list()).entries[0]?.given).toEqual({ name: "laptop" });
  });

  it.each<[string, object]>([
    ["an id that no store puts in the same place", { id: "Größe" }],
    ["no moment", { at: Number.NaN }],
    ["an unknown action", { action: "keys.forge" }],
    ["a misspelled member", { acount: "a" }],
    ["an author with a line", { by: "a\nb" }],
    ["an author that is too long", { by: "a".repeat(129) }],
    ["a note with NUL", { note: "a\0" }],
    ["a note that is too long", { note: "a".repeat(1001) }],
    ["an account that can be none", { account: "\ud83d" }],
  ])("refuses an entry with %s", async (_, members) => {
    const [trail] = await make();
    await expect(trail.append(newEntry(members))).rejects.toBeInstanceOf(TypeError);
    expect((await trail.list()).entries).toEqual([]);
  });
}

function describeFilters({ it }: Runner, make: MakeTrails): void {
  it("finds entries by account, key, action, author and time, and by several of them", async () => {
    const [trail, other] = await make();
    const at = Date.now() - 60_000;
    const some: AuditEntry[] = [
      newEntry({ at, account: "a", key: "k1", by: "ann" }),
      newEntry({ at: at + 1, account: "a", key: "k2", by: "bob", action: "keys.revoke" }),
      newEntry({ at: at + 2, account: "b", key: "k3", by: "ann", action: "keys.revoke" }),
      newEntry({ at: at + 3, plan: "pro", action: "plans.put" }),
    ];
    for (const [index, entry] of some.entries()) await (index % 2 === 0 ? trail : other).append(entry);
    const found = async (query: AuditQuery) =>
      (await readAll(other, query)).map((id) => some.findIndex((entry) => entry.id === id));
    expect(await found({})).toEqual([3, 2, 1, 0]);
    expect(await found({ account: "a" })).toEqual([1, 0]);
    expect(await found({ key: "k3" })).toEqual([2]);
    expect(await found({ action: "keys.revoke" })).toEqual([2, 1]);
    expect(await found({ by: "ann" })).toEqual([2, 0]);
    expect(await found({ by: "ann", action: "keys.revoke" })).toEqual([2]);
    expect(await found({ account: "a", by: "bob", action: "keys.revoke", key: "k2" })).toEqual([1]);
    expect(await found({ account: "a", by: "bob", key: "k1" })).toEqual([]);
    expect(await found({ account: "none" })).toEqual([]);
    expect(await found({ from: at + 1, to: at + 3 })).toEqual([2, 1]);
    expect(await found({ from: at + 3 })).toEqual([3]);
    expect(await found({ to: at + 1 })).toEqual([0]);
    expect(await found({ from: at + 2, to: at + 2 })).toEqual([]);
    expect(await found({ from: -1, to: -1 })).toEqual([]);
    expect(await found({ account: "a", from: at + 1, limit: 1 })).toEqual([1]);
  });

  it("finds the move of a key from both of its accounts, once", async () => {
    const [trail, other] = await make();
    const at = Date.now() - 60_000;
    const some: AuditEntry[] = [
      newEntry({ at, account: "b" }),
      newEntry({ at: at + 1, account: "a", movedTo: "b", key: "k", by: "ann", action: "keys.update" }),
      newEntry({ at: at + 2, account: "a", movedTo: "a", action: "keys.update" }),
      newEntry({ at: at + 3, account: "b", by: "ann" }),
    ];
    for (const entry of some) await trail.append(entry);
    const found = async (query: AuditQuery) =>
      (await readAll(other, query)).map((id) => some.findIndex((entry) => entry.id === id));
    for (const limit of [1, 2, 100]) {
      expect(await found({ account: "b", limit })).toEqual([3, 1, 0]);
      expect(await found({ account: "a", limit })).toEqual([2, 1]);
      expect(await found({ limit })).toEqual([3, 2, 1, 0]);
    }
    expect(await found({ account: "b", by: "ann", action: "keys.update" })).toEqual([1]);
    expect(await found({ account: "b", key: "k", from: at + 1, to: at + 2 })).toEqual([1]);
    expect((await other.list({ account: "b", limit: 2 })).entries[1]).toMatchObject({ account: "a", movedTo: "b" });
  });

  it("does not take one text for another", async () => {
    const [trail] = await make();
    for (const account of ["a", "A", "a ", "a%", "a_", "ab"]) await trail.append(newEntry({ account }));
    for (const account of ["a", "A", "a ", "a%", "a_", "ab"]) {
      expect((await trail.list({ account })).entries.map((entry) => entry.account)).toEqual([account]);
    }
  });

  it.each<[string, object]>([
    ["an unknown action", { action: "keys.forge" }],
    ["a misspelled member", { acount: "a" }],
    ["a cursor of nothing", { cursor: "later" }],
    ["no moment", { from: Number.NaN }],
    ["a page without entries", { limit: 0 }],
    ["a page that is too long", { limit: 1001 }],
  ])("refuses a query with %s", async (_, query) => {
    const [trail] = await make();
    await expect(trail.list(query)).rejects.toBeInstanceOf(TypeError);
  });
}

function describePages({ it }: Runner, make: MakeTrails): void {
  it("has all entries of one millisecond once, in one order, whoever kept them", async () => {
    const trails = await make();
    const at = Date.now();
    const entries = Array.from({ length: 23 }, (_, index) => newEntry({ at, account: index % 3 === 0 ? "a" : "b" }));
    // In any order, as it is between processes.
    const kept = entries.toSorted((one, other) => one.id.slice(-1).localeCompare(other.id.slice(-1)));
    await Promise.all(kept.map((entry, index) => trails[index % 2 === 0 ? 0 : 1].append(entry)));
    const newestFirst = entries.map(({ id }) => id).toReversed();
    const ofAccount = entries.flatMap(({ id, account }) => (account === "a" ? [id] : [])).toReversed();
    for (const trail of trails) {
      for (const limit of [1, 5, 23, 1000]) {
        expect(await readAll(trail, { limit })).toEqual(newestFirst);
        expect(await readAll(trail, { limit, account: "a" })).toEqual(ofAccount);
        expect(await readAll(trail, { limit, action: "keys.create", account: "a" })).toEqual(ofAccount);
      }
      expect((await trail.list({ limit: 23 })).cursor).toBeUndefined();
    }
  });

  it("goes on where a page ended, whatever is kept meanwhile", async () => {
    const [trail, other] = await make();
    const entries = Array.from({ length: 4 }, () => newEntry());
    for (const entry of entries) await trail.append(entry);
    const { cursor } = await trail.list({ limit: 2 });
    await other.append(newEntry({ at: Date.now() + 1000 }));
    expect((await other.list({ limit: 9, cursor })).entries.map(({ id }) => id)).toEqual(
      entries
        .slice(0, 2)
        .map(({ id }) => id)
        .toReversed(),
    );
  });

  it("finds what is rare among many", async () => {
    const [trail, other] = await make();
    const begin = Date.now() - 1000;
    const entries = Array.from({ length: 450 }, (_, index) =>
      newEntry({ at: begin + index, account: "many", by: index === 0 ? "rare" : "often" }),
    );
    await Promise.all(entries.map((entry) => trail.append(entry)));
    expect(await readAll(other, { account: "many", by: "rare" })).toEqual([entries[0]?.id ?? ""]);
    expect((await other.list({ account: "many", by: "often" })).entries).toHaveLength(100);
    expect(await readAll(other, { account: "many" })).toHaveLength(450);
  });
}

function describeLimits({ it }: Runner, make: MakeTrails): void {
  it("drops the oldest beyond so many entries, from all lists", async () => {
    const [trail, other] = await make({ maxEntries: 3 });
    const entries = Array.from({ length: 5 }, (_, index) =>
      newEntry({ at: Date.now() + index, account: "a", movedTo: "b" }),
    );
    for (const entry of entries) await (entry === entries[2] ? other : trail).append(entry);
    const left = entries
      .slice(2)
      .map(({ id }) => id)
      .toReversed();
    for (const query of [{}, { account: "a" }, { account: "b" }, { action: "keys.create" as const }]) {
      expect(await readAll(other, query)).toEqual(left);
    }
  });

  it("drops what is older than so many days, with later entries", async () => {
    const [trail, other] = await make({ maxDays: 30 });
    const [old, young] = [newEntry({ at: Date.now() - 31 * dayMs }), newEntry({ at: Date.now() - 29 * dayMs })];
    await trail.append(old);
    await trail.append(young);
    const last = newEntry();
    await other.append(last);
    expect(await readAll(trail, {})).toEqual([last.id, young.id]);
  });
}

import { confusableTexts } from "../confusable-texts.js";
import { unique } from "../credit-ledger-fixture.js";
import { eventually, expect } from "../expect.js";
import type { AnyRunner } from "../test-runner.js";

/** A store that may send notices of its changes. */
type Notifying = Parameters<typeof subscribeThree>[0];

/** What the rules that hold for records of every kind need to know of one kind. */
export interface RecordTable<Store extends Notifying> {
  readonly longestId: number;
  /** Makes the record of this id, or replaces it. Its contents are told apart by the mark. */
  put(store: Store, id: string, mark: number): Promise<unknown>;
  /** The marks of what is found of the id, in all ways of looking for it. */
  find(store: Store, id: string): Promise<readonly number[]>;
  /** Deletes the record. @returns whether there was one; `undefined` where the store does not say so. */
  remove(store: Store, id: string): Promise<boolean | undefined>;
  /** Changes the record. @returns what it is then; `undefined` where there is none. */
  update?(store: Store, id: string): Promise<unknown>;
  /** Further changes of the record, of which its subscribers are told. */
  changes?(store: Store, id: string): readonly (() => Promise<unknown>)[];
  /** By what name subscribers are told of it. Default: its id. */
  notice?(id: string): string;
  /** Whether `put` replaces what is there. */
  readonly replaces: boolean;
}

/** Ids that are none, or are taken for something else. */
const oddIds = ["none", "__proto__", "constructor", "", "' OR '1'='1", "%", "*"];

/** @param make - makes two stores that share their data. */
export function describeRecords<Store extends Notifying>(
  { it }: AnyRunner,
  make: () => Promise<readonly [Store, Store]>,
  table: RecordTable<Store>,
): void {
  const { find, put, remove } = table;
  /** The marks that are found, without repetitions. */
  const marksOf = async (store: Store, id: string) => [...new Set(await find(store, id))];
  const expectNone = async (store: Store, id: string) => {
    expect(await find(store, id)).toEqual([]);
    expect(await table.update?.(store, id)).toBeUndefined();
    expect((await remove(store, id)) ?? false).toBe(false);
  };

  it.each(oddIds)("finds, changes and deletes nothing for %j", async (id) => {
    const [store] = await make();
    const own = unique("record");
    await put(store, own, 1);
    await expectNone(store, id);
    expect(await marksOf(store, own)).toEqual([1]);
  });

  it.each(confusableTexts)("takes %j in no id, and does not take it for another", async (text) => {
    const [store] = await make();
    const start = unique("record");
    // What drivers make of such a text.
    const twins = ["", "\ufffd", "a", "ab"].map((end) => `${start}${end}`);
    for (const [mark, twin] of twins.entries()) await put(store, twin, mark);
    for (const wrong of [text, `${start}${text}`]) {
      await expect(put(store, wrong, 9)).rejects.toBeInstanceOf(TypeError);
      await expectNone(store, wrong);
    }
    for (const [mark, twin] of twins.entries()) expect(await marksOf(store, twin)).toEqual([mark]);
  });

  it(`takes ids of ${table.longestId} characters, and no longer ones`, async () => {
    const [store] = await make();
    for (const character of ["a", "\uffee", "\u{1f600}"]) {
      const start = unique("record").padEnd(100);
      const id = start + character.repeat((table.longestId - start.length) / character.length);
      await put(store, id, 1);
      expect(await marksOf(store, id)).toEqual([1]);
      await expect(put(store, `${id}a`, 2)).rejects.toBeInstanceOf(TypeError);
      expect(await find(store, `${id}a`)).toEqual([]);
    }
  });

  it("tells ids apart by case and spaces", async () => {
    const [store] = await make();
    const id = unique("record");
    await put(store, id, 1);
    for (const other of [id.toUpperCase(), `${id} `]) expect(await find(store, other)).toEqual([]);
  });

  it("deletes a record, once and everywhere, and no other", async () => {
    const [store, other] = await make();
    const [id, twin] = [unique("record"), unique("record")];
    for (const each of [id, twin]) await put(store, each, 1);
    expect((await remove(other, id)) ?? true).toBe(true);
    for (const each of [store, other]) await expectNone(each, id);
    expect(await marksOf(other, twin)).toEqual([1]);
    await put(store, id, 2);
    expect(await marksOf(other, id)).toEqual([2]);
  });

  if (table.replaces) {
    it("keeps one of the records that are put at once, whole", async () => {
      const stores = await make();
      const id = unique("record");
      const marks = [1, 2, 3, 4, 5, 6, 7, 8];
      await Promise.all(marks.map((mark) => put(stores[mark % 2] as Store, id, mark)));
      const [found, ...others] = await marksOf(stores[0], id);
      expect(marks).toContain(found);
      expect(others).toEqual([]);
      expect(await marksOf(stores[1], id)).toEqual([found]);
    });
  }

  it("tells its subscribers of every change, wherever it is made, until they leave", async ({ skip }) => {
    const [store, other] = await make();
    const notices = await subscribeThree(store);
    if (notices === undefined) return skip("The store sends no notices.");
    const { gone, heard, end } = notices;
    const id = unique("record");
    const name = table.notice?.(id) ?? id;
    for (const writer of [store, other]) {
      const changes = [
        () => put(writer, id, 1),
        () => table.update?.(writer, id) ?? put(writer, id, 2),
        ...(table.changes?.(writer, id) ?? []),
        () => remove(writer, id),
      ];
      for (const change of changes) {
        heard.length = 0;
        await change();
        await eventually(() => expect(heard).toContain(name));
      }
    }
    expect(gone).toEqual([]);
    await end();
  });
}

type End = () => Promise<void>;

/** A store that may send notices of its changes. */
interface NotifyingStore {
  subscribe?(onChange: (name: string) => void): Promise<End> | End;
}

/** What subscribers of a store get. */
interface HeardNotices {
  /** By one that has left, and has said so twice. */
  readonly gone: readonly string[];
  /** By one that stays. */
  readonly heard: string[];
  /** Ends the subscriptions. */
  end(): Promise<void>;
}

/**
 * Subscribes three: one that leaves at once, one that throws at every notice, and one that stays.
 * @returns `undefined` where the store sends no notices.
 */
export async function subscribeThree(store: NotifyingStore): Promise<HeardNotices | undefined> {
  if (!store.subscribe) return undefined;
  const [gone, heard]: [string[], string[]] = [[], []];
  const endGone = await store.subscribe((name) => gone.push(name));
  const endThrowing = await store.subscribe(() => {
    throw new Error("an error of a subscriber");
  });
  const endHearing = await store.subscribe((name) => heard.push(name));
  await endGone();
  await endGone();
  // Of changes that were made before, it may have heard until here.
  gone.length = 0;
  return {
    gone,
    heard,
    async end() {
      await Promise.all([endThrowing(), endHearing()]);
    },
  };
}

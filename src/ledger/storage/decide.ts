import { LedgerEngine } from "../engine/ledger-engine.js";
import { isLedgerError } from "../ledger-refusal.js";
import { type AccountCache, accountIn } from "./account-cache.js";
import { AccountWork } from "./account-work.js";
import {
  type Changes,
  type Corner,
  changesIn,
  comesToTheSame,
  cornersOf,
  inCorner,
  type Margins,
  marginsOf,
  toAdds,
} from "./changes.js";
import { type DecodedAccount, encodeReservation, structureText } from "./decoded-account.js";
import { type Add, type Commit, holdName, type Put } from "./ledger-storage.js";

/** An operation of the engine's on one account. */
export interface DecidedOperation {
  /** The ids that are new in all likelihood. */
  readonly newIds: readonly string[];
  /** The records that it looks at, as far as that is known. */
  readonly names: readonly string[];
  /** Whether a result may only stand on what was just read. A denial changes nothing, so that no commit confirms it. */
  needsFresh(result: Result): boolean;
  run(engine: LedgerEngine<DecodedAccount>, now: number): unknown;
}

/** A commit without what its entries add to sums. */
export type DecidedCommit = Omit<Commit, "sums">;

/** What an operation has come to. */
export type Result = { readonly value: unknown } | { readonly refusal: unknown };

export interface Decision {
  readonly results: readonly Result[];
  /** `undefined`: nothing changes. */
  readonly commit: DecidedCommit | undefined;
  readonly changes: Changes;
}

/** So many times what a batch adds may others have added meanwhile. The first that changes no decision is taken. */
const timesTried = [64, 8];

/**
 * Decides operations on an account, as far as this process knows it.
 *
 * Most only add to counters. Whether others have added to the same ones meanwhile does not matter then, as long as every
 * decision stays as it is. No rule says how long that is: the same operations are decided again in the corners of what the
 * counters may have become. Every rule is monotone in what is left, so what is the same in all corners is the same in between,
 * and the database need only compare the counters with their ends.
 *
 * @throws MissingRecords
 */
export function decide(
  known: AccountCache,
  operations: readonly DecidedOperation[],
  { now, newId, neededBy }: { now: number; newId: () => string; neededBy: Map<string, string> },
): Decision {
  const newIds = new Set<string>();
  for (const operation of operations) for (const id of operation.newIds) newIds.add(id);
  const runOn = (state: DecodedAccount | undefined) => {
    const work = new AccountWork(known, state, { newIds, newId });
    const engine = new LedgerEngine(work, neededBy);
    return { work, results: operations.map((operation) => resultOf(() => operation.run(engine, now))) };
  };

  const { results, work } = runOn(known.state?.copy());
  const changes = changesIn(known, work, known.records, now);
  const marks = { account: known.id, version: newId(), now };
  if (work.changesNothing) return { results, commit: undefined, changes };
  if (changes.onlyAdds && !known.isAloneAt(now)) {
    for (const times of timesTried) {
      const margins = new Map(
        [...changes.additions].map(([name, addition]) => [name, marginsOf(addition, times, known.scale)]),
      );
      const isSameIn = (corner: Corner) => {
        const records = inCorner(known.records, margins, changes.additions, corner);
        return comesToTheSame(changes, runOn(accountIn(known.id, records)).work, records, now);
      };
      if (cornersOf(changes.additions).every(isSameIn)) {
        return { results, changes, commit: toCommit(changes, { ...marks, expected: undefined, margins }) };
      }
    }
  }
  return { results, changes, commit: toCommit(changes, { ...marks, expected: known.version }) };
}

/** How a commit is made of changes. */
interface CommitMarks extends Pick<Commit, "account" | "version" | "expected" | "now"> {
  readonly margins?: ReadonlyMap<string, Margins>;
}

function toCommit(changes: Changes, { margins, ...marks }: CommitMarks): DecidedCommit {
  const { removes, entries, absentEntries, requires } = changes;
  const adds = new Map<string, readonly Add[]>();
  for (const [name, addition] of changes.additions) adds.set(name, toAdds(addition, margins?.get(name)));
  const puts = new Map<string, Put>();
  for (const [name, { structure, counters }] of changes.puts) {
    puts.set(name, { text: structureText(structure), counters, due: undefined });
  }
  for (const { reservation, change } of changes.holds) {
    if (change !== "put") continue;
    const due = reservation.state === "hold" ? reservation.expiresAt : undefined;
    puts.set(holdName(reservation.id), { text: encodeReservation(reservation), counters: [], due });
  }
  return { ...marks, requires, absentEntries: [...absentEntries], adds, puts, removes, entries };
}

/** @throws what is no refusal of the engine's. */
function resultOf(run: () => unknown): Result {
  try {
    return { value: run() };
  } catch (error) {
    if (!isLedgerError(error)) throw error;
    return { refusal: error };
  }
}

import { runtime } from "../../runtime/this-runtime.js";
import { dayMs } from "../calendar.js";
import { LedgerUnavailableError } from "../credit-ledger.js";
import { claimTopUp } from "../engine/ledger-records.js";
import { coreName, emptyCommit, type LedgerStorage, type Loaded, prepaidKey } from "./ledger-storage.js";

/** No account has a control character in its id. */
const claimPrefix = "\u0001claim:";
/** A day more than an account remembers the id. */
const keptMs = 32 * dayMs;
/** A place that is not there yet may be brought by others at the same moment. */
const mostTries = 3;

/**
 * Gives the id of a top-up to an account, in a ledger of several. The id has a place like an account's in the storage. The account
 * itself is known by a digest: another storage has it, and forgets it.
 *
 * @throws LedgerConflictError where the id is another account's.
 */
export async function claimStored(
  storage: LedgerStorage,
  newId: () => string,
  { id, account }: { id: string; account: string },
): Promise<void> {
  const place = claimPrefix + digest(id);
  const key = prepaidKey(id);
  const holder = digest(account);
  const decide = (loaded: Loaded) => {
    const core = loaded.records.get(coreName);
    const claims = {
      prepaidChange: () => loaded.entries.get(key),
      isClaimedByOther: () => (core === undefined ? undefined : parse(core.text).holder !== holder),
      claim: () => {},
    };
    claimTopUp(claims, id, account, loaded.now);
    const commit = {
      ...emptyCommit,
      ...{ account: place, version: newId(), expected: loaded.version, now: loaded.now },
      requires: new Map([[coreName, core?.stamp]]),
      puts: new Map([[coreName, { text: JSON.stringify([holder, loaded.now]), counters: [], due: undefined }]]),
    };
    return { commit };
  };
  for (let turn = 0; turn < mostTries; turn++) {
    const outcome = await storage.locked({ account: place, names: [], entries: [key] }, decide);
    if (outcome?.isDone) return;
  }
  throw new LedgerUnavailableError(`The storage has refused ${mostTries} times.`);
}

/** Whether the place is an id's. */
export function isClaim(account: string): boolean {
  return account.startsWith(claimPrefix);
}

/** Whether nobody needs to know any more whose the id is. */
export function isOldClaim({ records, now }: Loaded): boolean {
  const core = records.get(coreName);
  return core !== undefined && parse(core.text).at < now - keptMs;
}

function parse(text: string): { holder: string; at: number } {
  const [holder, at]: [string, number] = JSON.parse(text);
  return { holder, at };
}

function digest(text: string): string {
  return runtime.sha256(text, "base64url");
}

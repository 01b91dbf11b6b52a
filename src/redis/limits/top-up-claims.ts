import { digest } from "../account-keys.js";
import type { RunScript } from "../run-script.js";
import { makeScript } from "../script.js";

/** A day more than the account remembers the id. */
const claimMs = 32 * 86_400_000;

const claimScript = makeScript(`
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`);

/**
 * To which account the id of a top-up or deduction belongs. All else about it is kept with the account, which on a cluster
 * may be on another server than an account that is given the same id.
 *
 * @returns whether it is, from now on or already, this account's.
 */
export async function claimTopUpId(run: RunScript, prefix: string, id: string, account: string): Promise<boolean> {
  const key = `${prefix}:topup:${digest(id)}`;
  return Number(await run(claimScript, [key], [digest(account), claimMs])) === 1;
}

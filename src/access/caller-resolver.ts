import { accountSuspended, accountWithoutPlan } from "../errors/gateway-error.js";
import { RepeatedError, repeatedFor } from "../errors/repeated-error.js";
import type { Warn } from "../events/warning.js";
import type { KnownAccount, OwnTerms } from "./account-lookup.js";
import type { ApplyBudgets } from "./budgets/budget-resolver.js";
import type { Lookup } from "./cached-lookup.js";
import type { Caller, IdentifiedCaller } from "./caller.js";

const withoutPlan = RepeatedError.of(accountWithoutPlan());

/**
 * Gives a caller what its account's record says, its plan, its calendar, and whether it may call at all, and the budgets of
 * its tags.
 * @returns at once where account and budgets are cached.
 * @throws GatewayError 403 for a suspended account or budget, and for one without a plan; 503 when a store fails. Where
 * a promise is returned, it rejects with them.
 */
export type ResolveCaller = (caller: IdentifiedCaller) => Caller | Promise<Caller>;

/**
 * @param findAccount - `undefined`: there is no account store, and every caller has a plan of its own.
 * @param applyBudgets - `undefined`: there are none.
 */
export function callerResolver(
  findAccount: Lookup<KnownAccount> | undefined,
  warnOnce: Warn,
  applyBudgets?: ApplyBudgets,
): ResolveCaller {
  const suspended = repeatedFor(accountSuspended);
  const withTerms = lastTerms();
  const resolve = (identified: IdentifiedCaller, account: KnownAccount | undefined): Caller | Promise<Caller> => {
    const caller = underAccount(identified, account);
    const { tags } = caller;
    return tags === undefined || applyBudgets === undefined ? caller : applyBudgets(caller, tags);
  };
  const underAccount = (caller: IdentifiedCaller, account: KnownAccount | undefined): Caller => {
    if (account?.suspension !== undefined) throw suspended(account.suspension);
    // A call of the host's own code may name another plan. What keys and sessions say may be older than the record.
    if (account !== undefined && caller.source !== "in_process") {
      const { plan, calendar, terms } = account;
      return withTerms(caller, account, { plan, calendar, ...terms });
    }
    if (hasPlan(caller)) {
      if (account?.terms === undefined) return caller;
      return withTerms(caller, account, { plan: caller.plan, ...account.terms });
    }
    const { account: id, filedUnder } = caller;
    const message =
      `The account ${JSON.stringify(id)} is not in the account store, and its key ${filedUnder} names no plan: its callers ` +
      "get a 403. Make it with gateway.accounts.put, or give the key a plan.";
    warnOnce({ code: "unknown_account", message });
    throw withoutPlan;
  };
  if (findAccount === undefined) return (caller) => resolve(caller, undefined);
  return (caller) => {
    const found = findAccount(caller.account);
    return found instanceof Promise ? found.then((account) => resolve(caller, account)) : resolve(caller, found);
  };
}

type Terms = Pick<Caller, "plan"> & Partial<Pick<Caller, "calendar">> & OwnTerms;

/**
 * Gives a caller the terms of its account: the same object while neither the caller nor its account has changed, so that more
 * can be kept of it.
 */
function lastTerms(): (identified: IdentifiedCaller, account: KnownAccount, terms: Terms) => Caller {
  /** The last caller that was made of one that was identified, and of its account. */
  const resolved = new WeakMap<IdentifiedCaller, { readonly account: KnownAccount; readonly caller: Caller }>();
  return (identified, account, terms) => {
    const last = resolved.get(identified);
    if (last?.account === account) return last.caller;
    const caller = { ...identified, ...terms };
    // Without a key, the one that was identified is made anew for each request.
    if (identified.source === "key") resolved.set(identified, { account, caller });
    return caller;
  };
}

function hasPlan(caller: IdentifiedCaller): caller is Caller {
  return caller.plan !== undefined;
}

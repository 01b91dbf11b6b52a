import type { WritableKeyStore } from "../keys/key-store.js";
import type { CreditLedger } from "../ledger/credit-ledger.js";
import type { WritablePlanStore } from "../plans/plan-store.js";
import { creditLedgerOn, type RedisCreditLedgerOptions } from "./redis-credit-ledger.js";
import { keyStoreOn } from "./redis-key-store.js";
import { connectionOf } from "./redis-options.js";
import { planStoreOn } from "./redis-plan-store.js";

/** What a gateway keeps, all of it in Redis. */
export interface RedisStores {
  keys: WritableKeyStore;
  plans: WritablePlanStore;
  ledger: CreditLedger;
}

/**
 * The key store, plan store and ledger of a gateway in one Redis: `createGateway({ ...redisStores({ client }), … })`.
 * @throws TypeError | RangeError when an option is not valid.
 */
export function redisStores(options: RedisCreditLedgerOptions): RedisStores {
  const connection = connectionOf(options);
  return {
    keys: keyStoreOn(connection),
    plans: planStoreOn(connection),
    ledger: creditLedgerOn(connection, options.journal),
  };
}

import type { WritableKeyStore } from "../keys/key-store.js";
import type { CreditLedger } from "../ledger/credit-ledger.js";
import type { WritablePlanStore } from "../plans/plan-store.js";
import type { ResponseLimits } from "../responses/response-limits.js";
import type { ResponseStore } from "../responses/response-store.js";
import { creditLedgerOn, type RedisCreditLedgerOptions } from "./redis-credit-ledger.js";
import { keyStoreOn } from "./redis-key-store.js";
import { connectionOf } from "./redis-options.js";
import { planStoreOn } from "./redis-plan-store.js";
import { responseStoreOn } from "./responses/redis-response-store.js";

/** What a gateway keeps, all of it in Redis. */
export interface RedisStores {
  keys: WritableKeyStore;
  plans: WritablePlanStore;
  ledger: CreditLedger;
  responses: ResponseStore;
}

/** Options of {@link redisStores}. */
export interface RedisStoresOptions extends RedisCreditLedgerOptions {
  /** How much is kept of responses. */
  responses?: ResponseLimits | undefined;
}

/**
 * The key store, plan store, ledger and response store of a gateway in one Redis: `createGateway({ ...redisStores({ client }), … })`.
 * @throws TypeError | RangeError when an option is not valid.
 */
export function redisStores(options: RedisStoresOptions): RedisStores {
  const connection = connectionOf(options);
  return {
    keys: keyStoreOn(connection),
    plans: planStoreOn(connection),
    ledger: creditLedgerOn(connection, options.journal),
    responses: responseStoreOn(connection, options.responses),
  };
}

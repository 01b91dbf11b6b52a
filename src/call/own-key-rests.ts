import { LRUCache } from "lru-cache";
import type { GatewayError } from "../errors/gateway-error.js";

interface Rest {
  readonly key: string;
  /** In epoch milliseconds. */
  readonly until: number;
  /** What the account's calls get meanwhile. */
  readonly error: GatewayError;
}

/** So many accounts' keys are remembered, those that were refused last. */
const mostResting = 10_000;

/**
 * The own keys that model servers have refused, or found at their limit, each for its account alone. Until its rest is over no
 * call goes out with it; another key of the account's is tried at once.
 */
export class OwnKeyRests {
  readonly #rests = new LRUCache<string, Rest>({ max: mostResting });

  /** @param now - in epoch milliseconds. */
  of(account: string, provider: string, key: string, now: number): Rest | undefined {
    const rest = this.#rests.get(placeOf(account, provider));
    return rest !== undefined && rest.key === key && rest.until > now ? rest : undefined;
  }

  add(account: string, provider: string, rest: Rest): void {
    this.#rests.set(placeOf(account, provider), rest);
  }
}

function placeOf(account: string, provider: string): string {
  return JSON.stringify([account, provider]);
}

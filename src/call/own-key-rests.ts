import type { GatewayError } from "../errors/gateway-error.js";
import type { Target } from "../routing/target.js";
import { runtime } from "../runtime/this-runtime.js";

/** Why, and until when no call goes out with a key. */
interface Rest {
  /** In epoch milliseconds. */
  readonly until: number;
  /** What the account's calls get meanwhile. */
  readonly error: GatewayError;
}

/** So many are remembered: those that came last. */
const mostResting = 10_000;

/**
 * The own keys that model servers have refused, or found at their limit, each for its account and one model alone. Another key
 * of the account's is tried at once. Of a key its hash is kept.
 */
export class OwnKeyRests {
  readonly #rests = new Map<string, Rest>();

  /** @param now - in epoch milliseconds. */
  of(account: string, target: Pick<Target, "name">, key: string, now: number): Rest | undefined {
    if (this.#rests.size === 0) return undefined;
    const rest = this.#rests.get(placeOf(account, target, key));
    return rest !== undefined && rest.until > now ? rest : undefined;
  }

  add(account: string, target: Pick<Target, "name">, key: string, rest: Rest, now: number): void {
    const place = placeOf(account, target, key);
    // The latest is the last.
    this.#rests.delete(place);
    this.#rests.set(place, rest);
    for (const [oldest, { until }] of this.#rests) {
      if (until > now && this.#rests.size <= mostResting) break;
      this.#rests.delete(oldest);
    }
  }
}

function placeOf(account: string, { name }: Pick<Target, "name">, key: string): string {
  return runtime.sha256(JSON.stringify([account, name, key]), "base64url");
}

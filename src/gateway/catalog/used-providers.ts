import { hasSameSettings } from "../../providers/direct-call.js";
import type { UpstreamProvider } from "../../providers/upstream-provider.js";
import { UsedProvider } from "../../routing/used-provider.js";

type ByName = ReadonlyMap<string, UsedProvider>;

/** The providers of the catalog. Those that leave it are closed when their last call has ended. */
export class UsedProviders {
  #current: ByName = new Map();
  /** Have left the catalog, but not their last calls. */
  readonly #leaving = new Set<UsedProvider>();
  readonly #closing = new Set<Promise<void>>();

  /** By their names. */
  get current(): ByName {
    return this.#current;
  }

  /** Matches providers to those in use. Nothing changes until {@link commit}. */
  match(providers: Readonly<Record<string, UpstreamProvider>>): ByName {
    const matched = new Map<string, UsedProvider>();
    for (const [name, provider] of Object.entries(providers)) {
      matched.set(name, this.#find(name, provider, matched) ?? new UsedProvider(provider));
    }
    return matched;
  }

  /** @param next - what {@link match} returned. */
  commit(next: ByName): void {
    const kept = new Set(next.values());
    for (const used of kept) {
      this.#leaving.delete(used);
      used.keep();
    }
    for (const used of new Set(this.#current.values())) if (!kept.has(used)) this.#drop(used);
    this.#current = next;
  }

  async close(): Promise<void> {
    const open = new Set([...this.#current.values(), ...this.#leaving]);
    // A call that was never admitted may end later: it must not close them again.
    for (const used of this.#leaving) used.keep();
    await Promise.all([...this.#closing, ...Array.from(open, closeProvider)]);
  }

  /** The same object under any name, or one of the same settings under the same name. */
  #find(name: string, provider: UpstreamProvider, matched: ByName): UsedProvider | undefined {
    const same = [...this.#current.values(), ...this.#leaving, ...matched.values()].find(
      (used) => used.provider === provider,
    );
    if (same !== undefined) return same;
    const named = this.#current.get(name);
    return named !== undefined && hasSameSettings(named.provider, provider) ? named : undefined;
  }

  #drop(used: UsedProvider): void {
    this.#leaving.add(used);
    used.drop(() => {
      this.#leaving.delete(used);
      const closing = closeProvider(used).then(() => void this.#closing.delete(closing));
      this.#closing.add(closing);
    });
  }
}

/** A provider that cannot be closed must not hold up the others. */
async function closeProvider({ provider }: UsedProvider): Promise<void> {
  try {
    await provider.close?.();
  } catch {}
}

import { LRUCache } from "lru-cache";
import type { ResponseCacheStore } from "./response-cache-store.js";

/** Of an account's values: the least recently used is the first. */
interface Share {
  readonly ids: Set<string>;
  bytes: number;
}

interface Entry {
  readonly account: string;
  readonly value: Uint8Array;
  /** In epoch milliseconds. */
  readonly expiresAt: number;
}

/** An account may have one part in so many. */
const shares = 4;

/** What a value takes beside its bytes. */
const entryBytes = 1280;

/** Keeps values in the memory of this process. Where it is full, what was not used for longest goes. */
export class MemoryResponseCache implements ResponseCacheStore {
  readonly #clock: { now(): number };
  readonly #entries: LRUCache<string, Entry>;
  readonly #shares = new Map<string, Share>();
  readonly #mostOfAccount: number;

  /** @param maxBytes - of all values, with what they take beside their bytes. */
  constructor(maxBytes: number, clock: { now(): number }) {
    this.#clock = clock;
    this.#mostOfAccount = Math.floor(maxBytes / shares);
    this.#entries = new LRUCache<string, Entry>({
      maxSize: maxBytes,
      sizeCalculation: sizeOf,
      dispose: (entry, id) => this.#dropped(entry, id),
    });
  }

  get(account: string, key: string): Uint8Array | undefined {
    const id = idOf(account, key);
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    const ids = this.#shares.get(account)?.ids;
    ids?.delete(id);
    ids?.add(id);
    return entry.value;
  }

  put(account: string, key: string, value: Uint8Array, ttlMs: number): void {
    this.#dropExpired();
    const entry = { account, value, expiresAt: this.#clock.now() + ttlMs };
    const size = sizeOf(entry);
    const id = idOf(account, key);
    this.#entries.delete(id);
    if (size > this.#mostOfAccount) return;
    const share = this.#shares.get(account) ?? { ids: new Set(), bytes: 0 };
    for (const oldest of share.ids) {
      if (share.bytes + size <= this.#mostOfAccount) break;
      this.#entries.delete(oldest);
    }
    this.#shares.set(account, share);
    share.ids.add(id);
    share.bytes += size;
    this.#entries.set(id, entry);
  }

  forget(account: string): void {
    for (const id of this.#shares.get(account)?.ids ?? []) this.#entries.delete(id);
  }

  /** Of what was not used for longest, what is too old goes, however much room there is. */
  #dropExpired(): void {
    const now = this.#clock.now();
    const expired: string[] = [];
    for (const id of this.#entries.rkeys()) {
      if ((this.#entries.peek(id)?.expiresAt ?? 0) > now) break;
      expired.push(id);
    }
    for (const id of expired) this.#entries.delete(id);
  }

  #dropped(entry: Entry, id: string): void {
    const share = this.#shares.get(entry.account);
    if (share === undefined || !share.ids.delete(id)) return;
    share.bytes -= sizeOf(entry);
    if (share.ids.size === 0) this.#shares.delete(entry.account);
  }
}

/** Keys have no spaces. */
function idOf(account: string, key: string): string {
  return `${key} ${account}`;
}

function sizeOf({ value }: Entry): number {
  return value.length + entryBytes;
}

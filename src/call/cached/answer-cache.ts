import type { Soon } from "../soon.js";

/** Keeps responses as calls use it: the memory of this process, or the host's store. */
export interface AnswerCache {
  /** Never fails: what cannot be read is not there. */
  get(account: string, key: string): Soon<Uint8Array | undefined>;
  /** Never fails. */
  put(account: string, key: string, value: Uint8Array, ttlMs: number): void;
  /** @throws GatewayError 503 (or rejects) when the store fails. */
  forget(account: string): Soon<void>;
}

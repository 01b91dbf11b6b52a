import type { BodyFailure, GatewayRequest } from "./message.js";

interface Pending {
  readonly account: string;
  bytes: number;
}

/**
 * Counts the bytes of request bodies whose calls hold no limited credits: the gateway has neither admitted nor refused
 * them yet, or they have no limit. Without this count a single key could fill the memory. It counts the bytes that
 * came, not those that are announced. Bytes that a request causes count like those that it brought: what it refers to, and
 * what it has read to it.
 */
export class PendingBodies {
  readonly #maxBytes: number;
  /** The most bytes of one account. */
  readonly maxAccountBytes: number;
  readonly #pending = new Map<GatewayRequest, Pending>();
  readonly #byAccount = new Map<string, number>();
  #bytes = 0;

  /** @param maxBytes - of all together, of which an account can have a quarter, but always one body of `maxBodyBytes`. */
  constructor(maxBytes: number, maxBodyBytes: number) {
    this.#maxBytes = maxBytes;
    this.maxAccountBytes = Math.max(Math.floor(maxBytes / 4), maxBodyBytes);
  }

  /** How many bytes wait at the moment. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many requests have a body that waits. */
  get size(): number {
    return this.#pending.size;
  }

  /**
   * So many more bytes of the request's body have come.
   * @returns why there is no room for them, if there is none: then they do not count.
   */
  add(request: GatewayRequest, account: string, bytes: number): BodyFailure | undefined {
    const ofAccount = (this.#byAccount.get(account) ?? 0) + bytes;
    if (ofAccount > this.maxAccountBytes) return "over_share";
    if (this.#bytes + bytes > this.#maxBytes) return "no_room";
    this.#bytes += bytes;
    this.#byAccount.set(account, ofAccount);
    const pending = this.#pending.get(request);
    if (pending === undefined) this.#pending.set(request, { account, bytes });
    else pending.bytes += bytes;
    return undefined;
  }

  /** The request holds credits, or has ended: its body does not count any more. */
  drop(request: GatewayRequest): void {
    if (this.#pending.size === 0) return;
    const pending = this.#pending.get(request);
    if (pending === undefined) return;
    this.#pending.delete(request);
    const { account, bytes } = pending;
    this.#bytes -= bytes;
    const ofAccount = (this.#byAccount.get(account) ?? 0) - bytes;
    if (ofAccount > 0) this.#byAccount.set(account, ofAccount);
    else this.#byAccount.delete(account);
  }
}

/** An item of a response's input or output. */
export interface KeptItem {
  readonly id: string;
  /** The item as JSON text, its id included. */
  readonly json: string;
}

/** A response that is kept, so that its account's later requests can refer to it. */
export interface KeptResponse {
  /** `resp_…`, of the gateway's own. */
  readonly id: string;
  readonly account: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** The kept response that its request went on from. */
  readonly previousResponseId: string | undefined;
  /** The response as its client got it: JSON text. */
  readonly response: string;
  /** The items of its request's own input, in order. */
  readonly input: readonly KeptItem[];
  /** The items of its output, in order. */
  readonly output: readonly KeptItem[];
}

/**
 * Keeps responses by account. No account reaches another one's. A store is bounded: the oldest responses go first, and one
 * that is gone is as one that never was.
 *
 * Ids and accounts are well-formed Unicode without control characters, of at most 256 and 128 characters. Methods that look
 * for another one find nothing.
 */
export interface ResponseStore {
  /**
   * Keeps a response, from now on as the account's newest. The same id again replaces it.
   * @throws TypeError (as a rejection) when an id or a text of it cannot be stored.
   */
  put(response: KeptResponse): Promise<void>;
  /** @returns `undefined` where the account has none with this id. */
  find(account: string, id: string): Promise<KeptResponse | undefined>;
  /**
   * A response and those before it, by `previousResponseId`, the oldest first.
   * @param most - how many at the most.
   * @returns `undefined` where one of them is gone, or there are more.
   */
  findChain(account: string, id: string, most: number): Promise<readonly KeptResponse[] | undefined>;
  /**
   * Items of the account's responses, of input or output, as JSON text by their ids. Those that are not kept are absent.
   * Where several responses have an item of the same id, it is that of the newest; within one response, the last.
   */
  findItems(account: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** @returns whether there was one. */
  delete(account: string, id: string): Promise<boolean>;
  /** Deletes all responses of the account. */
  forget(account: string): Promise<void>;
  /** Ends what the store itself has begun, such as timers. Connections stay the host's. */
  close(): Promise<void>;
}

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

/** Which of a response's input items are wanted. */
export interface InputPage {
  /** The id of an item, behind whose last place in the order the page begins. Absent: at the beginning. */
  readonly after?: string | undefined;
  /** How many items at the most, 1 or more. */
  readonly limit: number;
  /** `asc`: as they were sent; `desc`: the last one first. */
  readonly order: "asc" | "desc";
}

/** Some of a response's input items. */
export interface KeptInput {
  readonly items: readonly KeptItem[];
  /** Whether there are further ones behind them. */
  readonly hasMore: boolean;
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
  /**
   * How many bytes a response and those before it take, as far as they are there: of the newest `most`. The gateway finds room
   * for so many before it has them loaded. Absent: it counts what it has loaded.
   * @returns `undefined` where the account has no response with this id.
   */
  measureChain?(account: string, id: string, most: number): Promise<number | undefined>;
  /** How many bytes of UTF-8 each text has that {@link findItems} would give. Absent: as for {@link measureChain}. */
  measureItems?(account: string, ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * A page of a response's input items. Absent: the gateway loads the response for it.
   * @returns `undefined` where the account has no such response, or the response has no item of the id in `after`.
   */
  findInput?(account: string, id: string, page: InputPage): Promise<KeptInput | undefined>;
  /** @returns whether there was one. */
  delete(account: string, id: string): Promise<boolean>;
  /** Deletes all responses of the account. */
  forget(account: string): Promise<void>;
  /** Ends what the store itself has begun, such as timers. Connections stay the host's. */
  close(): Promise<void>;
}

/** A store of responses as calls use it. */
export interface CallResponses extends ResponseStore {
  /**
   * To be called when a call begins.
   * @returns how it keeps its response: not at all when its account is forgotten meanwhile.
   */
  putLater(account: string): (response: KeptResponse) => Promise<void>;
  /** Resolves when no response is being put any more. */
  settled(): Promise<void>;
}

/** How much a response store keeps, and for how long. */
export interface ResponseLimits {
  /** How long a response is kept, in milliseconds; at least a second. Default: 30 days. */
  ttlMs?: number | undefined;
  /** How many bytes of responses an account has at most: beyond it, its oldest go. Default: 67,108,864, which is 64 MiB. */
  maxAccountBytes?: number | undefined;
}

/** All that there are. */
export const knownResponseLimits: Readonly<Record<keyof ResponseLimits, true>> = {
  ttlMs: true,
  maxAccountBytes: true,
};

const day = 86_400_000;

/** @throws RangeError when a limit is out of range. */
export function checkResponseLimits({
  ttlMs = 30 * day,
  maxAccountBytes = 64 * 1_024 * 1_024,
}: ResponseLimits = {}): Required<{ [Name in keyof ResponseLimits]: number }> {
  requireAtLeast("ttlMs", ttlMs, 1_000);
  requireAtLeast("maxAccountBytes", maxAccountBytes, 1);
  return { ttlMs, maxAccountBytes };
}

/** @throws RangeError when the number is another. */
export function requireAtLeast(name: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new RangeError(`${name} must be a whole number of at least ${least}, not ${value}.`);
  }
}

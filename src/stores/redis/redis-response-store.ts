import { requireKnownOptions } from "../../check/known-options.js";
import { checkedResponseStore, responseBytes, wholeChain } from "../../responses/checked-response-store.js";
import {
  checkResponseLimits,
  type KeptInput,
  type KeptItem,
  type KeptResponse,
  knownResponseLimits,
  type ResponseLimits,
  type ResponseStore,
} from "../../responses/response-store.js";
import { AccountKeys } from "./account-keys.js";
import { clock } from "./lua/prelude.js";
import {
  deleteResponse,
  findResponse,
  findResponseChain,
  findResponseInput,
  findResponseItems,
  forgetResponses,
  measureResponseChain,
  measureResponseItems,
  putResponse,
  responsesPrelude,
  responsesState,
} from "./lua/responses.js";
import { connectionOf, knownRedisOptions, type RedisConnection, type RedisOptions } from "./redis-connection.js";
import { makeScript, type Script } from "./script.js";

/** Options of {@link redisResponseStore}. */
export interface RedisResponseStoreOptions extends RedisOptions, ResponseLimits {}

/**
 * Keeps responses in Redis. Each operation is one script in one round trip, and the server's clock is the only clock. All
 * keys of an account are in one hash slot, and have a time to live: that of its newest response.
 *
 * @throws TypeError | RangeError when an option is not valid.
 */
export function redisResponseStore(options: RedisResponseStoreOptions): ResponseStore {
  requireKnownOptions("redisResponseStore", options, { ...knownRedisOptions, ...knownResponseLimits });
  return responseStoreOn(connectionOf(options), options);
}

/** The same on a connection that is shared with other stores. */
export function responseStoreOn(
  { run, prefix }: Pick<RedisConnection, "run" | "prefix">,
  limits: ResponseLimits | undefined,
  scripts = responseScripts,
): ResponseStore {
  const { ttlMs, maxAccountBytes } = checkResponseLimits(limits);
  const keys = new AccountKeys(prefix);

  return checkedResponseStore("redisResponseStore", {
    async put(response) {
      const { account, id } = response;
      await run(scripts.put, keys.ofResponses(account), [ttlMs, maxAccountBytes, id, ...toStoredResponse(response)]);
    },
    async find(account, id) {
      const found = await run(scripts.find, keys.ofResponses(account), [ttlMs, id]);
      return fromStoredResponse(account, id, found as readonly unknown[]);
    },
    async findChain(account, id, most) {
      const found = await run(scripts.findChain, keys.ofResponses(account), [ttlMs, id, most]);
      return wholeChain(fromStoredChain(account, id, found as readonly (readonly unknown[])[]));
    },
    async findItems(account, ids) {
      const found = await run(scripts.findItems, keys.ofResponses(account), [ttlMs, ids.length, ...ids]);
      const texts = found as readonly unknown[];
      const entries = ids.flatMap((id, index) => (texts[index] == null ? [] : [[id, String(texts[index])] as const]));
      return new Map(entries);
    },
    async measureChain(account, id, most) {
      const bytes = Number(await run(scripts.measureChain, keys.ofResponses(account), [ttlMs, id, most]));
      return bytes < 0 ? undefined : bytes;
    },
    async measureItems(account, ids) {
      const found = await run(scripts.measureItems, keys.ofResponses(account), [ttlMs, ids.length, ...ids]);
      const sizes = (found as readonly unknown[]).map(Number);
      return new Map(ids.flatMap((id, index) => ((sizes[index] ?? -1) < 0 ? [] : [[id, sizes[index] ?? 0] as const])));
    },
    async findInput(account, id, { after = "", limit, order }) {
      const found = await run(scripts.findInput, keys.ofResponses(account), [ttlMs, id, after, limit, order]);
      return fromStoredInput(found as readonly unknown[]);
    },
    async delete(account, id) {
      return Number(await run(scripts.delete, keys.ofResponses(account), [ttlMs, id])) === 1;
    },
    async forget(account) {
      await run(scripts.forget, keys.ofResponses(account), []);
    },
    close: async () => {},
  });
}

function fromStoredInput([hasMore, ...texts]: readonly unknown[]): KeptInput | undefined {
  if (hasMore === undefined) return undefined;
  const items: KeptItem[] = [];
  for (let at = 0; at < texts.length; at += 2) items.push({ id: String(texts[at]), json: String(texts[at + 1]) });
  return { items, hasMore: Number(hasMore) === 1 };
}

function fromStoredChain(account: string, id: string, stored: readonly (readonly unknown[])[]): KeptResponse[] {
  const chain: KeptResponse[] = [];
  let next: string | undefined = id;
  for (const each of stored) {
    const response: KeptResponse | undefined = next === undefined ? undefined : fromStoredResponse(account, next, each);
    if (response === undefined) break;
    chain.push(response);
    next = response.previousResponseId;
  }
  return chain;
}

/** What the scripts read of a response; its texts are stored apart. */
interface Head {
  readonly createdAt: number;
  readonly previousResponseId?: string | undefined;
  readonly bytes: number;
  /** The ids of items. */
  readonly input: readonly string[];
  readonly output: readonly string[];
}

/** The head, the response's text, and those of its items, as the scripts take and answer them. */
function toStoredResponse(kept: KeptResponse): string[] {
  const { createdAt, previousResponseId, response, input, output } = kept;
  const [inputIds, outputIds] = [input.map(({ id }) => id), output.map(({ id }) => id)];
  const bytes = responseBytes(kept);
  const head: Head = { createdAt, previousResponseId, bytes, input: inputIds, output: outputIds };
  return [JSON.stringify(head), response, ...[...input, ...output].map(({ json }) => json)];
}

/** @returns `undefined` for the answer that there is none. */
function fromStoredResponse(account: string, id: string, stored: readonly unknown[]): KeptResponse | undefined {
  const [headText, response, ...texts] = stored.map(String);
  if (headText === undefined || response === undefined) return undefined;
  const { createdAt, previousResponseId, input, output } = JSON.parse(headText) as Head;
  const itemsOf = (ids: readonly string[], first: number): KeptItem[] =>
    ids.map((itemId, index) => ({ id: itemId, json: texts[first + index] ?? "" }));
  return {
    ...{ id, account, createdAt, previousResponseId, response },
    input: itemsOf(input, 0),
    output: itemsOf(output, input.length),
  };
}

/** One script for each operation of the store of responses. */
type ResponseScripts = Readonly<
  Record<
    "put" | "find" | "findChain" | "findItems" | "measureChain" | "measureItems" | "findInput" | "delete" | "forget",
    Script
  >
>;

/** @param clockPart - the part that defines `now`. */
export function makeResponseScripts(clockPart: string = clock): ResponseScripts {
  const state = [responsesPrelude, clockPart, responsesState];
  return {
    put: makeScript(...state, putResponse),
    find: makeScript(...state, findResponse),
    findChain: makeScript(...state, findResponseChain),
    findItems: makeScript(...state, findResponseItems),
    measureChain: makeScript(...state, measureResponseChain),
    measureItems: makeScript(...state, measureResponseItems),
    findInput: makeScript(...state, findResponseInput),
    delete: makeScript(...state, deleteResponse),
    forget: makeScript(forgetResponses),
  };
}

const responseScripts: ResponseScripts = makeResponseScripts();

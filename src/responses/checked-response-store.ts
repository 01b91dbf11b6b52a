import { Buffer } from "node:buffer";
import { idProblem } from "../check/id-problem.js";
import type { InputPage, KeptInput, KeptItem, KeptResponse, ResponseStore } from "./response-store.js";

const longestAccount = 128;

/**
 * The store, to which nothing gets that it could not tell from something else, or give back as it was. Who puts such a text
 * learns of it by a TypeError that begins with `by`; who looks for one finds nothing.
 */
export function checkedResponseStore(by: string, store: ResponseStore): ResponseStore {
  const { measureChain, measureItems, findInput } = store;
  return {
    async put(response) {
      const problem = responseProblem(response);
      if (problem !== undefined) throw new TypeError(`${by}.put: the response is not valid: ${problem}.`);
      await store.put(response);
    },
    find: async (account, id) => (isKey(account, id) ? await store.find(account, id) : undefined),
    async findChain(account, id, most) {
      return isKey(account, id) && most >= 1 ? await store.findChain(account, id, most) : undefined;
    },
    async findItems(account, ids) {
      const known = isAccount(account) ? [...new Set(ids)].filter(isId) : [];
      return known.length === 0 ? new Map() : await store.findItems(account, known);
    },
    ...(measureChain && {
      async measureChain(account, id, most) {
        return isKey(account, id) && most >= 1 ? await measureChain.call(store, account, id, most) : undefined;
      },
    }),
    ...(measureItems && {
      async measureItems(account, ids) {
        const known = isAccount(account) ? [...new Set(ids)].filter(isId) : [];
        return known.length === 0 ? new Map() : await measureItems.call(store, account, known);
      },
    }),
    ...(findInput && {
      async findInput(account, id, page) {
        const { after, limit } = page;
        const isAsked = isKey(account, id) && limit >= 1 && (after === undefined || isId(after));
        return isAsked ? await findInput.call(store, account, id, page) : undefined;
      },
    }),
    delete: async (account, id) => isKey(account, id) && (await store.delete(account, id)),
    async forget(account) {
      if (isAccount(account)) await store.forget(account);
    },
    close: () => store.close(),
  };
}

const isId = (id: string) => idProblem(id) === undefined;
const isAccount = (account: string) => idProblem(account, longestAccount) === undefined;
const isKey = (account: string, id: string) => isAccount(account) && isId(id);

function responseProblem(kept: KeptResponse): string | undefined {
  const { id, account, createdAt, previousResponseId, response, input, output } = kept;
  if (!Number.isSafeInteger(createdAt)) return "createdAt must be whole milliseconds";
  return (
    named("id", idProblem(id)) ??
    named("account", idProblem(account, longestAccount)) ??
    named("previousResponseId", previousResponseId === undefined ? undefined : idProblem(previousResponseId)) ??
    named("response", textProblem(response)) ??
    itemsProblem("input", input) ??
    itemsProblem("output", output)
  );
}

function itemsProblem(name: string, items: readonly KeptItem[]): string | undefined {
  for (const [index, { id, json }] of items.entries()) {
    const problem = named("id", idProblem(id)) ?? named("json", textProblem(json));
    if (problem !== undefined) return `${name}[${index}].${problem}`;
  }
  return undefined;
}

/** JSON may hold neither as it is, only escaped. */
function textProblem(text: unknown): string | undefined {
  if (typeof text !== "string") return "must be a string";
  if (!text.isWellFormed() || text.includes("\0")) return "must be well-formed Unicode without NUL";
  return undefined;
}

function named(name: string, problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : `${name} ${problem}`;
}

/** Which places of a list a page has: from one, so many, one behind or before the other. */
interface PagePlaces {
  /** Places from 0, in the order of the page. */
  readonly places: readonly number[];
  readonly hasMore: boolean;
}

/**
 * Finds a page among the items of a list. Of several items of the id in `after` the last one counts, so that whoever asks for
 * page after page comes to an end.
 * @param ids - in the order in which they were sent.
 * @returns `undefined` where no item has the id in `after`.
 */
export function pagePlaces(ids: readonly string[], { after, limit, order }: InputPage): PagePlaces | undefined {
  const step = order === "asc" ? 1 : -1;
  const first = step === 1 ? 0 : ids.length - 1;
  const found = after === undefined ? first - step : step === 1 ? ids.lastIndexOf(after) : ids.indexOf(after);
  if (after !== undefined && found < 0) return undefined;
  const left = step === 1 ? ids.length - 1 - found : found;
  const count = Math.min(limit, left);
  return { places: Array.from({ length: count }, (_, index) => found + step * (index + 1)), hasMore: left > count };
}

/** The page itself, of items that are there. */
export function inputPageOf(items: readonly KeptItem[], page: InputPage): KeptInput | undefined {
  const ids = items.map(({ id }) => id);
  const found = pagePlaces(ids, page);
  return found && { items: found.places.flatMap((place) => items[place] ?? []), hasMore: found.hasMore };
}

/**
 * A chain as stores read it: from the newest response back, as far as responses are there and no further than was asked.
 * @returns the oldest first; `undefined` where it does not reach its beginning.
 */
export function wholeChain(newestFirst: readonly KeptResponse[]): readonly KeptResponse[] | undefined {
  const oldest = newestFirst.at(-1);
  if (oldest === undefined || oldest.previousResponseId !== undefined) return undefined;
  return newestFirst.toReversed();
}

/** What an item or a response takes besides its text. So the bytes also bound how many there are. */
const overheadBytes = 256;

/** What a response takes in a store, about: its texts in UTF-8, and something for each row. */
export function responseBytes({ response, input, output }: KeptResponse): number {
  return overheadBytes + Buffer.byteLength(response) + itemBytes(input) + itemBytes(output);
}

/** In UTF-8. */
export function textBytes(text: string): number {
  return Buffer.byteLength(text);
}

function itemBytes(items: readonly KeptItem[]): number {
  return items.reduce((sum, { id, json }) => sum + overheadBytes + id.length + Buffer.byteLength(json), 0);
}

import { idProblem } from "../check/id-problem.js";
import type { KeptItem, KeptResponse, ResponseStore } from "./response-store.js";

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

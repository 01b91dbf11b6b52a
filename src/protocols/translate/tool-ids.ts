import { Buffer } from "node:buffer";
import { RawJson } from "../../wire/json-steps.js";
import type { Steps } from "../../wire/slices.js";
import { textFaultSteps } from "../../wire/value-steps.js";

/** What Anthropic takes for the id of a tool call. */
const plainId = /^[a-zA-Z0-9_-]+$/;

/** Behind it stands an id of another form, as base64url. Anthropic's own go on with a digit. */
const encodedPrefix = "toolu_x";

/** The id of a tool call as a client of Messages gets it. {@link fromMessagesToolId} gives the upstream's back. */
export function toMessagesToolId(id: string): string {
  if (plainId.test(id) && !id.startsWith(encodedPrefix)) return id;
  return encodedPrefix + Buffer.from(id).toString("base64url");
}

/** The upstream's own id: some templates need the form that they have given it. */
export function fromMessagesToolId(id: string): string {
  if (!id.startsWith(encodedPrefix)) return id;
  const decoded = Buffer.from(id.slice(encodedPrefix.length), "base64url").toString("utf8");
  return toMessagesToolId(decoded) === id ? decoded : id;
}

/** Gives ids that are different, whatever ids it is given: weak models give two calls the same, or none. */
export class FreeIds {
  readonly #ids = new Set<string>();
  /** How often each id was asked for. */
  readonly #counts = new Map<string, number>();

  /** How many it has given. */
  get size(): number {
    return this.#ids.size;
  }

  /** @returns the id itself, or with a number behind it. However often it is asked for, that takes no longer. */
  take(id: string): string {
    let count = (this.#counts.get(id) ?? 0) + 1;
    let free = count === 1 ? id : `${id}_${count}`;
    while (this.#ids.has(free)) free = `${id}_${++count}`;
    this.#counts.set(id, count);
    this.#ids.add(free);
    return free;
  }
}

/**
 * The arguments of a function as the JSON of a tool's input, as they are. What is no object, and what is nested too deep, is
 * kept as text, so that the tool can say what is wrong with it.
 */
export function* toolInputSteps(text: string): Steps<RawJson> {
  if (isBlank(text)) return new RawJson("{}");
  const fault = yield* textFaultSteps(text);
  return fault === undefined ? new RawJson(text) : new RawJson('{"_raw":', { text }, "}");
}

/** Not by a copy of it. */
function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

/** What pairs a call with its output. Searches may have none, and items of some built-in tools pair by their own ids. */
export function callIdOf(item: Readonly<Record<string, unknown>>, index: number): string {
  const { call_id: callId, id } = item;
  if (typeof callId === "string" && callId !== "") return callId;
  return typeof id === "string" && id !== "" ? id : `call_${index}`;
}

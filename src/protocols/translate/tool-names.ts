import { runtime } from "../../runtime/this-runtime.js";
import type { ClientToolKind } from "./client-tools.js";

/** How a tool's calls look to the client. */
export type ToolKind = "function" | "custom" | "tool_search" | ClientToolKind;

/** A tool as the client names it. */
export interface ToolName {
  readonly kind: ToolKind;
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** What servers take for the name of a function. */
const longestName = 64;

/** The names of a request's tools on both sides: servers of chat completions know functions alone, and one flat list. */
export class ToolNames {
  readonly #byFlatName = new Map<string, ToolName>();
  readonly #flatNames = new Map<string, string>();

  /** @returns the tool's flat name; `undefined` when it was declared before. */
  declare(tool: ToolName): string | undefined {
    const key = keyOf(tool);
    if (this.#flatNames.has(key)) return undefined;
    const plain = flatName(tool);
    const flat = this.#byFlatName.has(plain) ? hashedName(plain, key) : plain;
    this.#flatNames.set(key, flat);
    this.#byFlatName.set(flat, tool);
    return flat;
  }

  /** The flat name of a tool that may not be declared any more. */
  flatten(tool: ToolName): string {
    return this.#flatNames.get(keyOf(tool)) ?? flatName(tool);
  }

  /** The tool of a call. A name that was not declared is a function's: the model has made it up. */
  restore(flat: string): ToolName {
    return this.#byFlatName.get(flat) ?? { kind: "function", name: flat };
  }
}

function keyOf({ kind, name, namespace }: ToolName): string {
  return JSON.stringify([kind, namespace ?? null, name]);
}

/** By the tool's names alone: calls of former requests get the same. */
function flatName(tool: ToolName): string {
  const { name, namespace } = tool;
  const plain = namespace === undefined ? name : `${namespace}__${name}`;
  return /^[\w-]{1,64}$/.test(plain) ? plain : hashedName(plain, keyOf(tool));
}

function hashedName(plain: string, key: string): string {
  const hash = shortHash(key);
  const kept = plain.replace(/[^\w-]/g, "_").slice(0, longestName - hash.length - 1);
  return `${kept}_${hash}`;
}

/** Tells texts apart, in eight letters and digits. */
function shortHash(text: string): string {
  return runtime.sha256(text, "hex").slice(0, 8);
}

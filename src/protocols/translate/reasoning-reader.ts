import { isRecord } from "../../wire/is-record.js";
import type { ThoughtName } from "../responses/own-items.js";

/** What a message or a delta of chat completions shows of a model's thoughts. */
export interface ReasoningDelta {
  readonly text: string;
  /** The member that it stood in. */
  readonly name: ThoughtName;
  /** The same in pieces, signed or encrypted, as some servers want it back. */
  readonly details: readonly Record<string, unknown>[];
}

/** Reads the thoughts of one answer. Servers differ in the member's name; some say the same under several. */
export class ReasoningReader {
  /** Details repeat what stood in a member of its own, in the same delta or in earlier ones. */
  #hasOwnMember = false;

  read(message: Readonly<Record<string, unknown>>): ReasoningDelta {
    const { reasoning_content: content, reasoning, reasoning_details: listed } = message;
    const details = Array.isArray(listed) ? listed.filter(isRecord) : [];
    const isContent = isText(content);
    if (isContent || isText(reasoning)) {
      this.#hasOwnMember = true;
      return isContent
        ? { text: content, name: "reasoning_content", details }
        : { text: String(reasoning), name: "reasoning", details };
    }
    const text = this.#hasOwnMember ? "" : details.map((detail) => textOf(detail) ?? "").join("");
    return { text, name: "reasoning", details };
  }
}

/** Adds the pieces of a delta to those before: a piece goes on where it is of the same type and place. */
export function addDetails(details: Record<string, unknown>[], added: ReasoningDelta["details"]): void {
  for (const detail of added) {
    const last = details.at(-1);
    const text = textOf(detail);
    const isSame = last !== undefined && last["type"] === detail["type"] && last["index"] === detail["index"];
    if (last === undefined || !isSame || (text === undefined && detail["data"] !== undefined)) {
      details.push({ ...detail });
      continue;
    }
    const name = typeof detail["summary"] === "string" ? "summary" : "text";
    const former = last[name];
    for (const [member, value] of Object.entries(detail)) if (value !== null) last[member] = value;
    if (text !== undefined) last[name] = (typeof former === "string" ? former : "") + text;
  }
}

function textOf({ text, summary }: Record<string, unknown>): string | undefined {
  if (typeof text === "string") return text;
  return typeof summary === "string" ? summary : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

import { isRecord } from "../../wire/is-record.js";

/** An event of a stream of Messages that has to do with a block. */
export interface BlockEvent {
  readonly type: "content_block_start" | "content_block_delta" | "content_block_stop";
  readonly index: number;
  readonly content_block?: Record<string, unknown>;
  readonly delta?: Record<string, unknown>;
}

export interface ToolCall {
  readonly kind: "tool";
  id: string;
  name: string;
  arguments: string;
  /** What the upstream wants back with the call, beside its arguments. */
  extra: Record<string, unknown> | undefined;
  /** How much of the arguments has gone out; `undefined`: the block has not begun. */
  sent: number | undefined;
  isClosed: boolean;
}

export interface Thinking {
  readonly kind: "thinking";
  text: string;
  readonly details: Record<string, unknown>[];
}

export interface Text {
  readonly kind: "text";
  text: string;
}

export type BlockItem = ToolCall | Thinking | Text;

export function newCall(): ToolCall {
  return { kind: "tool", id: "", name: "", arguments: "", extra: undefined, sent: undefined, isClosed: false };
}

export function newThinking(): Thinking {
  return { kind: "thinking", text: "", details: [] };
}

/** Nothing can be added to an object that has ended. */
export function isComplete(json: string): boolean {
  if (!json.trimEnd().endsWith("}")) return false;
  try {
    return isRecord(JSON.parse(json));
  } catch {
    return false;
  }
}

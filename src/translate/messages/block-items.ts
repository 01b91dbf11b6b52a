import { ObjectScan } from "../../wire/pieces/object-scan.js";

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
  /** Of its arguments, what has not gone out. */
  waiting: string;
  /** Of all of its arguments. */
  readonly scan: ObjectScan;
  /** What the upstream wants back with the call, beside its arguments. */
  extra: Record<string, unknown> | undefined;
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
  return { kind: "tool", id: "", name: "", waiting: "", scan: new ObjectScan(), extra: undefined, isClosed: false };
}

export function newThinking(): Thinking {
  return { kind: "thinking", text: "", details: [] };
}

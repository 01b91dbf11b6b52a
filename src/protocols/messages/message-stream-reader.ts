import { StreamFault } from "../../errors/upstream-fault.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import { isRecord } from "../../wire/is-record.js";
import { requireNoFailure } from "../shared/received-response.js";
import { PartCount } from "../shared/response-bounds.js";
import type { EstimateBounds } from "../shared/token-estimate.js";
import type { UpstreamFailureContext } from "../shared/upstream-failure.js";
import { findReport } from "../shared/usage-report.js";
import { fromAnthropicErrorEvent } from "./anthropic-error.js";
import { MessageProgress } from "./message-progress.js";
import { blockText } from "./message-response.js";

/** An event of a stream of Messages. */
export interface MessageEvent {
  readonly type: string;
  readonly members: Record<string, unknown>;
}

/** Reads the events of an upstream's stream of Messages, and keeps count of them. */
export class MessageStreamReader {
  readonly progress: MessageProgress;
  readonly #context: UpstreamFailureContext;
  readonly #blocks = new PartCount();

  constructor(context: EstimateBounds & UpstreamFailureContext) {
    this.progress = new MessageProgress(context);
    this.#context = context;
  }

  /**
   * @returns `undefined` for what is none, and for what comes behind the end.
   * @throws StreamFault, or GatewayError for an error that the upstream sent.
   */
  read({ data, event: name }: ServerSentEvent): MessageEvent | undefined {
    const text = data.trim();
    if (this.progress.isDone || text === "" || text === "[DONE]") return undefined;
    const members = parse(text);
    const type = members["type"];
    if (name === "error" || type === "error" || isRecord(members["error"]))
      throw fromAnthropicErrorEvent(members, this.#context);
    if (typeof type !== "string") throw new StreamFault("garbage");
    this.#note(type, members);
    return { type, members };
  }

  /** @throws StreamFault `incomplete` when the message has not come to its end. */
  end(): void {
    if (!this.progress.isComplete) throw new StreamFault("incomplete");
    this.progress.doneCame();
  }

  #note(type: string, said: Record<string, unknown>): void {
    switch (type) {
      case "message_start":
        if (isRecord(said["message"])) this.progress.usageCame(findReport(said["message"]));
        break;
      case "content_block_start":
        this.#beginBlock(said["content_block"]);
        break;
      case "content_block_delta":
        this.#noteBlock(said["delta"]);
        break;
      case "content_block_stop":
        this.progress.blockEnded();
        break;
      case "message_delta": {
        const { delta } = said;
        const isFinal = this.progress.usageCame(findReport(said));
        if (!isRecord(delta) || typeof delta["stop_reason"] !== "string") break;
        requireNoFailure(delta["stop_reason"]);
        this.progress.endCame(isFinal);
        break;
      }
      case "message_stop":
        // Bedrock counts here.
        this.progress.usageCame(findReport(said));
        this.end();
        break;
    }
  }

  #beginBlock(block: unknown): void {
    this.#noteBlock(block);
    this.#blocks.add(isRecord(block) ? block["type"] : undefined);
  }

  #noteBlock(block: unknown): void {
    this.progress.outputCame(blockText(block));
    const type = isRecord(block) ? block["type"] : undefined;
    if (typeof type === "string" && type.includes("thinking")) this.progress.reasoningCame();
  }
}

function parse(text: string): Record<string, unknown> {
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {
    throw new StreamFault("garbage");
  }
  if (!isRecord(said)) throw new StreamFault("garbage");
  return said;
}

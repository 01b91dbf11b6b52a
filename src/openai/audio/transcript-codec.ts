import { Buffer } from "node:buffer";
import { StreamFault } from "../../errors/stream-fault.js";
import { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { fromErrorObject } from "../../model-api/failure/upstream-failure.js";
import { withoutByteOrderMark } from "../../wire/byte-order-mark.js";
import { isRecord } from "../../wire/is-record.js";
import { PassedCodec } from "../passed-codec.js";
import { doneEvent, type PassedEvent } from "../passed-event.js";
import type { TranscriptContext } from "./transcript-answer.js";
import { TranscriptProgress } from "./transcript-progress.js";
import { transcriptUsage } from "./use-of-transcript.js";

/**
 * Converts an upstream's stream of a transcript into the client's. Some servers send chunks as those of chat, one finish for
 * each part of the audio: these become the events that clients know.
 */
export class TranscriptCodec extends PassedCodec<TranscriptProgress, TranscriptContext> {
  /** What chunks have brought; `undefined`: events come. */
  #joined: string | undefined;
  #usage: unknown;

  constructor(context: TranscriptContext) {
    super(new TranscriptProgress(context), context);
  }

  protected pass(event: PassedEvent): Uint8Array | undefined {
    const json = event.whole;
    const { type } = json;
    const { progress } = this;
    if (Array.isArray(json["choices"])) return this.#chunk(json, json["choices"]);
    // Its client has the text, whether the data or the name of the event says what it is.
    if (event.type === "transcript.text.delta") progress.textCame(String(json["delta"] ?? ""));
    else if (typeof json["text"] === "string") progress.wordsCame();
    if (type === "transcript.text.done") {
      progress.wholeCame(String(json["text"] ?? ""));
      progress.usageCame(json);
      progress.ended();
    }
    return event.bytes(this.context);
  }

  /** Behind chunks, the end of the transcript comes first. */
  protected override done(): Uint8Array | undefined {
    return this.#joined === undefined ? doneEvent : undefined;
  }

  #chunk(json: Readonly<Record<string, unknown>>, choices: readonly unknown[]): Uint8Array | undefined {
    this.#joined ??= "";
    if (isRecord(json["usage"])) {
      this.#usage = json["usage"];
      this.progress.usageCame({ usage: this.#usage });
    }
    const deltas = choices.map((choice) => (isRecord(choice) && isRecord(choice["delta"]) ? choice["delta"] : {}));
    const delta = deltas.map(({ content }) => (typeof content === "string" ? content : "")).join("");
    if (delta === "") return undefined;
    this.#joined += delta;
    this.progress.textCame(delta);
    return eventOf({ type: "transcript.text.delta", delta });
  }

  /**
   * Makes events of a document that came in reply to a request for a stream.
   * @throws StreamFault `garbage` when it is no transcript, or GatewayError for an error.
   */
  whole(body: Uint8Array): Uint8Array {
    const { json } = new ReceivedAnswer(withoutByteOrderMark(body));
    if (isRecord(json) && isRecord(json["error"])) throw fromErrorObject(json["error"], this.context);
    if (!isRecord(json) || typeof json["text"] !== "string") throw new StreamFault("garbage");
    const { text, usage } = json;
    this.progress.textCame(text);
    this.progress.usageCame(json);
    this.progress.ended();
    const delta = eventOf({ type: "transcript.text.delta", delta: text });
    return Buffer.concat([delta, this.#doneOf(text, usage)]);
  }

  /** @throws StreamFault `incomplete` */
  override end(): Uint8Array {
    if (this.#joined === undefined || !this.progress.isDone) return super.end();
    this.progress.ended();
    return Buffer.concat([this.#doneOf(this.#joined, this.#usage), doneEvent]);
  }

  #doneOf(text: string, reported: unknown): Buffer {
    const usage = transcriptUsage(reported, this.progress.tokens, this.context);
    return eventOf({ type: "transcript.text.done", text, usage });
  }
}

function eventOf(json: object): Buffer {
  return Buffer.from(`data: ${JSON.stringify(json)}\n\n`);
}

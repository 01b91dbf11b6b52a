import { Buffer } from "node:buffer";
import { StreamFault } from "../../errors/upstream-fault.js";
import type { StreamProgress } from "../../prices/progress.js";
import { guessTokens, type UsageCounts } from "../../prices/usage-counts.js";
import { TextSample } from "../../tokens/text-sample.js";
import { withoutByteOrderMark } from "../../wire/bytes.js";
import { isRecord } from "../../wire/is-record.js";
import { doneEvent, PassedCodec, type PassedEvent } from "../shared/passed-codec.js";
import { ReceivedResponse } from "../shared/received-response.js";
import { estimatedOutput } from "../shared/token-estimate.js";
import { fromErrorObject } from "../shared/upstream-failure.js";
import type { TranscriptContext } from "./transcript-response.js";
import { type TranscriptUse, transcriptUsage, useOfTranscript } from "./use-of-transcript.js";

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
    const { json } = new ReceivedResponse(withoutByteOrderMark(body));
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

/** The progress of a transcript's stream. The stream's reader updates it; the meter reads it. */
class TranscriptProgress implements StreamProgress {
  responseId: string | undefined;
  finishReason: string | undefined;
  readonly awaitsUsage = false;
  readonly reasons = false;
  readonly #context: TranscriptContext;
  #text = new TextSample();
  #hasWords = false;
  /** What has come of the usage, and of what stands in for it. */
  #last: Readonly<Record<string, unknown>> = {};
  #hasEnded = false;
  #isDone = false;

  constructor(context: TranscriptContext) {
    this.#context = context;
  }

  get seenOutput(): number {
    return guessTokens(this.#text.bytes);
  }

  get hasOutput(): boolean {
    return this.#text.bytes > 0 || this.#hasWords || this.#hasEnded;
  }

  get isComplete(): boolean {
    return this.#hasEnded;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  get isCounted(): boolean {
    return this.#hasEnded && !this.#use.estimated;
  }

  get estimated(): boolean {
    return this.#use.estimated;
  }

  get tokens(): UsageCounts {
    return this.#use.used;
  }

  get #use(): TranscriptUse {
    return useOfTranscript(this.#last, this.#context, estimatedOutput(this.#context, this.#text));
  }

  /** Words that may have come before, such as those of a segment. */
  wordsCame(): void {
    this.#hasWords = true;
  }

  textCame(text: string): void {
    this.#text.addText(text);
  }

  /** Some servers send all of it at the end alone. */
  wholeCame(text: string): void {
    const whole = new TextSample();
    whole.addText(text);
    if (whole.bytes > this.#text.bytes) this.#text = whole;
  }

  /** @param json - what may say how much was used. */
  usageCame(json: Readonly<Record<string, unknown>>): void {
    this.#last = json;
  }

  ended(): void {
    this.#hasEnded = true;
  }

  doneCame(): void {
    this.#isDone = true;
  }
}

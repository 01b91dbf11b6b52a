import type { OperationName } from "../../metering/operation-name.js";
import type { UsageCounts } from "../../metering/usage-counts.js";
import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import type { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import type { Dialect } from "../../model-api/dialect.js";
import { readErrorBody } from "../../model-api/failure/read-error-body.js";
import {
  sentFormat,
  type TranscriptContext,
  toTranscriptAnswer,
  unreadTranscript,
} from "../../openai/audio/transcript-answer.js";
import { TranscriptCodec } from "../../openai/audio/transcript-codec.js";
import type { TranscriptFormat, TranscriptionRequest } from "../../openai/audio/transcription-request.js";
import { type TranscriptBounds, useOfTranscript } from "../../openai/audio/use-of-transcript.js";
import { addNameEdits } from "../upstream-body.js";
import { FormBody } from "../../openai/form/form-body.js";
import { readWhole, refuseWhole, type WholeReader } from "../../openai/read-whole.js";
import type { MemberEdits } from "../../wire/json-members.js";
import { contextWith, toFailureContext } from "../answer-context.js";
import type { Exchange } from "../operation.js";

interface Facts {
  readonly answer: AnswerContext;
  readonly bounds: TranscriptBounds;
  readonly dialect: Dialect | undefined;
  /** Whether its price is for the time that was heard. */
  readonly isTimed: boolean;
}

/** A form with audio, and its transcript. */
export class TranscriptExchange implements Exchange, WholeReader {
  readonly operation: OperationName;
  readonly readsLongTexts = true;
  readonly #form: FormBody;
  readonly #request: TranscriptionRequest;
  readonly #context: TranscriptContext;
  /** What the upstream is asked for. */
  readonly #asked: TranscriptFormat;

  constructor(operation: OperationName, request: TranscriptionRequest, facts: Facts) {
    const { answer, bounds, dialect } = facts;
    this.operation = operation;
    this.#request = request;
    this.#context = contextWith(answer, bounds);
    this.#asked = sentFormat(request, { ...facts, upstreamModel: answer.upstreamModel });
    const edits: MemberEdits = new Map([["model", JSON.stringify(answer.upstreamModel)]]);
    if (dialect !== undefined) addNameEdits(request, dialect, edits);
    if (this.#asked !== request.format) edits.set("response_format", JSON.stringify(this.#asked));
    if (request.stream) {
      for (const [name, value] of Object.entries(dialect?.transcriptStream?.fields ?? {})) {
        edits.set(name, JSON.stringify(value));
      }
    }
    this.#form = new FormBody(request, edits);
  }

  get body(): Uint8Array {
    return this.#form.whole;
  }

  get pieces(): readonly Uint8Array[] {
    return this.#form.pieces;
  }

  get headers(): Readonly<Record<string, string>> {
    return { "content-type": this.#form.contentType };
  }

  bodyWith(edits: MemberEdits): readonly Uint8Array[] {
    return this.#form.with(edits);
  }

  readWhole(bytes: Uint8Array) {
    const isText = this.#asked === "text" || this.#asked === "srt" || this.#asked === "vtt";
    return isText ? unreadTranscript(bytes, this.#context) : readWhole(bytes, this);
  }

  read(received: ReceivedAnswer) {
    return toTranscriptAnswer(received, { asked: this.#asked, wanted: this.#request.format }, this.#context);
  }

  refuse(received: ReceivedAnswer): never {
    return refuseWhole(received, this.#context);
  }

  /** The upstream hears all of it, whoever waits. */
  partialTokens(): UsageCounts {
    return useOfTranscript({}, this.#context, 0).used;
  }

  readStream() {
    return new TranscriptCodec(this.#context);
  }

  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array) {
    // Nobody repeats a file in an error.
    return readErrorBody(status, headers, body, toFailureContext(this.#context, this.#request.body));
  }
}

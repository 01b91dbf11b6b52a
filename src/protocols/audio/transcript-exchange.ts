import type { OperationName } from "../../prices/operation-name.js";
import type { UsageCounts } from "../../prices/usage-counts.js";
import type { MemberEdits } from "../../wire/json-members.js";
import type { Dialect } from "../shared/dialect.js";
import {
  type AttemptContext,
  contextWith,
  readErrorBody,
  readWhole,
  refuseWhole,
  toFailureContext,
  type WholeReader,
} from "../shared/exchange.js";
import { FormBody } from "../shared/form-request.js";
import type { Exchange } from "../shared/operation.js";
import { addNameEdits } from "../shared/parsed-request.js";
import type { ReceivedResponse } from "../shared/received-response.js";
import { TranscriptCodec } from "./transcript-codec.js";
import { sentFormat, type TranscriptContext, toTranscriptResponse, unreadTranscript } from "./transcript-response.js";
import type { TranscriptFormat, TranscriptionRequest } from "./transcription-request.js";
import { type TranscriptBounds, useOfTranscript } from "./use-of-transcript.js";

interface Facts {
  readonly answer: AttemptContext;
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

  read(received: ReceivedResponse) {
    return toTranscriptResponse(received, { asked: this.#asked, wanted: this.#request.format }, this.#context);
  }

  refuse(received: ReceivedResponse): never {
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

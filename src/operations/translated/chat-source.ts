import type { GatewayError } from "../../errors/gateway-error.js";
import type { ModelAnswer } from "../../metering/model-answer.js";
import type { OperationName } from "../../metering/operation-name.js";
import type { StreamProgress } from "../../metering/progress.js";
import type { TokenCounts } from "../../metering/token-counts.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import type { Outgoing } from "../../wire/sliced/late-bytes.js";
import type { Steps } from "../../wire/slices.js";
import type { Exchange } from "../operation.js";
import type { TextSink, TextSource } from "./text-shortcut.js";

/** A chat completion or one of its chunks, as parsed JSON. */
export type ChatJson = Readonly<Record<string, unknown>>;

/** A whole chat completion, repaired, and what it counts. */
export interface ChatCompletion extends Pick<ModelAnswer, "tokens" | "estimated" | "unpriced"> {
  readonly json: ChatJson;
}

/** The upstream's side of a translated exchange: whatever it speaks, it gives chat completions. */
export interface ChatSource {
  readonly operation: OperationName;
  readonly body: Uint8Array;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** @throws GatewayError when it is no response to the request. */
  readWhole(bytes: Uint8Array): Steps<ChatCompletion>;
  readStream(): ChatChunkSource;
  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array): GatewayError;
}

/** Gives the chunks of a stream, repaired. Its methods throw StreamFault, or GatewayError for an error of the upstream. */
export interface ChatChunkSource {
  readonly progress: StreamProgress;
  /** Absent where every event is parsed. */
  readonly texts?: TextSource;
  event(event: ServerSentEvent): readonly ChatJson[];
  /** The chunks of one JSON document that came in place of events. */
  whole(body: Uint8Array): readonly ChatJson[];
  /** The chunks that are missing when the upstream has ended. */
  end(): readonly ChatJson[];
}

/** The client's side of a translated exchange: it writes a chat completion in the client's own words. */
export interface ChatSink {
  /** @param expectedBytes - about how long it will be. */
  whole(completion: ChatCompletion, expectedBytes: number): Steps<Uint8Array>;
  /** The response's id, as its client gets it. */
  responseId(completion: ChatJson): string | undefined;
  stream(): ChatChunkSink;
  /** See `Exchange.keep`. */
  readonly keep?: Exchange["keep"];
}

/** Writes the client's stream. */
export interface ChatChunkSink {
  /** The response's id; may be `undefined` until something of it was written. */
  readonly responseId: string | undefined;
  /** Absent where every chunk is written anew. */
  readonly texts?: TextSink;
  /** @returns `undefined` where the client gets nothing for the chunk. */
  chunk(chunk: ChatJson): Outgoing | undefined;
  end(tokens: TokenCounts): Outgoing;
  fault(error: GatewayError): Uint8Array;
  keepAlive(): Uint8Array;
}

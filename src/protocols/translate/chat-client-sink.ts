import type { GatewayError } from "../../errors/gateway-error.js";
import type { TokenCounts } from "../../prices/usage-counts.js";
import { isRecord } from "../../wire/is-record.js";
import { jsonSteps, textSlices } from "../../wire/json-steps.js";
import { keepAliveComment } from "../../wire/plain-event.js";
import { joinOutgoing, LateBytes, type Outgoing, type Steps } from "../../wire/slices.js";
import { ChatChunkWriter } from "../chat/chat-chunk-writer.js";
import { contentOfChunk } from "../chat/chat-progress.js";
import type { AttemptContext } from "../shared/exchange.js";
import { errorEvent } from "../shared/openai-protocol.js";
import { toUsageObject } from "../shared/usage-object.js";
import type { ChatChunkSink, ChatCompletion, ChatJson, ChatSink, TextSink } from "./chat-source.js";

/** A client of chat completions, for an upstream that does not speak them. */
export class ChatClientSink implements ChatSink {
  readonly #context: AttemptContext;
  readonly #includeUsage: boolean;

  constructor(context: AttemptContext, includeUsage: boolean) {
    this.#context = context;
    this.#includeUsage = includeUsage;
  }

  /** With its usage, also where the upstream has not counted. */
  *whole({ json, tokens }: ChatCompletion, expectedBytes: number): Steps<Uint8Array> {
    return yield* jsonSteps(isRecord(json["usage"]) ? json : { ...json, usage: toUsageObject(tokens) }, expectedBytes);
  }

  responseId({ id }: ChatJson): string | undefined {
    return typeof id === "string" ? id : undefined;
  }

  stream(): ChatChunkSink {
    return new ChatClientChunks(this.#context, this.#includeUsage);
  }
}

/** A piece of text changes nothing of what comes behind it. */
const chatSink: TextSink = { textIn: (sent) => contentOfChunk(sent, false), count: 0 };

class ChatClientChunks implements ChatChunkSink {
  readonly texts = chatSink;
  readonly #writer: ChatChunkWriter;
  #usage: Record<string, unknown> | undefined;

  constructor(context: AttemptContext, includeUsage: boolean) {
    this.#writer = new ChatChunkWriter(context, includeUsage);
  }

  get responseId(): string | undefined {
    return this.#writer.id;
  }

  chunk(json: ChatJson): Outgoing | undefined {
    const parts = chunkParts(json);
    if (parts === undefined) return this.#write(json);
    const written = this.#writeAll(parts);
    // The first one says what the response is called.
    const first = written.next();
    return first.done ? undefined : joinOutgoing([first.value, new LateBytes(written)]);
  }

  *#writeAll(parts: Iterable<ChatJson>): Generator<Uint8Array, void> {
    for (const part of parts) yield this.#write(part) ?? new Uint8Array();
  }

  #write(json: ChatJson): Uint8Array | undefined {
    const usage = isRecord(json["usage"]) ? json["usage"] : undefined;
    this.#usage = usage ?? this.#usage;
    return this.#writer.write({ json, text: JSON.stringify(json), isRepaired: false, usage });
  }

  end(tokens: TokenCounts): Uint8Array {
    return this.#writer.end({ tokens, reportedUsage: this.#usage });
  }

  fault(error: GatewayError): Uint8Array {
    return errorEvent(error);
  }

  keepAlive(): Uint8Array {
    return keepAliveComment;
  }
}

type Chunk = Readonly<Record<string, unknown>>;

/** Longer texts come in several chunks, in UTF-16 code units. */
const longest = 64 * 1024;

/**
 * A chunk as several that say the same, each of which is short: a client adds their texts up.
 * @returns `undefined` for a chunk without a long text, as nearly all are.
 */
export function chunkParts(chunk: Chunk): Iterable<Chunk> | undefined {
  const { choices } = chunk;
  const [choice, another]: unknown[] = Array.isArray(choices) ? choices : [];
  if (another !== undefined || !isRecord(choice) || !isRecord(choice["delta"])) return undefined;
  const { delta } = choice;
  for (const name of ["content", "reasoning_content"]) {
    const text = delta[name];
    if (typeof text !== "string" || text.length <= longest) continue;
    return partsOf(chunk, choice, text, (part, isFirst) => ({ ...(isFirst ? delta : undefined), [name]: part }));
  }
  const [call, other]: unknown[] = Array.isArray(delta["tool_calls"]) ? delta["tool_calls"] : [];
  const called = isRecord(call) ? call["function"] : undefined;
  if (other !== undefined || !isRecord(call) || !isRecord(called)) return undefined;
  const { arguments: text } = called;
  if (typeof text !== "string" || text.length <= longest) return undefined;
  return partsOf(chunk, choice, text, (part, isFirst) => {
    const first = { ...call, function: { ...called, arguments: part } };
    const later = { index: call["index"], function: { arguments: part } };
    return { ...(isFirst ? delta : undefined), tool_calls: [isFirst ? first : later] };
  });
}

/** What ends the choice comes with the last one. */
function* partsOf(
  chunk: Chunk,
  choice: Record<string, unknown>,
  text: string,
  deltaOf: (part: string, isFirst: boolean) => object,
): Generator<Chunk, void> {
  let rest = text.length;
  for (const part of textSlices(text, longest)) {
    const delta = deltaOf(part, rest === text.length);
    rest -= part.length;
    const own = rest === 0 ? choice : { ...choice, finish_reason: null };
    yield { ...chunk, choices: [{ ...own, delta }] };
  }
}

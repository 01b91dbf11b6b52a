import type { GatewayError } from "../../errors/gateway-error.js";
import type { TokenCounts } from "../../metering/token-counts.js";
import { CustomCalls } from "../../translate/chat/custom-calls.js";
import type { ChatChunkSink, ChatCompletion, ChatJson, ChatSink } from "./chat-source.js";

/** A client of chat completions that has custom tools, for an upstream that knows functions alone. */
export class CustomCallsSink implements ChatSink {
  readonly #sink: ChatSink;
  readonly #names: ReadonlySet<string>;

  /** @param names - of the custom tools. */
  constructor(sink: ChatSink, names: ReadonlySet<string>) {
    this.#sink = sink;
    this.#names = names;
  }

  whole(completion: ChatCompletion, expectedBytes: number) {
    const json = new CustomCalls(this.#names).completion(completion.json);
    return this.#sink.whole({ ...completion, json }, expectedBytes);
  }

  responseId(completion: ChatJson): string | undefined {
    return this.#sink.responseId(completion);
  }

  stream(): ChatChunkSink {
    return new CustomCallChunks(this.#sink.stream(), new CustomCalls(this.#names));
  }
}

class CustomCallChunks implements ChatChunkSink {
  readonly #sink: ChatChunkSink;
  readonly #calls: CustomCalls;

  constructor(sink: ChatChunkSink, calls: CustomCalls) {
    this.#sink = sink;
    this.#calls = calls;
  }

  get responseId(): string | undefined {
    return this.#sink.responseId;
  }

  chunk(chunk: ChatJson) {
    return this.#sink.chunk(this.#calls.chunk(chunk));
  }

  end(tokens: TokenCounts) {
    return this.#sink.end(tokens);
  }

  fault(error: GatewayError) {
    return this.#sink.fault(error);
  }

  keepAlive() {
    return this.#sink.keepAlive();
  }
}

import type { GatewayError } from "../../errors/gateway-error.js";
import type { TokenCounts } from "../../prices/usage-counts.js";
import { isRecord } from "../../wire/is-record.js";
import type { ChatChunkSink, ChatCompletion, ChatJson, ChatSink } from "./chat-source.js";
import { unwrappedText } from "./wrapped-text.js";

type Json = Readonly<Record<string, unknown>>;

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

/** A call of a custom tool, while its arguments come. */
interface OpenCall {
  readonly place: unknown;
  arguments: string;
}

/**
 * Turns calls of functions back into the calls of the client's custom tools, which its model's server knows as functions.
 * For one answer.
 */
class CustomCalls {
  readonly #names: ReadonlySet<string>;
  readonly #open = new Map<unknown, OpenCall>();

  /** @param names - of the custom tools. */
  constructor(names: ReadonlySet<string>) {
    this.#names = names;
  }

  /** A whole chat completion. */
  completion(json: Json): Json {
    return withEach(json, "message", (call) => {
      const { function: called, ...rest } = call;
      if (!this.#isCustom(called)) return [call];
      const input = unwrappedText(String(called["arguments"] ?? ""));
      return [{ ...rest, type: "custom", custom: { name: called["name"], input } }];
    });
  }

  /** A chunk of a stream. The text is known when all of the arguments have come: it is in the chunk that ends the answer. */
  chunk(json: Json): Json {
    const read = withEach(json, "delta", (call) => this.#delta(call));
    return this.#open.size > 0 && hasEnded(read) ? this.#withInputs(read) : read;
  }

  #delta(call: Json): Json[] {
    const { index, function: called, ...rest } = call;
    if (this.#isCustom(called)) {
      this.#open.set(index, { place: index, arguments: String(called["arguments"] ?? "") });
      return [{ ...rest, index, type: "custom", custom: { name: called["name"], input: "" } }];
    }
    const open = this.#open.get(index);
    if (open === undefined) return [call];
    if (isRecord(called) && typeof called["arguments"] === "string") open.arguments += called["arguments"];
    return [];
  }

  #withInputs(json: Json): Json {
    const calls = [...this.#open.values()].map(({ place, arguments: args }) => ({
      index: place,
      custom: { input: unwrappedText(args) },
    }));
    this.#open.clear();
    return withChoice(json, (choice) => {
      const delta = isRecord(choice["delta"]) ? choice["delta"] : {};
      const own: unknown[] = Array.isArray(delta["tool_calls"]) ? delta["tool_calls"] : [];
      return { ...choice, delta: { ...delta, tool_calls: [...own, ...calls] } };
    });
  }

  #isCustom(called: unknown): called is Record<string, unknown> {
    return isRecord(called) && typeof called["name"] === "string" && this.#names.has(called["name"]);
  }
}

/** Maps the calls of the message, or of the delta, of each choice. */
function withEach(json: Json, name: "message" | "delta", map: (call: Json) => readonly Json[]): Json {
  return withChoice(json, (choice) => {
    const said = choice[name];
    if (!isRecord(said) || !Array.isArray(said["tool_calls"])) return choice;
    const calls = said["tool_calls"].flatMap((call: unknown) => (isRecord(call) ? map(call) : []));
    const { tool_calls: _, ...rest } = said;
    return { ...choice, [name]: calls.length === 0 ? rest : { ...rest, tool_calls: calls } };
  });
}

function withChoice(json: Json, map: (choice: Record<string, unknown>) => Json): Json {
  const { choices } = json;
  if (!Array.isArray(choices)) return json;
  return { ...json, choices: choices.map((choice: unknown) => (isRecord(choice) ? map(choice) : choice)) };
}

function hasEnded({ choices }: Json): boolean {
  return (
    Array.isArray(choices) && choices.some((choice) => isRecord(choice) && typeof choice["finish_reason"] === "string")
  );
}

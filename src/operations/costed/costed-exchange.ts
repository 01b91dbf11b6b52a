import { Buffer } from "node:buffer";
import type { GatewayError } from "../../errors/gateway-error.js";
import type { ModelAnswer } from "../../metering/model-answer.js";
import type { OperationName } from "../../metering/operation-name.js";
import type { UsageCounts } from "../../metering/usage-counts.js";
import type { MemberEdits } from "../../wire/json-members.js";
import type { Exchange } from "../operation.js";
import type { ByteAnswer, StreamCodec } from "../stream-codec.js";
import { CostedCodec } from "./costed-codec.js";
import { type CostOf, withCost } from "./usage-cost.js";

/** An exchange whose client sees in the usage what the call costs. What is kept of its response does not say it. */
export class CostedExchange implements Exchange {
  readonly operation: OperationName;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly bodyWith?: (edits: MemberEdits) => readonly Uint8Array[];
  readonly keep?: (instead?: string) => Promise<void>;
  readonly bytesAreTokens?: boolean;
  /** Bytes have no usage. */
  readonly readBytes?: (headers: Readonly<Record<string, string>>) => ByteAnswer;
  readonly #exchange: Exchange;
  readonly #costOf: CostOf;

  constructor(exchange: Exchange, costOf: CostOf) {
    this.operation = exchange.operation;
    this.headers = exchange.headers;
    if (exchange.bodyWith !== undefined) this.bodyWith = exchange.bodyWith.bind(exchange);
    if (exchange.keep !== undefined) this.keep = async (instead) => await exchange.keep?.(instead);
    if (exchange.bytesAreTokens !== undefined) this.bytesAreTokens = exchange.bytesAreTokens;
    if (exchange.readBytes !== undefined) this.readBytes = exchange.readBytes.bind(exchange);
    this.#exchange = exchange;
    this.#costOf = costOf;
  }

  get body(): Uint8Array {
    return this.#exchange.body;
  }

  get pieces(): readonly Uint8Array[] | undefined {
    return this.#exchange.pieces;
  }

  readWhole(bytes: Uint8Array): ModelAnswer | Promise<ModelAnswer> {
    const answer = this.#exchange.readWhole(bytes);
    return answer instanceof Promise ? answer.then((read) => this.#withCost(read)) : this.#withCost(answer);
  }

  #withCost(answer: ModelAnswer): ModelAnswer {
    const { body, tokens, contentType } = answer;
    if (contentType !== undefined && contentType !== "application/json") return answer;
    return { ...answer, body: withCost(typeof body === "string" ? Buffer.from(body) : body, this.#costOf(tokens)) };
  }

  partialTokens(pieces: readonly Uint8Array[]): UsageCounts {
    return this.#exchange.partialTokens(pieces);
  }

  readStream(): StreamCodec {
    return new CostedCodec(this.#exchange.readStream(), this.#costOf);
  }

  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array): GatewayError {
    return this.#exchange.readError(status, headers, body);
  }
}

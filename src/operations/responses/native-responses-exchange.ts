import { Buffer } from "node:buffer";
import { notAResponse } from "../../errors/not-a-response.js";
import { StreamFault } from "../../errors/stream-fault.js";
import type { ModelAnswer } from "../../metering/model-answer.js";
import { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { readErrorBody } from "../../model-api/failure/read-error-body.js";
import { fromErrorObject } from "../../model-api/failure/upstream-failure.js";
import { repairItems } from "../../openai/responses/native/call-texts.js";
import { encodeResponsesRequest } from "../../openai/responses/native/encode-responses-request.js";
import { hostedToolsToDrop } from "../../openai/responses/native/hosted-tools.js";
import {
  failureOf,
  isEndedResponse,
  type NativeResponseContext,
  toNativeResponse,
} from "../../openai/responses/native/native-response.js";
import { NativeResponseStream } from "../../openai/responses/native/native-response-stream.js";
import { responseToEvents } from "../../openai/responses/native/response-to-events.js";
import { withoutLackingVision } from "../../openai/responses/responses-capabilities.js";
import { responsesTable } from "../../openai/tables/responses-table.js";
import { withoutByteOrderMark } from "../../wire/byte-order-mark.js";
import { isRecord } from "../../wire/is-record.js";
import { mostOutputTokens } from "../most-output-tokens.js";
import type { Exchange } from "../operation.js";
import { SameProtocolExchange } from "../same-protocol-exchange.js";
import type { StreamCodec } from "../stream-codec.js";
import type { KeptConversation } from "./kept-conversation.js";
import { NativeContext } from "./native-context.js";
import { droppedMembers, type ResponsesExchangeParts } from "./responses-exchange-parts.js";

/** A request for a response, and the response of a server that speaks the same API. */
export class NativeResponsesExchange extends SameProtocolExchange<NativeResponseContext> implements Exchange {
  readonly operation = "responses";
  readonly #conversation: KeptConversation;
  /** Where the response is, as the client got it. */
  #answer: ModelAnswer | undefined;
  #codec: NativeResponsesCodec | undefined;
  readonly keep: Exchange["keep"];

  constructor(parts: ResponsesExchangeParts) {
    const { request: asked, conversation, target, model, attempt } = parts;
    const request = model.lacking === undefined ? asked : withoutLackingVision(asked, model.lacking);
    const dialect = target.rules.dialectFor(request, target.dialect, responsesTable);
    const body = encodeResponsesRequest(request, {
      model: target.upstreamModel,
      maxOutputTokens: mostOutputTokens(model),
      addedCap: attempt.addedCap,
      dropped: droppedMembers(model, dialect),
      withoutTools: hostedToolsToDrop(request, (type) => target.rules.passes(responsesTable, "tool", type)),
    });
    super(body, new NativeContext(parts));
    this.#conversation = conversation;
    if (conversation.isStored) this.keep = (instead) => this.#keep(instead);
  }

  read(received: ReceivedAnswer): ModelAnswer | undefined {
    this.#answer = toNativeResponse(received, this.context);
    return this.#answer;
  }

  refuse({ json }: ReceivedAnswer): never {
    const failure = failureOf(json);
    if (failure !== undefined) throw fromErrorObject(failure, this.context);
    throw notAResponse();
  }

  readStream(): StreamCodec {
    this.#codec = new NativeResponsesCodec(this.context);
    return this.#codec;
  }

  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array) {
    return readErrorBody(status, headers, body, { ...this.context, request: this.body });
  }

  async #keep(instead?: string): Promise<void> {
    const complete = this.#answer?.body ?? this.#codec?.response;
    const { responseId, createdAt } = this.context;
    if (complete !== undefined) await this.#conversation.keep(responseId, instead ?? complete, createdAt * 1000);
  }
}

class NativeResponsesCodec extends NativeResponseStream implements StreamCodec {
  whole(body: Uint8Array): Uint8Array | undefined {
    const { json } = new ReceivedAnswer(withoutByteOrderMark(body));
    if (!isRecord(json) || (failureOf(json) === undefined && !isEndedResponse(json))) throw new StreamFault("garbage");
    repairItems(json["output"]);
    const sent = responseToEvents(json).flatMap((event) => this.event(event) ?? []);
    return sent.length === 0 ? undefined : Buffer.concat(sent);
  }
}

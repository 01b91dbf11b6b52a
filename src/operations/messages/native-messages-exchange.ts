import { Buffer } from "node:buffer";
import { anthropicErrorEvent } from "../../anthropic/error-body.js";
import { pingEvent } from "../../anthropic/event-frame.js";
import { withKnownBetas } from "../../anthropic/known-betas.js";
import { toMessageAnswer } from "../../anthropic/messages/message-answer.js";
import { MessageStream } from "../../anthropic/messages/message-stream.js";
import { messageToEvents } from "../../anthropic/messages/message-to-events.js";
import { withoutLacking } from "../../anthropic/messages/messages-capabilities.js";
import { toUpstreamMessagesBody } from "../../anthropic/messages/to-upstream-messages-body.js";
import { messagesTable } from "../../anthropic/messages-table.js";
import { fromAnthropicError, fromAnthropicErrorEvent } from "../../anthropic/upstream-error.js";
import { withinContext } from "../../anthropic/within-context.js";
import type { GatewayError } from "../../errors/gateway-error.js";
import { notAResponse } from "../../errors/not-a-response.js";
import { StreamFault } from "../../errors/stream-fault.js";
import type { ModelAnswer } from "../../metering/model-answer.js";
import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { withoutByteOrderMark } from "../../wire/byte-order-mark.js";
import { isRecord } from "../../wire/is-record.js";
import { toAnswerContext, toFailureContext } from "../answer-context.js";
import { mostOutputTokens, requiredOutputCap } from "../most-output-tokens.js";
import type { Exchange } from "../operation.js";
import { SameProtocolExchange } from "../same-protocol-exchange.js";
import type { StreamCodec } from "../stream-codec.js";
import type { MessagesExchangeParts } from "./messages-exchange-parts.js";

/** A request for a message, and the message of a server that speaks the same API. */
export class NativeMessagesExchange extends SameProtocolExchange<AnswerContext> implements Exchange {
  readonly operation = "messages";
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    { request, headers, target, model, attempt }: MessagesExchangeParts,
    onUnknown: (beta: string) => void = () => {},
  ) {
    const { lacking } = model;
    const lets = (beta: string) => target.rules.passes(messagesTable, "beta", beta);
    const known = withKnownBetas(withinContext(headers, model.contextLength), { lets, onUnknown });
    const sent = lacking === undefined ? request : withoutLacking(request, lacking);
    const body = toUpstreamMessagesBody(sent, {
      model: target.upstreamModel,
      maxOutputTokens: mostOutputTokens(model),
      requiredCap: requiredOutputCap(model, attempt.addedCap),
      dropped: target.rules.dialectFor(request, undefined, messagesTable)?.dropped,
      reasoning: lacking === undefined || !lacking.reasoning,
    });
    super(body, toAnswerContext(target, model, attempt, "messages"));
    this.headers = known;
  }

  read(received: ReceivedAnswer): ModelAnswer | undefined {
    return toMessageAnswer(received, this.context);
  }

  refuse({ json }: ReceivedAnswer): never {
    if (isRecord(json) && isRecord(json["error"])) throw fromAnthropicErrorEvent(json, this.context);
    throw notAResponse();
  }

  readStream(): StreamCodec {
    return new NativeMessagesCodec(this.context);
  }

  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array): GatewayError {
    const { json } = new ReceivedAnswer(withoutByteOrderMark(body));
    return fromAnthropicError(status, headers, json, toFailureContext(this.context, this.body));
  }
}

class NativeMessagesCodec extends MessageStream implements StreamCodec {
  readonly #requestId: string;

  constructor(context: AnswerContext) {
    super(context);
    this.#requestId = context.requestId;
  }

  whole(body: Uint8Array): Uint8Array | undefined {
    const events = messageToEvents(new ReceivedAnswer(withoutByteOrderMark(body)));
    if (events === undefined) throw new StreamFault("garbage");
    return Buffer.concat(events.flatMap((event) => this.event(event) ?? []));
  }

  fault(error: GatewayError): Uint8Array {
    return anthropicErrorEvent(error, this.#requestId);
  }

  keepAlive(): Uint8Array {
    return pingEvent;
  }
}

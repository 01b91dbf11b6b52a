import { Buffer } from "node:buffer";
import type { GatewayError } from "../../errors/gateway-error.js";
import { notAResponse, StreamFault } from "../../errors/upstream-fault.js";
import type { ModelResponse } from "../../prices/progress.js";
import { withoutByteOrderMark } from "../../wire/bytes.js";
import { isRecord } from "../../wire/is-record.js";
import { bySize, type Steps } from "../../wire/slices.js";
import { mostOutputTokens, requiredOutputCap } from "../shared/demand.js";
import {
  type AttemptContext,
  calledName,
  ownId,
  SameProtocolExchange,
  toAttemptContext,
  toFailureContext,
} from "../shared/exchange.js";
import type { Exchange, ExchangeFacts, SealOfTarget } from "../shared/operation.js";
import { ReceivedResponse } from "../shared/received-response.js";
import type { StreamCodec } from "../shared/stream-codec.js";
import { toChatTarget } from "../translate/chat-target.js";
import { MessagesClientSink } from "../translate/messages-client-sink.js";
import { chatRequestOfMessagesSteps } from "../translate/messages-to-chat-request.js";
import { fewValuesSteps } from "../translate/request-elements.js";
import { originOf, TranslatedExchange, translatedSteps } from "../translate/translated-exchange.js";
import { anthropicErrorEvent, fromAnthropicError, fromAnthropicErrorEvent } from "./anthropic-error.js";
import { withKnownBetas } from "./forwarded-headers.js";
import { toMessageResponse } from "./message-response.js";
import { MessageStream } from "./message-stream.js";
import { messageToEvents, pingEvent } from "./message-to-events.js";
import { withoutMissing } from "./messages-capabilities.js";
import type { MessagesRequest } from "./messages-request.js";
import { messagesTable } from "./messages-table.js";
import { toUpstreamMessagesBody, withinContext } from "./to-upstream-messages-body.js";

/** A request for a message, and the message of a server that speaks the same API. */
export class NativeMessagesExchange extends SameProtocolExchange<AttemptContext> implements Exchange {
  readonly operation = "messages";
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    { request, headers, target, model, attempt }: MessagesExchangeParts,
    onUnknown: (beta: string) => void = () => {},
  ) {
    const { missing } = model;
    const lets = (beta: string) => target.rules.passes(messagesTable, "beta", beta);
    const known = withKnownBetas(withinContext(headers, model.contextLength), { lets, onUnknown });
    const sent = missing === undefined ? request : withoutMissing(request, missing);
    const body = toUpstreamMessagesBody(sent, {
      model: target.upstreamModel,
      maxOutputTokens: mostOutputTokens(model),
      requiredCap: requiredOutputCap(model, attempt.addedCap),
      dropped: target.rules.dialectFor(request, undefined, messagesTable)?.dropped,
      reasoning: missing === undefined || !missing.reasoning,
    });
    super(body, toAttemptContext(target, model, attempt, "messages"));
    this.headers = known;
  }

  read(received: ReceivedResponse): ModelResponse | undefined {
    return toMessageResponse(received, this.context);
  }

  refuse({ json }: ReceivedResponse): never {
    if (isRecord(json) && isRecord(json["error"])) throw fromAnthropicErrorEvent(json, this.context);
    throw notAResponse();
  }

  readStream(): StreamCodec {
    return new NativeMessagesCodec(this.context);
  }

  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array): GatewayError {
    const { json } = new ReceivedResponse(withoutByteOrderMark(body));
    return fromAnthropicError(status, headers, json, toFailureContext(this.context, this.body));
  }
}

class NativeMessagesCodec extends MessageStream implements StreamCodec {
  readonly #requestId: string;

  constructor(context: AttemptContext) {
    super(context);
    this.#requestId = context.requestId;
  }

  whole(body: Uint8Array): Uint8Array | undefined {
    const events = messageToEvents(new ReceivedResponse(withoutByteOrderMark(body)));
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

/** What an exchange of the Messages API is made of. */
interface MessagesExchangeParts extends ExchangeFacts {
  readonly request: MessagesRequest;
  /** The client's own that its upstream gets, too. */
  readonly headers: Readonly<Record<string, string>>;
  readonly sealOf: SealOfTarget;
}

/** A request for a message, and the chat completion of a server that does not speak that API. */
export function messagesOnChat(parts: MessagesExchangeParts): TranslatedExchange | Promise<TranslatedExchange> {
  return bySize(parts.request.body.length, exchangeSteps(parts));
}

function* exchangeSteps(parts: MessagesExchangeParts): Steps<TranslatedExchange> {
  const { request, headers, sealOf, target, model, attempt } = parts;
  yield* fewValuesSteps(request, "messages");
  const { body, translation } = yield* chatRequestOfMessagesSteps(request, {
    thoughts: sealOf(originOf(target, model)),
    reasoning: model.reasons,
  });
  const head = {
    requestId: attempt.requestId,
    messageId: ownId("msg", attempt),
    model: calledName(model),
    promptTokens: attempt.promptTokens,
    version: headers["anthropic-version"],
  };
  const sink = new MessagesClientSink(head, translation);
  const context = toAttemptContext(target, model, attempt, "messages");
  const source = yield* toChatTarget(yield* translatedSteps(body), parts, context);
  return new TranslatedExchange(source, sink, attempt);
}

import { Buffer } from "node:buffer";
import { ThoughtSeal } from "../../seal/payload-seal.js";
import { isRecord } from "../../wire/is-record.js";
import { bySize } from "../../wire/slices.js";
import { requireMessagesFit } from "../shared/context-fit.js";
import { demandOf, requireAllowedMembers } from "../shared/demand.js";
import { calledName } from "../shared/exchange.js";
import { textPrices } from "../shared/model-type.js";
import type {
  AttemptFacts,
  CountedRequest,
  Demand,
  ModelRequest,
  ModelTraits,
  Operation,
  OperationServices,
  RequestFacts,
  SealOfTarget,
  TargetTraits,
} from "../shared/operation.js";
import { jsonBodies, ParsedRequest } from "../shared/parsed-request.js";
import {
  besidePrompt,
  conversationMember,
  type PromptLayout,
  type PromptMember,
  schemaMember,
  settings,
  systemMember,
} from "../shared/prompt-layout.js";
import type { UnknownPlace } from "../shared/protocol-table.js";
import { ReceivedResponse } from "../shared/received-response.js";
import {
  emptyMerged,
  frameNamedEvents,
  type Merged,
  mergeDelta,
  pickMembers,
  type ReadResponse,
  type ResponseFormat,
  type ResponseJson,
} from "../shared/response-format.js";
import { responseTexts } from "../shared/response-texts.js";
import { anthropicProtocol } from "./anthropic-protocol.js";
import { forwardedHeaders } from "./forwarded-headers.js";
import { messageToEvents } from "./message-to-events.js";
import {
  compactsContext,
  hostedMessagesTool,
  hostedToolRefused,
  messagesAskToReason,
  refuseMissingOfMessages,
  refuseThread,
} from "./messages-capabilities.js";
import { messagesOnChat, NativeMessagesExchange } from "./messages-exchange.js";
import { messagesPromptTokens, tokenCountBody } from "./messages-prompt-tokens.js";
import { type MessagesRequest, messagesNames, parseMessagesRequest } from "./messages-request.js";
import { messagesTable } from "./messages-table.js";

/** `POST /v1/messages` */
export const messagesLayout: PromptLayout = {
  members: new Map<string, PromptMember>([
    ...besidePrompt,
    ...settings,
    ["messages", conversationMember],
    ["system", systemMember],
    ["tools", schemaMember],
    ["output_format", schemaMember],
    ["output_config", schemaMember],
    // How what came before is summed up.
    ["context_management", systemMember],
    ["compaction", systemMember],
    ["mcp_servers", systemMember],
  ]),
  roleOf: (role) => role ?? "user",
  isToolResult: (type) => type.endsWith("tool_result"),
};

/** Members that newer versions of the API have in every message. */
const nullable = ["container", "diagnostics"];

/** `POST /v1/messages` */
export const messagesAnswers: ResponseFormat = {
  readWhole,
  readStream(events) {
    let json: ResponseJson = {};
    const blocks = new Map<unknown, Merged>();
    for (const event of events) {
      const { type, message, index, content_block: begun, delta } = event;
      if (type === "message_start" && isRecord(message)) json = message;
      if (type === "content_block_start" && isRecord(begun)) blockAt(blocks, index, begun);
      if (type === "content_block_delta" && isRecord(delta)) blockAt(blocks, index, withoutType(delta));
      if (type === "message_delta") json = ended(json, event);
    }
    const begun = Array.isArray(json["content"]) ? json["content"] : [];
    return readWhole({ ...json, content: [...begun, ...[...blocks.values()].map(withInput)] });
  },
  addedBy({ type, index, content_block: begun, delta }) {
    const path = `content[${Number.isInteger(index) ? index : 0}]`;
    if (isRecord(begun)) return responseTexts(begun, path);
    if (type !== "content_block_delta" || !isRecord(delta)) return [];
    const { partial_json: input, ...others } = withoutType(delta);
    return responseTexts(input === undefined ? others : { input }, path);
  },
  refused: (json, words) => ({
    ...pickMembers(json, ["id", "model"]),
    type: "message",
    role: "assistant",
    content: [{ type: "text", text: words }],
    ...Object.fromEntries(nullable.filter((name) => json[name] !== undefined).map((name) => [name, null])),
    stop_reason: "refusal",
    stop_sequence: null,
    stop_details: { type: "refusal", category: null, explanation: words },
    ...pickMembers(json, ["usage"]),
  }),
  toStream(refused) {
    const received = new ReceivedResponse(Buffer.from(JSON.stringify(refused)));
    return frameNamedEvents(messageToEvents(received) ?? []);
  },
};

function readWhole(json: ResponseJson): ReadResponse {
  const { content, stop_reason: reason } = json;
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  return {
    texts: blocks.flatMap((block, at) => responseTexts(block, `content[${at}]`)),
    finishReasons: typeof reason === "string" ? [reason] : [],
    json,
  };
}

function blockAt(blocks: Map<unknown, Merged>, index: unknown, piece: ResponseJson): void {
  const block = blocks.get(index) ?? emptyMerged();
  blocks.set(index, block);
  mergeDelta(block, piece);
}

/** The type of a delta is not that of its block. */
function withoutType({ type: _, ...delta }: ResponseJson): ResponseJson {
  return delta;
}

/** The input of a tool comes as pieces of a JSON text. */
function withInput({ partial_json: input, ...block }: Merged): Merged {
  return typeof input === "string" && input !== "" ? { ...block, input: parsed(input) } : block;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function ended(json: ResponseJson, { delta, usage }: ResponseJson): ResponseJson {
  const earlier = isRecord(json["usage"]) ? json["usage"] : undefined;
  return {
    ...json,
    ...(isRecord(delta) ? delta : undefined),
    ...(isRecord(usage) ? { usage: { ...earlier, ...usage } } : undefined),
  };
}

/** `POST /v1/messages` */
export const messages: Operation<"messages"> = {
  name: "messages",
  paths: ["/v1/messages"],
  modelTypes: ["chat"],
  priced: textPrices,
  protocol: anthropicProtocol,
  names: messagesNames,
  table: messagesTable,
  prompt: messagesLayout,
  answers: messagesAnswers,
  ...jsonBodies(parseMessagesRequest, (request, services, facts) => new MessagesModelRequest(request, facts, services)),
};

class MessagesModelRequest extends ParsedRequest<MessagesRequest> implements ModelRequest {
  /** The client's own that its upstream gets, too. */
  readonly #headers: Record<string, string>;
  readonly #sealOf: SealOfTarget;

  readonly #onUnknownBeta: OperationServices["onUnknownBeta"];

  constructor(request: MessagesRequest, facts: RequestFacts, services: OperationServices) {
    super(request);
    const { account } = facts;
    this.#sealOf = (origin) => new ThoughtSeal(services.seal, account, origin);
    this.#onUnknownBeta = services.onUnknownBeta;
    this.#headers = forwardedHeaders((name) => facts.header(name));
  }

  demand(model: ModelTraits, defaultOutputTokens: number | undefined): Demand {
    const request = this.request;
    requireFit(request, model);
    const { maxTokens: outputCap, namesOtherCap } = request;
    const modelCalls = compactsContext(request) ? 2 : 1;
    const asked = { request, countPrompt: messagesPromptTokens, outputCap, namesOtherCap, answers: 1, modelCalls };
    return demandOf(asked, defaultOutputTokens, model);
  }

  override asksToReason(): boolean {
    return messagesAskToReason(this.request);
  }

  exchangeWith(
    target: TargetTraits,
    model: ModelTraits,
    attempt: AttemptFacts,
  ): ReturnType<ModelRequest["exchangeWith"]> {
    const parts = { request: this.request, headers: this.#headers, sealOf: this.#sealOf, target, model, attempt };
    if (target.operations.has("messages")) return new NativeMessagesExchange(parts, this.#onUnknownBeta);
    return target.operations.has("chat/completions") ? messagesOnChat(parts) : undefined;
  }
}

/** @throws GatewayError 400 when the model could not answer the request. */
function requireFit(request: MessagesRequest, model: ModelTraits): void {
  const { missing, rules } = model;
  refuseThread(request);
  requireAllowedMembers(request, model, messagesTable);
  const lets = (tool: UnknownPlace) => rules.length > 0 && rules.every((rule) => rule.lets(tool, messagesTable));
  const hosted = hostedMessagesTool(request, lets);
  if (hosted !== undefined) throw hostedToolRefused(hosted);
  if (missing !== undefined) refuseMissingOfMessages(request, calledName(model), missing);
  requireMessagesFit(request, model);
}

/** Reads a request of `POST /v1/messages/count_tokens`. @throws GatewayError 400 */
export async function countMessagesTokens(
  body: Uint8Array,
  { maxBodyDepth }: OperationServices,
): Promise<CountedRequest> {
  const request = await bySize(body.length, parseMessagesRequest(body, maxBodyDepth));
  refuseThread(request);
  return { model: request.model, count: (model) => tokenCountBody(messagesPromptTokens(request, model).tokens) };
}

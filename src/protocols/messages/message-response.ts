import type { ModelResponse } from "../../prices/progress.js";
import { soundUsage, type TokenCounts } from "../../prices/usage-counts.js";
import { TextSample } from "../../tokens/text-sample.js";
import { isRecord } from "../../wire/is-record.js";
import type { MemberEdits } from "../../wire/json-members.js";
import { type AttemptContext, ownId } from "../shared/exchange.js";
import { editResponse, meaningOfEnd, type ReceivedResponse, requireNoFailure } from "../shared/received-response.js";
import { requireFewParts } from "../shared/response-bounds.js";
import { type CountedTokens, countedTokens, type EstimateBounds } from "../shared/token-estimate.js";
import { readReport, UsageTally } from "../shared/usage-tally.js";

/** What the gateway knows of a call when its answer comes. */
export type MessageContext = Pick<AttemptContext, "model" | "callId" | "promptTokens" | "outputCap">;

/**
 * A whole message as its client needs it: with the client's name for the model, an id, and the two counts that clients
 * rely on.
 * Everything else stays byte for byte.
 *
 * @returns `undefined` when it is no message.
 */
export function toMessageResponse(received: ReceivedResponse, context: MessageContext): ModelResponse | undefined {
  const message = received.json;
  if (!isRecord(message) || message["type"] !== "message" || !Array.isArray(message["content"])) return undefined;
  const { usage } = message;
  requireFewParts(message["content"], () => readReport(usage, true)?.tokens);
  const { tokens, estimated, unpriced } = messageUsage(usage, message["content"], context);
  requireNoFailure(message["stop_reason"], estimated ? undefined : tokens);
  const edits: MemberEdits = new Map();
  if (message["model"] !== context.model) edits.set("model", JSON.stringify(context.model));
  if (estimated || !hasCounts(usage)) {
    edits.set("usage", JSON.stringify(countedUsage(usage, tokens)));
  }
  const id = messageIdOf(message) ?? ownId("msg", context);
  if (id !== message["id"]) edits.set("id", JSON.stringify(id));
  return {
    body: editResponse(received, edits),
    tokens,
    estimated,
    unpriced,
    responseId: id,
    finishReason: finishReasonOf(message["stop_reason"], false),
  };
}

/** `undefined` where its server has given it none. */
export function messageIdOf({ id }: Record<string, unknown>): string | undefined {
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** Clients fail without these, and count what is none. */
export function hasCounts(usage: unknown): usage is Record<string, unknown> {
  if (!isRecord(usage) || soundUsage(usage) !== usage) return false;
  return Number.isInteger(usage["input_tokens"]) && Number.isInteger(usage["output_tokens"]);
}

/** The upstream's report with what is charged in it. */
export function countedUsage(usage: unknown, tokens: TokenCounts): Record<string, unknown> {
  const sound = soundUsage(usage);
  return { ...(isRecord(sound) ? sound : {}), ...toMessagesUsage(tokens) };
}

/** Why a message ended, as clients of chat completions read it. */
export function finishReasonOf(stopReason: unknown, hasCalls: boolean): string {
  const meaning = meaningOfEnd(stopReason) ?? "stop";
  return meaning === "stop" && hasCalls ? "tool_calls" : meaning;
}

/** The `usage` object of a message that the gateway writes itself. */
export function toMessagesUsage(tokens: TokenCounts): Record<string, unknown> {
  const { input, cachedInput, cacheWrite = 0, cacheWrite1h = 0, output, reasoning } = tokens;
  return {
    input_tokens: Math.max(0, input - cachedInput - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    ...(cacheWrite1h === 0 ? undefined : { cache_creation: cacheCreation(cacheWrite, cacheWrite1h) }),
    cache_read_input_tokens: cachedInput,
    output_tokens: output,
    ...(reasoning === 0 ? undefined : { output_tokens_details: { thinking_tokens: reasoning } }),
  };
}

function cacheCreation(cacheWrite: number, forHour: number): Record<string, number> {
  return { ephemeral_5m_input_tokens: cacheWrite - forHour, ephemeral_1h_input_tokens: forHour };
}

/** What a whole message counts. */
interface MessageUsage extends CountedTokens {
  /** See `ModelResponse`. */
  readonly unpriced: string | undefined;
}

/** In Messages, caches stand beside the prompt. */
export function messageTally(): UsageTally {
  return new UsageTally(true);
}

/** @param content - the blocks of the message. */
export function messageUsage(usage: unknown, content: readonly unknown[], bounds: EstimateBounds): MessageUsage {
  const tally = messageTally();
  tally.add(usage);
  return { ...countedTokens(tally, bounds, () => sampleOf(content)), unpriced: tally.unpriced };
}

function sampleOf(content: readonly unknown[]): TextSample {
  const sample = new TextSample();
  for (const block of content) sample.addText(blockText(block));
  return sample;
}

/** Members of blocks and deltas that hold what the model has written. */
const textMembers = ["text", "thinking", "partial_json", "name", "data"];

/** The model's output in a block, or in a delta of one: text, thinking, a tool's name and input. */
export function blockText(block: unknown): string {
  if (!isRecord(block)) return "";
  let output = "";
  for (const name of textMembers) {
    const text = block[name];
    if (typeof text === "string") output += text;
  }
  const { input, content, type } = block;
  // A compaction's summary. The content of other blocks is not the model's.
  if (typeof content === "string" && String(type).startsWith("compaction")) output += content;
  return isRecord(input) && Object.keys(input).length > 0 ? output + JSON.stringify(input) : output;
}

/** From this version on, an answer has every member that its type has. */
const firstExplicit = "2026-10-21";

/** What a message has beside what is said of it. */
const messageNulls = { container: null, diagnostics: null, stop_details: null };

/** What the end of a streamed message has. */
const deltaNulls = { container: null, stop_details: null };

const usageNulls = {
  cache_creation: null,
  inference_geo: null,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: null,
  speed: null,
};

const deltaUsageNulls = { output_tokens_details: null, server_tool_use: null };

/** The members that are `null` where there is nothing to say, by what they are of. */
export interface ExplicitNulls {
  readonly message: Readonly<Record<string, null>>;
  readonly usage: Readonly<Record<string, null>>;
  readonly delta: Readonly<Record<string, null>>;
  readonly deltaUsage: Readonly<Record<string, null>>;
}

const all: ExplicitNulls = { message: messageNulls, usage: usageNulls, delta: deltaNulls, deltaUsage: deltaUsageNulls };
const none: ExplicitNulls = { message: {}, usage: {}, delta: {}, deltaUsage: {} };

/** @param version - the request's `anthropic-version`: a date, or whatever a client sends. */
export function explicitNulls(version: string | undefined): ExplicitNulls {
  return version !== undefined && /^\d{4}-\d\d-\d\d$/.test(version) && version >= firstExplicit ? all : none;
}

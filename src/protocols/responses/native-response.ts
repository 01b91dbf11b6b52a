import type { ModelResponse } from "../../prices/progress.js";
import type { TokenCounts } from "../../prices/usage-counts.js";
import { TextSample } from "../../tokens/text-sample.js";
import { isRecord } from "../../wire/is-record.js";
import type { MemberEdits } from "../../wire/json-members.js";
import { repairText } from "../chat/tool-calls.js";
import { editResponse, type ReceivedResponse } from "../shared/received-response.js";
import { requireFewParts } from "../shared/response-bounds.js";
import { countedTokens, type EstimateBounds } from "../shared/token-estimate.js";
import type { UpstreamFailureContext } from "../shared/upstream-failure.js";
import { visibleUsage } from "../shared/usage-object.js";
import { findReport } from "../shared/usage-report.js";
import { readReport, UsageTally } from "../shared/usage-tally.js";

/** What the gateway knows of a call when an upstream's own response arrives. */
export interface NativeResponseContext extends UpstreamFailureContext, EstimateBounds {
  /** The model as the client named it. */
  readonly model: string;
  /** The gateway's own id. All accounts share the ids of an upstream's API key. */
  readonly responseId: string;
  /** Epoch seconds, for a response that the gateway itself makes. */
  readonly createdAt: number;
  /** As the client sent it. */
  readonly previousResponseId: string | undefined;
  /** Whether the gateway keeps the response. Upstreams keep none. */
  readonly isStored: boolean;
}

/**
 * Turns an upstream's whole response into the client's: own id, own model name, usage always present. Everything else
 * stays byte for byte.
 *
 * @returns `undefined` when it is no response that has ended; for a failed one, see {@link failureOf}.
 */
export function toNativeResponse(
  received: ReceivedResponse,
  context: NativeResponseContext,
): ModelResponse | undefined {
  const response = received.json;
  if (!isEndedResponse(response)) return undefined;
  const isRepaired = repairItems(response["output"]);
  const tally = new UsageTally();
  tally.add(findReport(response));
  tally.tierCame(response["service_tier"]);
  const { tokens, estimated } = countedTokens(tally, context, () => sampleOf(itemText(response["output"])));
  const edits = responseEdits(response, context);
  addUsageEdit(response, tokens, context, edits);
  if (isRepaired) edits.set("output", JSON.stringify(response["output"]));
  return {
    body: editResponse(received, edits),
    tokens,
    estimated,
    unpriced: tally.unpriced,
    responseId: context.responseId,
    finishReason: finishOfResponse(response),
  };
}

/** Whether a document is a response that has come to its end without an error. */
export function isEndedResponse(response: unknown): response is Record<string, unknown> {
  if (!isRecord(response) || !Array.isArray(response["output"]) || !isEndedStatus(response["status"])) return false;
  requireFewParts(response["output"], () => readReport(findReport(response))?.tokens);
  return true;
}

function isEndedStatus(status: unknown): boolean {
  return status === undefined || status === "completed" || status === "incomplete";
}

/** The error of a failed response, which upstreams send with the status 200; `undefined` when there is none. */
export function failureOf(response: unknown): unknown {
  if (!isRecord(response)) return undefined;
  const { error, status } = response;
  if (error !== undefined && error !== null) return error;
  return status === "failed" || status === "cancelled" ? { message: "", code: "server_error" } : undefined;
}

/**
 * What is to change in a response that stands in an event.
 * @param tokens - for the last event: what is charged.
 */
export function eventEdits(
  response: Record<string, unknown>,
  context: NativeResponseContext,
  tokens?: TokenCounts,
): MemberEdits {
  const edits = responseEdits(response, context);
  if (tokens !== undefined) addUsageEdit(response, tokens, context, edits);
  // Before the end, no client needs one.
  else if (visibleUsage(response["usage"], context.dialect) !== response["usage"]) edits.set("usage", "null");
  return edits;
}

function responseEdits(response: Record<string, unknown>, context: NativeResponseContext): MemberEdits {
  const { model, responseId, previousResponseId = null, isStored } = context;
  const edits: MemberEdits = new Map();
  if (response["id"] !== responseId) edits.set("id", JSON.stringify(responseId));
  if (response["model"] !== model) edits.set("model", JSON.stringify(model));
  if (response["store"] !== isStored) edits.set("store", isStored ? "true" : "false");
  const previous = response["previous_response_id"];
  if (previous !== previousResponseId && (previousResponseId !== null || previous !== undefined)) {
    edits.set("previous_response_id", JSON.stringify(previousResponseId));
  }
  return edits;
}

function addUsageEdit(
  response: Record<string, unknown>,
  tokens: TokenCounts,
  { dialect }: NativeResponseContext,
  edits: MemberEdits,
): void {
  const usage = visibleUsage(response["usage"], dialect);
  if (!isWholeUsage(usage, tokens)) {
    edits.set("usage", JSON.stringify({ ...(isRecord(usage) ? usage : {}), ...toResponseUsage(tokens) }));
  } else if (usage !== response["usage"]) {
    edits.set("usage", JSON.stringify(usage));
  }
}

function sampleOf(text: string): TextSample {
  const sample = new TextSample();
  sample.addText(text);
  return sample;
}

/** Why a response ended, in the words of chat completions. @param response - one that has ended without an error. */
export function finishOfResponse(response: Record<string, unknown>): string {
  const { status, incomplete_details: details, output } = response;
  if (status === "incomplete") {
    return isRecord(details) && details["reason"] === "content_filter" ? "content_filter" : "length";
  }
  return Array.isArray(output) && output.some(isCallOfClient) ? "tool_calls" : "stop";
}

/** Calls of tools that the server runs itself have no `call_id`. */
function isCallOfClient(item: unknown): boolean {
  return isRecord(item) && typeof item["call_id"] === "string" && String(item["type"]).endsWith("_call");
}

/** Members of items that are not written by the model, or repeat what is. */
const marks: ReadonlySet<string> = new Set(
  "id call_id type object role status encrypted_content logprobs annotations".split(" "),
);

/** What the model has written in an item of a response's output, or in all of them. */
export function itemText(item: unknown): string {
  if (typeof item === "string") return item;
  if (Array.isArray(item)) return item.map(itemText).join("");
  if (!isRecord(item)) return "";
  let text = "";
  for (const name of Object.keys(item)) if (!marks.has(name)) text += itemText(item[name]);
  return text;
}

/** The member of an item, or of an event, by which a model gives a tool what it gets. Clients take it for a text. */
const textOfItem: ReadonlyMap<unknown, string> = new Map([
  ["function_call", "arguments"],
  ["mcp_call", "arguments"],
  ["custom_tool_call", "input"],
]);
const textOfEvent: ReadonlyMap<unknown, string> = new Map([
  ["response.function_call_arguments.delta", "delta"],
  ["response.function_call_arguments.done", "arguments"],
  ["response.mcp_call_arguments.delta", "delta"],
  ["response.mcp_call_arguments.done", "arguments"],
  ["response.custom_tool_call_input.delta", "delta"],
  ["response.custom_tool_call_input.done", "input"],
]);

/**
 * Makes texts of what tools get, in place: some servers send the object itself.
 * @param items - the output of a response.
 * @returns whether anything was changed.
 */
export function repairItems(items: unknown): boolean {
  let isRepaired = false;
  if (Array.isArray(items)) for (const item of items) if (repairItem(item)) isRepaired = true;
  return isRepaired;
}

/** The same for an event of a stream. */
export function repairEvent(event: Record<string, unknown>): boolean {
  const { type, item, response } = event;
  const name = textOfEvent.get(type);
  if (name !== undefined) return repairText(event, name);
  return repairItem(item) || (isRecord(response) && repairItems(response["output"]));
}

function repairItem(item: unknown): boolean {
  const name = isRecord(item) ? textOfItem.get(item["type"]) : undefined;
  return name !== undefined && repairText(item, name);
}

/** The `usage` object of a response (OpenAI reference, "ResponseUsage"). Clients fail when a member is absent. */
interface ResponseUsage {
  input_tokens: number;
  input_tokens_details: { cached_tokens: number; cache_write_tokens: number };
  output_tokens: number;
  output_tokens_details: { reasoning_tokens: number };
  total_tokens: number;
}

export function toResponseUsage(tokens: TokenCounts): ResponseUsage {
  return {
    input_tokens: tokens.input,
    input_tokens_details: { cached_tokens: tokens.cachedInput, cache_write_tokens: tokens.cacheWrite ?? 0 },
    output_tokens: tokens.output,
    output_tokens_details: { reasoning_tokens: tokens.reasoning },
    total_tokens: tokens.input + tokens.output,
  };
}

/** Whether the counts that clients require are there, in the object and in its details, and are those that are charged. */
function isWholeUsage(usage: unknown, charged: TokenCounts): boolean {
  return (
    isRecord(usage) &&
    usage["input_tokens"] === charged.input &&
    usage["output_tokens"] === charged.output &&
    Number.isInteger(usage["total_tokens"]) &&
    hasDetail(usage["input_tokens_details"], "cached_tokens") &&
    hasDetail(usage["output_tokens_details"], "reasoning_tokens")
  );
}

function hasDetail(details: unknown, name: string): boolean {
  return details === undefined || details === null || (isRecord(details) && Number.isInteger(details[name]));
}

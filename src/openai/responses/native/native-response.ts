import type { ModelAnswer } from "../../../metering/model-answer.js";
import type { TokenCounts } from "../../../metering/token-counts.js";
import { requireFewParts } from "../../../model-api/answer/answer-bounds.js";
import { editAnswer } from "../../../model-api/answer/edit-answer.js";
import type { ReceivedAnswer } from "../../../model-api/answer/received-answer.js";
import { visibleUsage } from "../../../model-api/answer/usage.js";
import type { UpstreamFailureContext } from "../../../model-api/failure/upstream-failure.js";
import type { EstimateBounds } from "../../../model-api/media/token-estimate.js";
import { countedTokens } from "../../../model-api/usage/counted-tokens.js";
import { findReport } from "../../../model-api/usage/find-report.js";
import { readReport, UsageTally } from "../../../model-api/usage/usage-tally.js";
import { TextSample } from "../../../tokens/text-sample.js";
import { isRecord } from "../../../wire/is-record.js";
import type { MemberEdits } from "../../../wire/json-members.js";
import { isWholeUsage, toResponseUsage } from "../responses-usage.js";
import { repairItems } from "./call-texts.js";
import { finishOfResponse } from "./finish-of-response.js";
import { itemText } from "./item-text.js";

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
export function toNativeResponse(received: ReceivedAnswer, context: NativeResponseContext): ModelAnswer | undefined {
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
    body: editAnswer(received, edits),
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

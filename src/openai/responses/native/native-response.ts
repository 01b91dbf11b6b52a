import type { ModelAnswer } from "../../../metering/model-answer.js";
import type { TokenCounts } from "../../../metering/token-counts.js";
import { isRecord } from "../../../wire/is-record.js";
import { editMembers, type MemberEdits, membersOf } from "../../../wire/json-members.js";
import { estimatedTokens } from "../../media/token-estimate.js";
import { editAnswer, type ReceivedAnswer } from "../../received-answer.js";
import type { UpstreamFailureContext } from "../../upstream-errors/upstream-failure.js";
import { visibleUsage } from "../../usage.js";
import { isWholeUsage, readResponsesUsage, toResponseUsage } from "../responses-usage.js";

/** What the gateway knows of a call when an upstream's own response comes. */
export interface NativeResponseContext extends UpstreamFailureContext {
  /** The model as the client named it. */
  readonly model: string;
  /** The gateway's own: ids of an upstream are shared by all accounts behind one of its keys. */
  readonly responseId: string;
  /** Epoch seconds, for what the gateway itself says of it. */
  readonly createdAt: number;
  /** As the client sent it. */
  readonly previousResponseId: string | undefined;
  /** Whether the gateway keeps the response. Upstreams keep none. */
  readonly isStored: boolean;
  /** What the prompt counts when the upstream does not say. */
  readonly promptTokens: number;
}

/**
 * A whole response as the client gets it: own id, own model name, usage always there. Everything else stays byte for byte.
 *
 * @returns `undefined` when it is no response that has come to its end; for one that failed, see {@link failureOf}.
 */
export function toNativeResponse(received: ReceivedAnswer, context: NativeResponseContext): ModelAnswer | undefined {
  const response = received.json;
  if (!isRecord(response) || !Array.isArray(response["output"])) return undefined;
  const { status } = response;
  if (status !== undefined && status !== "completed" && status !== "incomplete") return undefined;
  const reported = readResponsesUsage(response["usage"]);
  const tokens = reported ?? estimatedTokens(context.promptTokens, outputBytes(response["output"]));
  const edits = responseEdits(response, context);
  addUsageEdit(response, tokens, context, edits);
  return { body: editAnswer(received, edits), tokens, estimated: reported === undefined };
}

/** The error of a response that failed, which upstreams send as a success of HTTP's; `undefined` where there is none. */
export function failureOf(response: unknown): unknown {
  if (!isRecord(response)) return undefined;
  const { error, status } = response;
  if (error !== undefined && error !== null) return error;
  return status === "failed" || status === "cancelled" ? { message: "", code: "server_error" } : undefined;
}

/**
 * The JSON of an event that holds a response, with the response as the client gets it.
 * @param tokens - for the event that ends the stream: what is charged.
 */
export function editResponseEvent(
  json: Uint8Array,
  response: Record<string, unknown>,
  context: NativeResponseContext,
  tokens?: TokenCounts,
): Uint8Array {
  const edits = responseEdits(response, context);
  if (tokens !== undefined) addUsageEdit(response, tokens, context, edits);
  const members = membersOf(json);
  const member = members.findLast(({ name }) => name === "response");
  if (member === undefined || edits.size === 0) return json;
  const inner = json.subarray(member.start, member.end);
  return editMembers(json, members, new Map([["response", editMembers(inner, membersOf(inner), edits)]]));
}

function responseEdits(response: Record<string, unknown>, context: NativeResponseContext): MemberEdits {
  const { model, responseId, previousResponseId = null, isStored } = context;
  const edits: MemberEdits = new Map();
  const set = (name: string, value: unknown) => {
    if (response[name] !== value) edits.set(name, JSON.stringify(value));
  };
  set("id", responseId);
  set("model", model);
  set("store", isStored);
  if (previousResponseId !== null || response["previous_response_id"] !== undefined) {
    set("previous_response_id", previousResponseId);
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
  if (readResponsesUsage(usage) === undefined || !isWholeUsage(usage)) {
    edits.set("usage", JSON.stringify({ ...(isRecord(usage) ? usage : {}), ...toResponseUsage(tokens) }));
  } else if (usage !== response["usage"]) {
    edits.set("usage", JSON.stringify(usage));
  }
}

/** Bytes of model output in items of a response. What holds none of it, such as ids and types, counts as well. */
export function outputBytes(items: readonly unknown[]): number {
  return items.reduce<number>((sum, item) => sum + JSON.stringify(item).length, 0);
}

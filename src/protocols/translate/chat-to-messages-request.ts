import { beyondTarget } from "../../errors/refusal.js";
import { isRecord } from "../../wire/is-record.js";
import { jsonSteps } from "../../wire/json-steps.js";
import { SliceCount, type Steps } from "../../wire/slices.js";
import type { ChatRequest } from "../chat/chat-request.js";
import {
  adaptiveClaude,
  leastBudget,
  schemaModeOf,
  thinkingBudgets,
  thinkingShare,
} from "../messages/claude-models.js";
import { usualMaxTokens } from "../shared/demand.js";
import { jsonInstruction } from "../shared/prompt-tokens.js";
import { type MessagesToolMembers, messagesTools } from "./messages-tools.js";
import { MessagesTurns } from "./messages-turns.js";
import { messageStarts, messageSteps, requestValue } from "./request-elements.js";

/** What is known of a target that speaks Messages, for requests that are translated for it. */
export interface MessagesTargetOptions {
  /** The upstream's name for the model. */
  readonly model: string;
  /** No cap above it is sent. Default: any is. */
  readonly maxOutputTokens?: number | undefined;
  /** The cap of a request that names none: Messages do not go without. Default: that of the model, or the usual one. */
  readonly requiredCap?: number | undefined;
  /** Default: by the model's name. */
  readonly thinking?: ThinkingMode | undefined;
}

/**
 * Translates a request of a client of chat completions for a target that speaks Messages. What Messages cannot say and the
 * answer does not depend on is left out.
 *
 * @throws GatewayError 400 when the target cannot do what is asked for.
 */
export function* messagesRequestSteps(request: ChatRequest, options: MessagesTargetOptions): Steps<Uint8Array> {
  if (request.n > 1) throw beyondTarget("n", "This model gives one answer to a request. Leave 'n' out.");
  const turns = new MessagesTurns();
  const count = new SliceCount();
  for (const [index, start] of messageStarts(request).entries()) {
    const message = yield* messageSteps(request, { index, start }, count);
    if (message !== undefined) yield* turns.add(message);
  }
  const maxTokens = outputCap(request, options);
  const value = (name: string) => requestValue(request, name);
  const tools = messagesTools({
    tools: value("tools"),
    functions: value("functions"),
    toolChoice: value("tool_choice"),
    functionCall: value("function_call"),
    parallel: value("parallel_tool_calls"),
  });
  const { thinking, effort } = messagesThinking(value("reasoning_effort"), value("reasoning"), {
    mode: options.thinking ?? thinkingModeOf(options.model),
    maxTokens,
    isForced: isForced(tools),
    continuesWithout: turns.endsWithResults && !turns.lastTurnThinks,
  });
  const { format, instruction } = messagesFormat(value("response_format"), options.model);
  const outputConfig = { ...(effort && { effort }), ...(format && { format }) };
  const system = [...turns.system, ...(instruction === undefined ? [] : [{ type: "text", text: instruction }])];
  const body = {
    model: options.model,
    max_tokens: maxTokens,
    messages: turns.finish(),
    ...(system.length > 0 && { system }),
    ...tools,
    ...(request.stream && { stream: true }),
    ...(thinking && { thinking }),
    ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
    ...sampling(value, thinking !== undefined && thinking["type"] !== "disabled"),
    ...stops(value("stop")),
  };
  return yield* jsonSteps(body, request.body.length);
}

/** Of two caps the smaller one counts. */
function outputCap({ maxTokens, maxCompletionTokens }: ChatRequest, options: MessagesTargetOptions): number {
  const { maxOutputTokens, requiredCap = maxOutputTokens ?? usualMaxTokens } = options;
  const asked = Math.min(maxTokens ?? Number.POSITIVE_INFINITY, maxCompletionTokens ?? Number.POSITIVE_INFINITY);
  return Math.min(Number.isFinite(asked) ? asked : requiredCap, maxOutputTokens ?? Number.POSITIVE_INFINITY);
}

function isForced({ tool_choice: choice }: MessagesToolMembers): boolean {
  return choice?.["type"] === "any" || choice?.["type"] === "tool";
}

/** A model that thinks takes none of these, and newer ones not both of the first two. */
function sampling(value: (name: string) => unknown, thinks: boolean): Record<string, number> {
  if (thinks) return {};
  const temperature = value("temperature");
  const [topP, topK] = [value("top_p"), value("top_k")];
  const nucleus: Record<string, number> = typeof topP === "number" ? { top_p: topP } : {};
  return {
    ...(typeof temperature === "number" ? { temperature: Math.min(temperature, 1) } : nucleus),
    ...(typeof topK === "number" && topK > 0 ? { top_k: topK } : undefined),
  };
}

/** Anthropic refuses those of nothing but white space. */
function stops(stop: unknown): { stop_sequences?: string[] } {
  const all = (Array.isArray(stop) ? stop : [stop]).filter((text) => typeof text === "string" && text.trim() !== "");
  return all.length === 0 ? {} : { stop_sequences: all };
}

/** What a request for a message says of the form of its answer. */
interface MessagesFormat {
  /** A member of `output_config`. */
  readonly format?: Record<string, unknown>;
  /** A further text of the system prompt. */
  readonly instruction?: string;
}

/**
 * A `response_format` of chat completions for a server of Messages. These have no JSON mode without a schema, and not all
 * of them have one with it.
 * @param model - the upstream's name for it.
 */
function messagesFormat(format: unknown, model: string): MessagesFormat {
  if (!isRecord(format)) return {};
  const { type, json_schema: described, schema: own } = format;
  // The second one is llama.cpp's.
  const schema = isRecord(described) ? described["schema"] : own;
  if (type !== "json_schema" || !isRecord(schema)) {
    return type === "json_object" || type === "json_schema" ? { instruction: jsonInstruction(schema) } : {};
  }
  const mode = schemaModeOf(model);
  return {
    ...(mode !== "told" && { format: { type: "json_schema", schema } }),
    ...(mode !== "enforced" && { instruction: jsonInstruction(schema) }),
  };
}

/** How a model is asked to think: as much as it sees fit, by an effort; by a budget; or not at all. */
type ThinkingMode = "adaptive" | "budget" | "none";

/** What thinking depends on. */
interface ThinkingTerms {
  readonly mode: ThinkingMode;
  /** The output cap, which holds for thinking, too. */
  readonly maxTokens: number;
  /** A tool must be called. Models do not think then. */
  readonly isForced: boolean;
  /** The model goes on with calls that it has made without thinking before them. */
  readonly continuesWithout: boolean;
}

/** The members of a request for a message that have to do with thinking. */
interface MessagesThinking {
  readonly thinking?: Record<string, unknown>;
  readonly effort?: string;
}

/** Names of models that think by a budget are all others. */
function thinkingModeOf(model: string): ThinkingMode {
  return adaptiveClaude.test(model) ? "adaptive" : "budget";
}

/** @param reasoning - OpenRouter's member: `{"effort":…}` or `{"max_tokens":…}`. */
function messagesThinking(effort: unknown, reasoning: unknown, terms: ThinkingTerms): MessagesThinking {
  const { effort: own, max_tokens: budget } = isRecord(reasoning) ? reasoning : {};
  const asked = typeof effort === "string" ? effort : own;
  if (terms.mode === "none") return {};
  if (asked === "none") return terms.mode === "adaptive" ? { thinking: { type: "disabled" } } : {};
  if (terms.isForced) return {};
  if (terms.mode === "adaptive") return adaptive(asked);
  const tokens =
    typeof budget === "number" ? budget : typeof asked === "string" ? thinkingBudgets.get(asked) : undefined;
  if (tokens === undefined || terms.continuesWithout) return {};
  const most = Math.min(Math.floor(terms.maxTokens * thinkingShare), terms.maxTokens - 1);
  if (most < leastBudget) return {};
  return { thinking: { type: "enabled", budget_tokens: Math.max(leastBudget, Math.min(Math.floor(tokens), most)) } };
}

function adaptive(effort: unknown): MessagesThinking {
  if (typeof effort !== "string" || !thinkingBudgets.has(effort)) return {};
  const thinking = { type: "adaptive", display: "summarized" };
  return { thinking, effort: effort === "minimal" ? "low" : effort };
}

import type { ThoughtSeal } from "../../seal/payload-seal.js";
import { isRecord } from "../../wire/is-record.js";
import type { ResponsesRequest } from "../responses/responses-request.js";
import type { OutputItem } from "./item-writer.js";
import { memberValue } from "./request-elements.js";
import type { ToolNames } from "./tool-names.js";

/** What the gateway knows of a call when its chat completion becomes a response. */
export interface ResponseContext {
  /** `resp_…`, of the gateway's own. */
  readonly responseId: string;
  /** The model as the client named it. */
  readonly model: string;
  /** Epoch seconds. */
  readonly createdAt: number;
  /** As the client sent it. */
  readonly previousResponseId: string | undefined;
  /** Whether the gateway keeps the response. */
  readonly isStored: boolean;
  /** What the response repeats of the request: made by `toResponseContext`. */
  readonly echo: Readonly<Record<string, unknown>>;
  readonly names: ToolNames;
  /** See `ToChatOptions`. */
  readonly thoughts: ThoughtSeal;
  /** The client asked for `reasoning.encrypted_content`: it sends thoughts back with it. */
  readonly includesReasoning: boolean;
  /** The client asked for the probabilities of the tokens. */
  readonly includesLogprobs: boolean;
}

/** What a response's context takes from elsewhere than its request. */
export type ResponseFacts = Pick<
  ResponseContext,
  "responseId" | "model" | "createdAt" | "previousResponseId" | "isStored" | "names" | "thoughts"
>;

export function toResponseContext(request: ResponsesRequest, facts: ResponseFacts): ResponseContext {
  return {
    ...facts,
    echo: echoOf(request),
    includesReasoning: request.include.includes("reasoning.encrypted_content"),
    includesLogprobs: wantsLogprobs(request),
  };
}

/** Whether the client wants the probabilities of the tokens. */
export function wantsLogprobs(request: ResponsesRequest): boolean {
  return (
    request.include.includes("message.output_text.logprobs") || typeof memberValue(request, "top_logprobs") === "number"
  );
}

/** Members that a response repeats as they were sent, and what stands there where nothing was. */
const echoed: Readonly<Record<string, unknown>> = {
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  prompt_cache_key: null,
  safety_identifier: null,
  temperature: 1,
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  user: null,
};

/** What a response repeats of its request (OpenAI reference, "The response object"). Some clients fail where it is absent. */
function echoOf(request: ResponsesRequest): Readonly<Record<string, unknown>> {
  // The tier is the server's to say: it was not asked for another one.
  const echo: Record<string, unknown> = { background: false, truncation: "disabled", service_tier: "default" };
  for (const [name, otherwise] of Object.entries(echoed)) echo[name] = memberValue(request, name) ?? otherwise;
  const reasoning = memberValue(request, "reasoning");
  const { effort = null, summary = null } = isRecord(reasoning) ? reasoning : {};
  const text = memberValue(request, "text");
  const { format, ...manner } = isRecord(text) ? text : {};
  return { ...echo, reasoning: { effort, summary }, text: { format: format ?? { type: "text" }, ...manner } };
}

/** A response without what is known at its end alone. */
export function unfinishedResponse(
  context: ResponseContext,
  status: string,
  output: readonly OutputItem[],
): Record<string, unknown> {
  const { responseId, model, createdAt, previousResponseId = null, isStored, echo } = context;
  return {
    id: responseId,
    object: "response",
    created_at: createdAt,
    completed_at: null,
    status,
    error: null,
    incomplete_details: null,
    model,
    output,
    previous_response_id: previousResponseId,
    store: isStored,
    usage: null,
    ...echo,
  };
}

import type { ServerSentEvent } from "../../wire/event-reader.js";
import { isRecord } from "../../wire/is-record.js";

/** An event before it is numbered: its type and its members. */
type Step = readonly [type: string, members: object];

/**
 * Converts a whole response into the events of a stream. Some upstreams do not stream although the request asked for a
 * stream. The reader of the events handles failed and invalid responses.
 */
export function responseToEvents(response: Readonly<Record<string, unknown>>): ServerSentEvent[] {
  return [...eachResponseEvent(response)];
}

/** The same, each event made when it is asked for. @param startingAfter - the number of the last one to leave out. */
export function* eachResponseEvent(
  response: Readonly<Record<string, unknown>>,
  startingAfter = -1,
): Generator<ServerSentEvent, void> {
  let number = 0;
  for (const [type, members] of steps(response)) {
    const sequence_number = number++;
    if (sequence_number <= startingAfter) continue;
    yield { event: type, data: JSON.stringify({ type, sequence_number, ...members }) };
  }
}

function* steps(response: Readonly<Record<string, unknown>>): Generator<Step, void> {
  const started = {
    ...response,
    status: "in_progress",
    output: [],
    error: null,
    incomplete_details: null,
    usage: null,
  };
  yield ["response.created", { response: started }];
  yield ["response.in_progress", { response: started }];
  const items: unknown[] = Array.isArray(response["output"]) ? response["output"] : [];
  for (const [index, item] of items.entries()) if (isRecord(item)) yield* itemSteps(item, index);
  const isFailed = response["status"] === "failed" || isRecord(response["error"]);
  const end = isFailed ? "failed" : response["status"] === "incomplete" ? "incomplete" : "completed";
  yield [`response.${end}`, { response }];
}

function* itemSteps(item: Record<string, unknown>, index: number): Generator<Step, void> {
  const place = { item_id: item["id"], output_index: index };
  const started = { ...item, ...emptied(item), ...("status" in item ? { status: "in_progress" } : undefined) };
  yield ["response.output_item.added", { output_index: index, item: started }];
  switch (item["type"]) {
    case "message":
      for (const [at, part] of partsOf(item["content"])) yield* partSteps(part, { ...place, content_index: at });
      break;
    case "reasoning":
      for (const [at, part] of partsOf(item["summary"])) yield* summarySteps(part, { ...place, summary_index: at });
      break;
    case "function_call":
      yield* textSteps("function_call_arguments", { ...place, name: item["name"] }, ["arguments", item["arguments"]]);
      break;
    case "custom_tool_call":
      yield* textSteps("custom_tool_call_input", place, ["input", item["input"]]);
      break;
    default:
  }
  yield ["response.output_item.done", { output_index: index, item }];
}

/** The item as it is before its content arrives. */
function emptied({ type, content }: Record<string, unknown>): object {
  switch (type) {
    case "message":
      return { content: [] };
    case "reasoning":
      // Full reasoning text has no events here: it comes with the item.
      return { summary: [], ...(content === undefined ? undefined : { content: [] }) };
    case "function_call":
      return { arguments: "" };
    case "custom_tool_call":
      return { input: "" };
    default:
      return {};
  }
}

function* partSteps(part: Record<string, unknown>, place: object): Generator<Step, void> {
  const isRefusal = part["type"] === "refusal";
  const name = isRefusal ? "refusal" : "text";
  const others = isRefusal ? {} : { logprobs: part["logprobs"] ?? [] };
  yield ["response.content_part.added", { ...place, part: { ...part, [name]: "" } }];
  yield* textSteps(isRefusal ? "refusal" : "output_text", { ...place, ...others }, [name, part[name]]);
  yield ["response.content_part.done", { ...place, part }];
}

function* summarySteps(part: Record<string, unknown>, place: object): Generator<Step, void> {
  yield ["response.reasoning_summary_part.added", { ...place, part: { ...part, text: "" } }];
  yield* textSteps("reasoning_summary_text", place, ["text", part["text"]]);
  yield ["response.reasoning_summary_part.done", { ...place, part }];
}

/** @param said - the whole text, and the name of the member that contains it in the last event. */
function* textSteps(kind: string, place: object, [name, said]: [string, unknown]): Generator<Step, void> {
  if (typeof said !== "string") return;
  if (said !== "") yield [`response.${kind}.delta`, { ...place, delta: said }];
  yield [`response.${kind}.done`, { ...place, [name]: said }];
}

function partsOf(parts: unknown): [number, Record<string, unknown>][] {
  if (!Array.isArray(parts)) return [];
  return [...parts.entries()].filter((entry): entry is [number, Record<string, unknown>] => isRecord(entry[1]));
}

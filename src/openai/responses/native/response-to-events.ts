import type { ServerSentEvent } from "../../../wire/event-reader.js";
import { isRecord } from "../../../wire/is-record.js";

/** Writes an event and numbers it. */
type Emit = (type: string, members: object) => void;

/**
 * Converts a whole response into the events of a stream. Some upstreams do not stream although the request asked for a
 * stream. The reader of the events handles failed and invalid responses.
 */
export function responseToEvents(response: Readonly<Record<string, unknown>>): ServerSentEvent[] {
  const events: ServerSentEvent[] = [];
  const emit: Emit = (type, members) => {
    events.push({ event: type, data: JSON.stringify({ type, sequence_number: events.length, ...members }) });
  };
  const started = {
    ...response,
    status: "in_progress",
    output: [],
    error: null,
    incomplete_details: null,
    usage: null,
  };
  emit("response.created", { response: started });
  emit("response.in_progress", { response: started });
  const items: unknown[] = Array.isArray(response["output"]) ? response["output"] : [];
  for (const [index, item] of items.entries()) if (isRecord(item)) addItem(item, index, emit);
  const isFailed = response["status"] === "failed" || isRecord(response["error"]);
  const end = isFailed ? "failed" : response["status"] === "incomplete" ? "incomplete" : "completed";
  emit(`response.${end}`, { response });
  return events;
}

function addItem(item: Record<string, unknown>, index: number, emit: Emit): void {
  const place = { item_id: item["id"], output_index: index };
  const started = { ...item, ...emptied(item), ...("status" in item ? { status: "in_progress" } : undefined) };
  emit("response.output_item.added", { output_index: index, item: started });
  switch (item["type"]) {
    case "message":
      for (const [at, part] of partsOf(item["content"])) addPart(part, { ...place, content_index: at }, emit);
      break;
    case "reasoning":
      for (const [at, part] of partsOf(item["summary"])) addSummary(part, { ...place, summary_index: at }, emit);
      break;
    case "function_call":
      addText("function_call_arguments", { ...place, name: item["name"] }, ["arguments", item["arguments"]], emit);
      break;
    case "custom_tool_call":
      addText("custom_tool_call_input", place, ["input", item["input"]], emit);
      break;
    default:
  }
  emit("response.output_item.done", { output_index: index, item });
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

function addPart(part: Record<string, unknown>, place: object, emit: Emit): void {
  const isRefusal = part["type"] === "refusal";
  const name = isRefusal ? "refusal" : "text";
  const others = isRefusal ? {} : { logprobs: part["logprobs"] ?? [] };
  emit("response.content_part.added", { ...place, part: { ...part, [name]: "" } });
  addText(isRefusal ? "refusal" : "output_text", { ...place, ...others }, [name, part[name]], emit);
  emit("response.content_part.done", { ...place, part });
}

function addSummary(part: Record<string, unknown>, place: object, emit: Emit): void {
  emit("response.reasoning_summary_part.added", { ...place, part: { ...part, text: "" } });
  addText("reasoning_summary_text", place, ["text", part["text"]], emit);
  emit("response.reasoning_summary_part.done", { ...place, part });
}

/** @param said - the whole text, and the name of the member that contains it in the last event. */
function addText(kind: string, place: object, [name, said]: [string, unknown], emit: Emit): void {
  if (typeof said !== "string") return;
  if (said !== "") emit(`response.${kind}.delta`, { ...place, delta: said });
  emit(`response.${kind}.done`, { ...place, [name]: said });
}

function partsOf(parts: unknown): [number, Record<string, unknown>][] {
  if (!Array.isArray(parts)) return [];
  return [...parts.entries()].filter((entry): entry is [number, Record<string, unknown>] => isRecord(entry[1]));
}

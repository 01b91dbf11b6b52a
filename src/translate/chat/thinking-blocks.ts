import { ownPayloadPrefix } from "../../wire/own-payload.js";
import { recordsIn } from "../messages/request-elements.js";
import type { Block } from "./part-blocks.js";

/**
 * The thinking of an earlier turn that an Anthropic model has signed, as `reasoning_details` carry it. Its server refuses all
 * other thinking.
 */
export function thinkingBlocks(message: Record<string, unknown>): Block[] {
  const details = recordsIn(message["reasoning_details"]).filter(isAnthropic);
  const signed = details.filter(({ type }) => type === "reasoning.text");
  return details.flatMap((detail): Block[] => {
    const { type, data, signature } = detail;
    if (type === "reasoning.encrypted") return typeof data === "string" ? [{ type: "redacted_thinking", data }] : [];
    if (type !== "reasoning.text" || typeof signature !== "string") return [];
    if (signature === "" || signature.startsWith(ownPayloadPrefix)) return [];
    // Some clients keep the text apart: then it is that of the only thought.
    const text = detail["text"] ?? (signed.length === 1 ? message["reasoning_content"] : undefined);
    return [{ type: "thinking", thinking: typeof text === "string" ? text : "", signature }];
  });
}

/** Others have signatures, too, and say whose these are. */
function isAnthropic({ format }: Record<string, unknown>): boolean {
  return typeof format !== "string" || format.startsWith("anthropic");
}

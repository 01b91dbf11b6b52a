import { detailText } from "./reasoning-details.js";

/** What a message or delta of chat completions shows of the model's thinking. */
export interface ChatReasoning {
  readonly text: string;
  readonly details: readonly unknown[];
}

/** Servers have several names for it. The details repeat what stands in one of the others, if there is one. */
export function chatReasoning(message: Record<string, unknown>): ChatReasoning {
  const details: readonly unknown[] = Array.isArray(message["reasoning_details"]) ? message["reasoning_details"] : [];
  for (const name of ["reasoning_content", "reasoning"]) {
    const text = message[name];
    if (typeof text === "string" && text !== "") return { text, details };
  }
  return { text: details.map(detailText).join(""), details };
}

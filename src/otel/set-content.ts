import type { Span } from "@opentelemetry/api";
import type { RequestCompleted } from "../events/request-completed.js";
import { returnedAtOnce } from "../host-code/returned-at-once.js";
import type { CallContent } from "../operations/content/call-content.js";
import type { ResolvedContent } from "./content-options.js";
import { names } from "./names.js";

/**
 * Sets what a call was asked and answered, as JSON.
 * @throws whatever the host's redaction throws, or a TypeError for what it returns. Nothing is set then.
 */
export function setContent(span: Span, given: CallContent, event: RequestCompleted, options: ResolvedContent): void {
  const { input, output, maxCharacters, redact } = options;
  const wanted: CallContent = {
    ...(input && given.system && { system: given.system }),
    ...(input && given.input && { input: given.input }),
    ...(output && given.output && { output: given.output }),
  };
  const kept = redact === undefined ? wanted : redacted(redact, wanted, event);
  if (kept === undefined) return;
  const ended = finishOf(event.finishReason);
  const written: readonly (readonly [name: string, json: string | undefined])[] = [
    [names.systemInstructions, kept.system && JSON.stringify(kept.system)],
    [names.inputMessages, kept.input && JSON.stringify(kept.input)],
    [names.outputMessages, kept.output && JSON.stringify(kept.output.map((one) => ({ ...one, finish_reason: ended })))],
  ];
  for (const [, json] of written) {
    if (json !== undefined && json.length > mostJson(maxCharacters)) throw new TypeError(tooMuch);
  }
  for (const [name, json] of written) if (json !== undefined) span.setAttribute(name, json);
}

const tooMuch = "openTelemetry: content.redact returned far more than maxCharacters.";

/** A character may take six in JSON, and messages without a text take some. */
function mostJson(maxCharacters: number): number {
  return 8 * maxCharacters + 4_096;
}

function redacted(
  redact: NonNullable<ResolvedContent["redact"]>,
  content: CallContent,
  event: RequestCompleted,
): CallContent | undefined {
  // Others get the event, too.
  const answered = redact(content, structuredClone(event));
  const kept = returnedAtOnce("content.redact", answered, () => {});
  if (answered !== undefined && kept === undefined) {
    throw new TypeError("openTelemetry: content.redact must not be async: it has to return at once.");
  }
  return kept;
}

/** In the words of the conventions. */
function finishOf(reason: string | undefined): string {
  return reason === "tool_calls" ? "tool_call" : (reason ?? "error");
}

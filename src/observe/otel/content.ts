import type { Span } from "@opentelemetry/api";
import type { RequestCompleted } from "../../events/request-completed.js";
import type { CallContent } from "../../protocols/shared/call-content.js";
import { returnedAtOnce } from "../../runtime/host-code.js";
import { names } from "./names.js";

/** What spans have of prompts and answers. */
export interface ContentOptions {
  /** Whether they have what was asked. Default: `true`. */
  input?: boolean | undefined;
  /** Whether they have what was answered. Default: `true`. */
  output?: boolean | undefined;
  /** The most characters of what was asked, and of what was answered, 1 to 65,536. Default: 16,384. */
  maxCharacters?: number | undefined;
  /**
   * Decides what of it a span has, such as without what is personal, or none of some accounts'. `undefined`: nothing. It must
   * return at once; what it throws keeps nothing, and causes a warning `hook_failed`. Default: it is kept as it is.
   */
  redact?: ((content: CallContent, event: RequestCompleted) => CallContent | undefined) | undefined;
}

/** {@link ContentOptions} that were checked. */
export interface ResolvedContent {
  readonly input: boolean;
  readonly output: boolean;
  readonly maxCharacters: number;
  readonly redact: ContentOptions["redact"];
}

const longestContent = 65_536;
/** By this variable whoever runs the host turns content off. Nothing of the environment turns it on. */
const variable = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/**
 * @returns `undefined`: spans have no content.
 * @throws TypeError when an option is not valid.
 */
export function resolveContent(given: boolean | ContentOptions | undefined): ResolvedContent | undefined {
  if (given === undefined || given === false) return undefined;
  if (given !== true && (typeof given !== "object" || given === null)) {
    throw new TypeError("openTelemetry: content must be true, or an object of options.");
  }
  const { input = true, output = true, maxCharacters = 16_384, redact } = given === true ? {} : given;
  if (!Number.isInteger(maxCharacters) || maxCharacters < 1 || maxCharacters > longestContent) {
    throw new TypeError("openTelemetry: content.maxCharacters must be a whole number from 1 to 65536.");
  }
  if (redact !== undefined && typeof redact !== "function") {
    throw new TypeError("openTelemetry: content.redact must be a function.");
  }
  if (isTurnedOff() || !(input || output)) return undefined;
  return { input, output, maxCharacters, redact };
}

function isTurnedOff(): boolean {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return ["false", "no_content"].includes(process?.env?.[variable]?.toLowerCase() ?? "");
}

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

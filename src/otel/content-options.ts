import type { RequestCompleted } from "../events/request-completed.js";
import type { CallContent } from "../operations/content/call-content.js";

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

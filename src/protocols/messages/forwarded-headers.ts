import type { Treatment } from "../shared/protocol-table.js";
import { messagesTable } from "./messages-table.js";

/** For clients that name no version. */
const usualVersion = "2023-06-01";

/** No header that a client needs is longer. */
const longestHeader = 4096;

/** Versions and betas are words of these. */
const plain = /^[A-Za-z0-9._\-, ]*$/;

/** The headers of a client of Messages that its upstream gets, too, unchanged. What holds anything but words is left out. */
export function forwardedHeaders(header: (name: string) => string | undefined): Record<string, string> {
  const betas = plainHeader(header("anthropic-beta"));
  return {
    "anthropic-version": plainHeader(header("anthropic-version")) ?? usualVersion,
    ...(betas === undefined ? undefined : { "anthropic-beta": betas }),
  };
}

function plainHeader(value: string | undefined): string | undefined {
  const isPlain = value !== undefined && value.trim() !== "" && value.length <= longestHeader && plain.test(value);
  return isPlain ? value : undefined;
}

const name = "anthropic-beta";

/** What a target says of betas. */
interface BetaRules {
  /** Whether its operator lets it be sent a beta that is left out elsewhere. */
  lets(beta: string): boolean;
  /** Called for each unknown beta that is left out. */
  onUnknown(beta: string): void;
}

const sent: ReadonlySet<Treatment | undefined> = new Set<Treatment>(["passes", "priced"]);

/**
 * The headers of a client without the betas that do more than change the response within its price, and without those
 * that nobody knows: a beta is what opens a server to members that cost, or that reach what all its clients share.
 */
export function withKnownBetas(
  headers: Readonly<Record<string, string>>,
  { lets, onUnknown }: BetaRules,
): Readonly<Record<string, string>> {
  const { [name]: betas, ...others } = headers;
  if (betas === undefined) return headers;
  const all = betas.split(",");
  const kept = all.filter((each) => {
    const beta = each.trim();
    if (beta === "") return true;
    const treatment = messagesTable.find("beta", beta)?.treatment;
    if (sent.has(treatment) || lets(beta)) return true;
    if (treatment === undefined) onUnknown(beta);
    return false;
  });
  if (kept.length === all.length) return headers;
  return kept.length === 0 ? others : { ...others, [name]: kept.join(",").trim() };
}

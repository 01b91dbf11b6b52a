import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codexBinary } from "../support/agent-binary.js";
import type { AgentPlace } from "../support/agent-place.js";
import { documentedConfig } from "../support/documented-settings.js";
import { type AgentRun, runAgent } from "../support/run-agent.js";

export interface CodexRun extends AgentRun {
  /** The lines of `--json`. */
  readonly events: readonly CodexEvent[];
}

export interface CodexEvent {
  type: string;
  item?: Record<string, unknown> & { type: string };
  message?: string;
  error?: { message: string };
}

export interface CodexOptions {
  /** Before the prompt, such as `["resume", "--last"]`. */
  args?: readonly string[];
  /** Default: the one of the page. */
  model?: string;
  /** Default: one of the account that the session charges. */
  key?: string;
  /** Settings of the provider beside those of the page. Default: no retries. */
  provider?: readonly string[];
  /** It is killed then. */
  stopped?: Promise<unknown>;
  /** After that it is killed, too. Default: as `runAgent`. */
  timeLimitMs?: number;
}

/** `codex exec` in the folders of this place, with the settings of docs/agents.md. */
export async function runCodex(place: AgentPlace, prompt: string, options: CodexOptions = {}): Promise<CodexRun> {
  const home = join(place.home, ".codex");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.toml"), documentedConfig(place.gatewayURL));
  const run = await runAgent({
    file: codexBinary(),
    args: ["exec", ...overridesOf(options), ...usual, ...(options.args ?? []), prompt],
    folder: place.work,
    stopped: options.stopped,
    timeLimitMs: options.timeLimitMs,
    environment: { ...place.environment, CODEX_HOME: home, ACME_API_KEY: options.key ?? "sk-pro" },
  });
  const lines = run.stdout.split("\n").filter((line) => line.startsWith("{"));
  return { ...run, events: lines.map((line): CodexEvent => JSON.parse(line)) };
}

/** The commands come from the test: they need no sandbox, which not every machine has. */
const usual = ["--json", "--skip-git-repo-check", "-s", "danger-full-access"];

function overridesOf({ model, provider = noRetries }: CodexOptions): string[] {
  const settings = provider.map((setting) => `model_providers.acme.${setting}`);
  if (model !== undefined) settings.push(`model="${model}"`);
  return settings.flatMap((setting) => ["-c", setting]);
}

/** Of a provider. */
export const noRetries = ["request_max_retries=0", "stream_max_retries=0"];

/** What it says to its user. */
export function textsOf({ events }: CodexRun): unknown[] {
  return events.flatMap(({ item }) => (item?.type === "agent_message" ? [item["text"]] : []));
}

import { claudeCodeBinary } from "../support/agent-binary.js";
import type { AgentPlace } from "../support/agent-place.js";
import { documentedEnvironment } from "../support/documented-settings.js";
import { type AgentRun, runAgent } from "../support/run-agent.js";

export interface ClaudeCodeRun extends AgentRun {
  /** What `--output-format json` ends with. */
  readonly result: ClaudeCodeResult;
}

export interface ClaudeCodeResult {
  is_error: boolean;
  result: string;
  num_turns: number;
  usage: { input_tokens: number; cache_read_input_tokens: number; output_tokens: number };
  /** By the name under which it has called the model. */
  modelUsage: Record<string, unknown>;
}

export interface ClaudeCodeOptions {
  args?: readonly string[];
  /** Default: one of the account that the session charges. */
  key?: string;
  /** Default: no retries. */
  environment?: Readonly<Record<string, string>>;
  /** It is killed then. */
  stopped?: Promise<unknown>;
  /** After that it is killed, too. Default: as `runAgent`. */
  timeLimitMs?: number;
}

/** `claude -p` in the folders of this place, with the settings of docs/agents.md. */
export async function runClaudeCode(
  place: AgentPlace,
  prompt: string,
  options: ClaudeCodeOptions = {},
): Promise<ClaudeCodeRun> {
  const { args = [], key = "sk-pro", environment = { CLAUDE_CODE_MAX_RETRIES: "0" }, stopped, timeLimitMs } = options;
  const run = await runAgent({
    file: claudeCodeBinary(),
    args: ["-p", prompt, "--output-format", "json", ...args],
    folder: place.work,
    stopped,
    timeLimitMs,
    environment: {
      ...place.environment,
      ...documentedEnvironment(place.gatewayURL),
      ANTHROPIC_AUTH_TOKEN: key,
      ...environment,
    },
  });
  const last = run.stdout.trim().split("\n").at(-1) ?? "";
  return { ...run, result: JSON.parse(last) as ClaudeCodeResult };
}

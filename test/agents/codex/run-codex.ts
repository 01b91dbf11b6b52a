import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codexBinary } from "../support/agent-binary.js";
import type { AgentSession } from "../support/agent-session.js";
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
  /** Default: `acme/small`. */
  model?: string;
  /** Default: one of the account that the session charges. */
  key?: string;
  /** Lines for the provider. Default: no retries. */
  provider?: readonly string[];
}

/** `codex exec` in the session's folders, with the session's gateway as its only provider. */
export async function runCodex(session: AgentSession, prompt: string, options: CodexOptions = {}): Promise<CodexRun> {
  const home = join(session.home, ".codex");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.toml"), configOf(session, options));
  const run = await runAgent({
    file: codexBinary(),
    args: ["exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access", ...(options.args ?? []), prompt],
    folder: session.work,
    environment: { ...session.environment, CODEX_HOME: home, ACME_API_KEY: options.key ?? "sk-pro" },
  });
  const lines = run.stdout.split("\n").filter((line) => line.startsWith("{"));
  return { ...run, events: lines.map((line): CodexEvent => JSON.parse(line)) };
}

function configOf({ server }: AgentSession, { model = "acme/small", provider = noRetries }: CodexOptions): string {
  return [
    `model = "${model}"`,
    'model_provider = "acme"',
    "check_for_update_on_startup = false",
    // They would be fetched from hosts of OpenAI's and GitHub's.
    "[features]",
    "plugins = false",
    "remote_plugin = false",
    "apps = false",
    "[analytics]",
    "enabled = false",
    "[model_providers.acme]",
    'name = "Acme"',
    `base_url = "${server.baseURL}"`,
    'env_key = "ACME_API_KEY"',
    'wire_api = "responses"',
    ...provider,
    "",
  ].join("\n");
}

/** Of a provider. */
export const noRetries = ["request_max_retries = 0", "stream_max_retries = 0"];

/** What it says to its user. */
export function textsOf({ events }: CodexRun): unknown[] {
  return events.flatMap(({ item }) => (item?.type === "agent_message" ? [item["text"]] : []));
}

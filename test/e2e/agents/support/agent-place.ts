import type { ClientServer } from "../../clients/start-server.js";
import type { AgentFolders } from "./agent-folders.js";
import type { OutsideTrap } from "./outside-trap.js";
import type { AgentProcess } from "./run-agent.js";

/** As in the documentation. */
export const basePath = "/ai";

/** Where one agent runs, and which gateway it calls. */
export interface AgentPlace extends AgentFolders {
  /** Where the gateway is, such as `http://127.0.0.1:40123/ai`; `/v1` follows. */
  readonly gatewayURL: string;
  /** What the agent's process gets beside its own variables. */
  readonly environment: AgentProcess["environment"];
}

export function placeOf(folders: AgentFolders, { baseURL }: ClientServer, trap: OutsideTrap): AgentPlace {
  const { home, temporary } = folders;
  const environment = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    TMPDIR: temporary,
    CLAUDE_CODE_TMPDIR: temporary,
    ...trap.environment,
  };
  return { ...folders, gatewayURL: new URL(basePath, baseURL).href, environment };
}

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The folders of one agent: nothing of the user's own is read or written. */
export interface AgentFolders {
  readonly home: string;
  /** Where it works. */
  readonly work: string;
  /** For what it keeps outside of its home for a while. */
  readonly temporary: string;
  remove(): void;
}

export function makeAgentFolders(): AgentFolders {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "infergate-agent-")));
  const folders = { home: join(root, "home"), work: join(root, "work"), temporary: join(root, "temporary") };
  for (const folder of Object.values(folders)) mkdirSync(folder);
  return { ...folders, remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 3 }) };
}

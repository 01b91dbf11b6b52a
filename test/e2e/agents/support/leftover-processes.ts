import { existsSync, readdirSync, readFileSync } from "node:fs";

/**
 * The processes that an agent has started, and what these have: they have its home in their environment, whatever group
 * or session they are in. Only Linux shows that.
 */
export function processesOf(home: string): number[] {
  if (!existsSync("/proc/self/environ")) return [];
  const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return ids.filter((id) => environmentOf(id).includes(`HOME=${home}\0`)).map(Number);
}

function environmentOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/environ`, "latin1");
  } catch {
    // It has ended, or is another user's.
    return "";
  }
}

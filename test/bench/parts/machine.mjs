import { cpus } from "node:os";
import { pinning } from "./processors.mjs";

/** What the figures were measured on; nothing that tells one machine of a model from another. */
export function describeMachine() {
  return {
    model: cpus()[0]?.model.trim() ?? "unknown processor",
    cores: cpus().length,
    platform: `${process.platform} ${process.arch}`,
    node: process.versions.node,
    date: new Date().toISOString(),
    pinning,
  };
}

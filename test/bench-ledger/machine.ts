import { cpus } from "node:os";

/** What the figures were measured on; nothing that identifies one machine of a model. */
export interface Machine {
  readonly model: string;
  readonly cores: number;
  readonly platform: string;
  readonly node: string;
  readonly date: string;
}

export function describeMachine(): Machine {
  return {
    model: cpus()[0]?.model.trim() ?? "unknown processor",
    cores: cpus().length,
    platform: `${process.platform} ${process.arch}`,
    node: process.versions.node,
    date: new Date().toISOString(),
  };
}

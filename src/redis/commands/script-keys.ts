import { Buffer } from "node:buffer";

/** Keys in the form in which they go over the wire. */
export interface PackedKeys {
  readonly count: number;
  readonly text: string;
}

/** Keys of a script that takes hundreds: one by one for most clients, and packed for one that can be given them so. */
export interface ManyKeys {
  names(): readonly string[];
  pack(): PackedKeys;
}

/** The keys of a script. On a cluster they are in one hash slot. */
export type ScriptKeys = readonly string[] | ManyKeys;

export function namesOf(keys: ScriptKeys): readonly string[] {
  return "pack" in keys ? keys.names() : keys;
}

/** An argument of a command as it goes over the wire. */
export function packed(argument: string): string {
  return `$${Buffer.byteLength(argument)}\r\n${argument}\r\n`;
}

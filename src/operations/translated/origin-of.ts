import { runtime } from "../../runtime/this-runtime.js";
import type { ModelTraits, TargetTraits } from "../operation.js";

/** An opaque mark of a target, for what its model wants back of its thoughts: another model could not use it. */
export function originOf({ upstreamModel }: TargetTraits, { id }: ModelTraits): string {
  return runtime.sha256(`${id}\n${upstreamModel}`, "base64url").slice(0, 16);
}

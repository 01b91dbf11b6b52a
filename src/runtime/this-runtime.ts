import { nodeRuntime } from "./node-runtime.js";
import type { Runtime } from "./runtime.js";

/** Node's. In the published package `#runtime` stands in the place of this file, and chooses by where it runs. */
export const runtime: Runtime = nodeRuntime;

export { nodeRuntime as runtime } from "./runtime/node-runtime.js";

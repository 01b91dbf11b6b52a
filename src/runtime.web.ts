export { webRuntime as runtime } from "./runtime/web-runtime.js";

// First: where the driver sends its requests, in place of Neon.
import "./neon-endpoint.js";

export { default } from "../../../examples/worker/worker.js";

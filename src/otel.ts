export type { ContentOptions } from "./otel/content-options.js";
export type { OpenTelemetryOptions } from "./otel/open-telemetry.js";
export { openTelemetry } from "./otel/open-telemetry.js";

export type { OpenTelemetryOptions } from "./otel/open-telemetry.js";
export { openTelemetry } from "./otel/open-telemetry.js";

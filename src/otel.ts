export type { ContentOptions } from "./observe/otel/content.js";
export type { OpenTelemetryOptions } from "./observe/otel/open-telemetry.js";
export { openTelemetry } from "./observe/otel/open-telemetry.js";

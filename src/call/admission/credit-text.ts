import type { Micro } from "../../metering/micro.js";
import { microPerCredit } from "./credit-headers.js";

let lastSeconds = Number.NaN;
let lastInstant = "";

/**
 * A client that repeats denied requests gets the same instant each time. Formatting it is a tenth of such a response's
 * cost.
 */
export function isoSeconds(seconds: number): string {
  if (seconds !== lastSeconds) {
    lastInstant = new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
    lastSeconds = seconds;
  }
  return lastInstant;
}

/** Credits with all their decimals, without trailing zeros. */
export function creditText(amount: Micro): string {
  const whole = Math.floor(amount / microPerCredit);
  const micro = amount - whole * microPerCredit;
  return micro === 0 ? String(whole) : `${whole}.${String(micro).padStart(6, "0").replace(/0+$/, "")}`;
}

/** Days, hours and minutes, rounded up. */
export function waitText(milliseconds: number): string {
  const minutes = Math.ceil(milliseconds / 60_000);
  const days = Math.floor(minutes / 1440);
  const hours = Math.floor((minutes % 1440) / 60);
  const parts = [days > 0 ? `${days}d` : "", hours > 0 ? `${hours}h` : "", days === 0 ? `${minutes % 60}m` : ""];
  return parts.filter((part) => part !== "").join(" ");
}

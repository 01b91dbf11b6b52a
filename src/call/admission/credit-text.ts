import type { Micro } from "../../prices/micro.js";
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
  let rest = amount - whole * microPerCredit;
  if (rest === 0) return String(whole);
  let decimals = 6;
  for (; rest % 10 === 0; decimals--) rest /= 10;
  return `${whole}.${String(rest).padStart(decimals, "0")}`;
}

/** Days, hours and minutes, rounded up. */
export function waitText(milliseconds: number): string {
  const minutes = Math.ceil(milliseconds / 60_000);
  const days = Math.floor(minutes / 1440);
  const hours = Math.floor((minutes % 1440) / 60);
  const parts = [days > 0 ? `${days}d` : "", hours > 0 ? `${hours}h` : "", days === 0 ? `${minutes % 60}m` : ""];
  return parts.filter((part) => part !== "").join(" ");
}

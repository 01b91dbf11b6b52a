import { askedTooMuch } from "../../errors/asked-too-much.js";
import type { GatewayError } from "../../errors/gateway-error.js";

/** Images that were made, and that nobody gets. */
export function tooLargeImages(): GatewayError {
  return askedTooMuch(
    "n",
    "The images are too large to come together. They were made, and are charged. Ask for fewer or smaller ones, or for another 'output_format'.",
  );
}

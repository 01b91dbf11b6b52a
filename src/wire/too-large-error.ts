/** What an upstream sends, or an event of it, is larger than its bound. The message is for the operator. */
export class TooLargeError extends Error {
  override readonly name = "TooLargeError";
}

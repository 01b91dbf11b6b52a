/** Whether a request carries an API key of whatever protocol: also an empty or malformed one. */
export function sendsCredential(header: (name: string) => string | undefined): boolean {
  return header("authorization") !== undefined || header("x-api-key") !== undefined;
}

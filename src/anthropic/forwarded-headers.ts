/** For clients that name no version. */
const usualVersion = "2023-06-01";

/** No header that a client needs is longer. */
const longestHeader = 4096;

/** Versions and betas are words of these. */
const plain = /^[A-Za-z0-9._\-, ]*$/;

/** The headers of a client of Messages that its upstream gets, too, unchanged. What holds anything but words is left out. */
export function forwardedHeaders(header: (name: string) => string | undefined): Record<string, string> {
  const betas = plainHeader(header("anthropic-beta"));
  return {
    "anthropic-version": plainHeader(header("anthropic-version")) ?? usualVersion,
    ...(betas === undefined ? undefined : { "anthropic-beta": betas }),
  };
}

function plainHeader(value: string | undefined): string | undefined {
  const isPlain = value !== undefined && value.trim() !== "" && value.length <= longestHeader && plain.test(value);
  return isPlain ? value : undefined;
}

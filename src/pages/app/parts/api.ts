/** Beside the files, whatever stands before both. */
const root = new URL("../api/", import.meta.url);
const limitMs = 30_000;

/** The server has refused a call. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string | undefined;
  /** The member of the request at fault. */
  readonly param: string | undefined;

  constructor(status: number, error: { message?: string; code?: string; param?: string | null } | undefined) {
    super(error?.message ?? `The server answered with ${status}.`);
    this.status = status;
    this.code = error?.code;
    this.param = error?.param ?? undefined;
  }
}

/** How the API is called. Default: a GET that takes 30 seconds at most. */
export interface ApiCall {
  readonly method?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Calls the page's API. @throws ApiError when it refuses; another error when it cannot be reached. */
export async function callApi<Answer>(path: string, call?: ApiCall): Promise<Answer> {
  return await (await fetchApi(path, call)).json();
}

/** The same with the response as it comes, for streams and for headers. @throws ApiError when the server refuses. */
export async function fetchApi(
  path: string,
  { method = "GET", body, headers, signal }: ApiCall = {},
): Promise<Response> {
  const response = await fetch(new URL(path, root), {
    method,
    headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
    signal: signal ?? AbortSignal.timeout(limitMs),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (response.ok) return response;
  const answer = await response.json().catch(() => undefined);
  const error = new ApiError(response.status, answer?.error);
  if (response.status === 401) window.dispatchEvent(new Event(signedOutEvent));
  throw error;
}

/** Sent to the window when the server says that nobody is signed in. */
export const signedOutEvent = "signedout";

/** Beside the files, whatever stands before both. */
const root = new URL("../api/", import.meta.url);

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

/** Calls the page's API. @throws ApiError when it refuses; TypeError when it cannot be reached. */
export async function callApi<Answer>(path: string, method = "GET", body?: object): Promise<Answer> {
  const response = await fetch(new URL(path, root), {
    method,
    ...(body !== undefined && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = response.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text) : undefined;
  if (!response.ok) throw new ApiError(response.status, json?.error);
  return json;
}

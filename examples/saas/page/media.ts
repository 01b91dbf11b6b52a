/** Something that the user has paid for. */
export interface Made {
  /** Where the browser finds it. */
  url: string;
  /** What it cost; `null`: that is not known yet. */
  credits: number | null;
}

/** The page itself calls the gateway, by the session alone. @throws Error with the gateway's own words. */
export async function draw(prompt: string): Promise<Made> {
  const response = await post("/ai/v1/images/generations", { model: "acme/paint", prompt });
  const { data } = (await response.json()) as { data: { b64_json: string }[] };
  return { url: `data:image/png;base64,${data[0]?.b64_json}`, credits: await creditsOf(response) };
}

/** @throws Error with the gateway's own words. */
export async function speak(input: string): Promise<Made> {
  const body = { model: "acme/voice", voice: "alloy", response_format: "wav", input };
  const response = await post("/ai/v1/audio/speech", body);
  return { url: URL.createObjectURL(await response.blob()), credits: await creditsOf(response) };
}

async function post(path: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error((await response.json()).error.message);
  return response;
}

/** Sound has no price in its headers: it begins before that is known. A moment after its end, the account page knows it. */
async function creditsOf({ headers }: Response): Promise<number | null> {
  const charged = headers.get("x-credits-charged");
  if (charged !== null) return Number(charged);
  for (let tries = 0; tries < 5; tries++) {
    const response = await fetch(`/account/api/charges/${headers.get("x-request-id")}`);
    const { credits } = (await response.json()) as { credits: number | null };
    if (credits !== null) return credits;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return null;
}

import { createHmac } from "node:crypto";
import OpenAI from "openai";

/** The example's user in a browser: keeps cookies, and sends what a browser sends. */
export class SaasVisitor {
  readonly #origin: string;
  #cookie = "";

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** The headers of the app's own pages. */
  get headers(): Record<string, string> {
    return { cookie: this.#cookie, origin: this.#origin, "sec-fetch-site": "same-origin" };
  }

  async send(method: string, path: string, body?: object): Promise<{ status: number; json: unknown }> {
    const init = body && { body: JSON.stringify(body) };
    const headers = { ...this.headers, ...(body && { "content-type": "application/json" }) };
    const response = await fetch(`${this.#origin}${path}`, { method, headers, ...init });
    for (const cookie of response.headers.getSetCookie()) this.#cookie = cookie.split(";")[0] ?? "";
    const text = await response.text();
    return { status: response.status, json: /^[[{]/.test(text) ? JSON.parse(text) : text };
  }

  /** @returns the user's id. */
  async signUp(email: string): Promise<string> {
    const { status, json } = await this.send("POST", "/api/auth/sign-up/email", { email, name: email, password });
    if (status !== 200) throw new Error(JSON.stringify(json));
    return (json as { user: { id: string } }).user.id;
  }

  async signIn(email: string, word: string = password): Promise<void> {
    const { status, json } = await this.send("POST", "/api/auth/sign-in/email", { email, password: word });
    if (status !== 200) throw new Error(JSON.stringify(json));
  }

  /** Goes on with another one's cookie, such as after a restart. */
  resume(other: SaasVisitor): void {
    this.#cookie = other.#cookie;
  }

  async makeKey(name: string): Promise<{ id: string; secret: string }> {
    return (await this.send("POST", "/account/api/keys", { name })).json as { id: string; secret: string };
  }

  /** The OpenAI SDK in the app's own page: by the session alone. */
  pageClient(): OpenAI {
    return new OpenAI({
      baseURL: `${this.#origin}/ai/v1`,
      apiKey: "unused",
      dangerouslyAllowBrowser: true,
      defaultHeaders: { Authorization: null, ...this.headers },
      maxRetries: 0,
    });
  }
}

const password = "correct horse battery";

/** What the payment provider sends, signed with this secret. */
export async function sendPayment(origin: string, event: object, secret: string): Promise<number> {
  const body = JSON.stringify(event);
  const seconds = Math.floor(Date.now() / 1000);
  const signature = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
  const headers = { "content-type": "application/json", "payment-signature": `t=${seconds},v1=${signature}` };
  return (await fetch(`${origin}/webhooks/payments`, { method: "POST", headers, body })).status;
}

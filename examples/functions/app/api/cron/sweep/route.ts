import { gateway } from "../../../../gateway.ts";

/** Vercel Cron calls it as vercel.json says, with the `CRON_SECRET` of the environment. */
export async function GET(request: Request): Promise<Response> {
  const secret = process.env.CRON_SECRET;
  if (!secret || request.headers.get("authorization") !== `Bearer ${secret}`) {
    return new Response("Not for you.", { status: 401 });
  }
  return Response.json({ ended: await gateway.sweep() });
}

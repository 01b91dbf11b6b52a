import { cookies } from "next/headers";
import { newGuestCookie } from "../../../guest-cookie.ts";

/** A visitor becomes a guest. */
export async function POST(): Promise<Response> {
  (await cookies()).set("guest", newGuestCookie(), { httpOnly: true, sameSite: "lax" });
  return new Response(null, { status: 204 });
}

/** The guest leaves. */
export async function DELETE(): Promise<Response> {
  (await cookies()).delete("guest");
  return new Response(null, { status: 204 });
}

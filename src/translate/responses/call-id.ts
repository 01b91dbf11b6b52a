/** What pairs a call with its output. Searches may have none, and items of some built-in tools pair by their own ids. */
export function callIdOf(item: Readonly<Record<string, unknown>>, index: number): string {
  const { call_id: callId, id } = item;
  if (typeof callId === "string" && callId !== "") return callId;
  return typeof id === "string" && id !== "" ? id : `call_${index}`;
}
